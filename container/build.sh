#!/bin/sh
# The steps that make a machine ready to run agents, the same in the image and in the tests.
#
#   container/build.sh STEP...
#
#   users      the engine's user; agents have numbers that stand in no file, one a run
#   folders    what is the engine's, closed to everybody else
#   install    the package, from the folder above this script, into a Python environment of its own
#   pi         the agent program and its Node.js, which agents may run and nobody may change

set -eu

engine=tradesbench
engine_uid=60599
home=/opt/tradesbench
data=/var/lib/tradesbench
source=$(cd "$(dirname "$0")/.." && pwd)
python=${PYTHON:-python3}

step_users() {
    if ! getent group "$engine" >/dev/null; then
        groupadd --gid "$engine_uid" "$engine"
    fi
    if ! getent passwd "$engine" >/dev/null; then
        useradd --uid "$engine_uid" --gid "$engine_uid" --home-dir "$data" \
            --no-create-home --shell /usr/sbin/nologin "$engine"
    fi
}

step_folders() {
    install -d -o root -g "$engine_uid" -m 0750 "$home"
    install -d -o "$engine_uid" -g "$engine_uid" -m 0700 "$data"
}

step_install() {
    "$python" -m venv "$home/venv"
    "$home/venv/bin/pip" install --no-cache-dir --disable-pip-version-check "${source}[harness,llm]"
}

step_pi() {
    "$home/venv/bin/python" -c "
from pathlib import Path
from tradesbench_gym.harness.pi_install import setup
setup(Path('$home/pi'), print)"
}

[ $# -gt 0 ] || { echo "build.sh: name a step: users folders install pi" >&2; exit 2; }
for step in "$@"; do
    case $step in
        users | folders | install | pi) "step_$step" ;;
        *) echo "build.sh: no step $step: users folders install pi" >&2; exit 2 ;;
    esac
done
