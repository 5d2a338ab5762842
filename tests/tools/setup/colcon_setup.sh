#!/bin/sh
# Sets up .ros/colcon, a colcon of PyPI's, for the test that builds the package tandem_ros by the
# Python of .ros. Silent and offline when all is there; where it cannot be had, that test skips.
#   colcon_setup.sh [--again]
set -eu

lock=tests/ros/colcon.lock
stamp=.ros/colcon/.set-up
failed=.ros/.colcon-failed

[ -e .ros/.set-up ] || exit 0
sum=$(cksum <$lock)
[ "$(cat $stamp 2>/dev/null)" != "$sum" ] || exit 0
[ ! -e $failed ] || [ "${1:-}" = --again ] || exit 0

echo "setup: colcon for the tests in .ros/colcon (once; some 40 MB)"
rm -rf .ros/colcon
if env PIP_USER=0 .ros/bin/python -m pip -qq --disable-pip-version-check install \
    --require-hashes --target .ros/colcon -r $lock; then
    rm -f $failed
    echo "$sum" >$stamp
else
    : >$failed
    echo "setup: pip could not install colcon: the test of the package tandem_ros skips" >&2
fi
