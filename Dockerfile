# syntax=docker/dockerfile:1
#
#   docker build -t tradesbench .
#   docker run --rm --cap-add SYS_ADMIN --cap-add NET_ADMIN \
#       --security-opt seccomp=unconfined --security-opt apparmor=unconfined \
#       -v "$PWD/runs:/var/lib/tradesbench" tradesbench --help
#
# Two kinds of users: the engine's, who owns world, source and key, and agents', of whom each run has
# one, a number that stands in no file. The two capabilities and the profiles that are put aside are
# for the walls of an agent's cell; the engine's user has ten capabilities, an agent none.

FROM python:3.11-slim-bookworm AS build
# Debian keeps only the newest package of a stable release.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install -y --no-install-recommends npm \
    && rm -rf /var/lib/apt/lists/*
COPY . /source
RUN /source/container/build.sh folders install pi

FROM python:3.11-slim-bookworm
# What an agent's bash finds beside the system's own.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install -y --no-install-recommends ca-certificates curl git jq procps ripgrep \
    && rm -rf /var/lib/apt/lists/*
COPY --from=build /opt/tradesbench /opt/tradesbench
COPY container /opt/tradesbench/container
RUN /opt/tradesbench/container/build.sh users folders
VOLUME /var/lib/tradesbench
ENTRYPOINT ["/opt/tradesbench/container/entry.sh"]
CMD ["--help"]
