#!/bin/sh
# Sets up .mavproxy, a MAVProxy of PyPI's, for the test that has it as a ground station. Alone:
# what its console needs is in .venv, and its maps would bring 500 MB. Silent and offline when it
# is there; where it cannot be had, that test skips.
#   mavproxy_setup.sh [--again]
set -eu

lock=tests/host_bridge/station/mavlink/far_ends/mavproxy.lock
stamp=.mavproxy/.set-up
failed=.venv/.mavproxy-failed

sum=$(cksum <$lock)
[ "$(cat $stamp 2>/dev/null)" != "$sum" ] || exit 0
[ ! -e $failed ] || [ "${1:-}" = --again ] || exit 0

echo "setup: MAVProxy for the tests in .mavproxy (once; some 120 MB)"
rm -rf .mavproxy
if env PIP_USER=0 .venv/bin/python -m pip -qq --disable-pip-version-check install \
    --no-deps --require-hashes --target .mavproxy -r $lock; then
    rm -f $failed
    echo "$sum" >$stamp
else
    : >$failed
    echo "setup: pip could not install MAVProxy: the test that has it as a station skips" >&2
fi
