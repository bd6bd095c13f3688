#!/bin/sh
# Become the engine's user, with the few capabilities that building a cell takes, and run
# `tradesbench` with the arguments given. Agents get none of them.

set -eu

engine_uid=60599
home=/opt/tradesbench
data=/var/lib/tradesbench
capabilities=+chown,+dac_override,+fowner,+kill,+setgid,+setuid,+setpcap,+net_admin,+sys_chroot,+sys_admin

# A volume that was put here belongs to whoever made it.
chown "$engine_uid:$engine_uid" "$data"
chmod 0700 "$data"
cd "$data"
exec setpriv --reuid="$engine_uid" --regid="$engine_uid" --clear-groups \
    --inh-caps="-all,$capabilities" --ambient-caps="-all,$capabilities" \
    --bounding-set="-all,$capabilities" \
    env HOME="$data" TRADESBENCH_PI="$home/pi" "$home/venv/bin/tradesbench" "$@"
