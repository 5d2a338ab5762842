#!/bin/sh
# Sets up .venv from the lock files, and a MicroPython. Silent and offline when all is there.
#   setup.sh PYTHON ASKED [--again | --to-drive]
# PYTHON      the interpreter for a new .venv
# ASKED       empty, or the interpreter that was named on purpose: replaces a .venv made by another
# --again     try once more for a MicroPython where an earlier attempt found none
# --to-drive  not what only the tests need: ROS 2, a raw REPL
set -eu

python=$1
asked=$2
again=
to_drive=
case ${3:-} in
--again) again=--again ;;
--to-drive) to_drive=yes ;;
esac
stamp=.venv/.set-up
recipe="pyproject.toml requirements.lock requirements-micropython.lock tests/tools/setup.sh"

fail() {
    echo "setup: $1" >&2
    exit 1
}

version_of() {
    "$1" -c 'import sys; print("%d.%d.%d" % sys.version_info[:3])' 2>/dev/null
}

check_python() {
    version=$(version_of "$python") ||
        fail "no '$python' here. Install Python 3.10 or newer, or say make setup PYTHON=/path/to/python3"
    "$python" -c 'import sys; sys.exit(sys.version_info < (3, 10))' ||
        fail "'$python' is Python $version; 3.10 or newer is needed. Say make setup PYTHON=python3.12, or what it is called here"
    "$python" -c 'import ensurepip, venv' 2>/dev/null ||
        fail "'$python' cannot make virtual environments. On Debian and Ubuntu: sudo apt install python3-venv"
}

drop_stale_venv() {
    [ -d .venv ] || return 0
    have=$(version_of .venv/bin/python) || have=broken
    wanted=$have
    [ -z "$asked" ] || { check_python && wanted=$version; }
    if [ "$have" = broken ] || [ "$have" != "$wanted" ]; then
        echo "setup: .venv is of Python $have: making it anew"
        rm -rf .venv
    fi
}

# Installs a lock file, and shows how many of its packages pip has come to: on one line at a
# terminal, else a line for every ten. pip's errors are on the screen.
counted() {
    total=$(grep -c '^[A-Za-z0-9_.-]*==' "$1")
    failed=.venv/.failed
    rm -f $failed
    ending='\n'
    [ ! -t 1 ] || ending='\r'
    { $pip --progress-bar off --require-hashes -r "$1" || : >$failed; } |
        awk -v total="$total" -v ending="$ending" '
            /^(Ignoring|Collecting|Processing) / {
                count++
                if (ending == "\r" || count % 10 == 0)
                    printf "setup: %d of %d packages%s", count, total, ending
            }
            /^Installing collected/ { print "setup: all of them are here, and being installed" }
            { fflush() }'
    [ ! -e $failed ]
}

install() {
    check_python
    echo "setup: virtual environment with Python $version in .venv"
    [ -x .venv/bin/python ] || "$python" -m venv .venv
    echo "setup: locked dependencies (once; some 100 MB)"
    pip="env PIP_USER=0 .venv/bin/python -m pip --disable-pip-version-check install"
    counted requirements.lock ||
        fail "pip could not install the dependencies (its reason is above). The network is needed this once"
    pip="env PIP_USER=0 .venv/bin/python -m pip -qq --disable-pip-version-check install"
    # Kept apart from site-packages: they describe another sys, struct and time.
    rm -rf .venv/typings
    $pip --no-deps --require-hashes --target .venv/typings -r requirements-micropython.lock ||
        fail "pip could not install MicroPython's type stubs (its reason is above)"
    $pip --no-deps --no-build-isolation --editable . ||
        fail "pip could not install Tandem itself (its reason is above)"
}

drop_stale_venv
# shellcheck disable=SC2086
sum=$(cat $recipe | cksum)
if [ "$(cat $stamp 2>/dev/null)" != "$sum" ]; then
    install
    echo "$sum" >$stamp
fi
# shellcheck disable=SC2086
.venv/bin/python -m sim_mock.fetch_micropython $again
[ -z "$to_drive" ] || exit 0

# A real ROS 2, for the tests of tandem ros. Where it cannot be had they skip, and say so.
# shellcheck disable=SC2086
sh tests/tools/ros_setup.sh $again

# A raw REPL for the tests of tandem flash. Without Node they skip, and say so.
raw_repl=.micropython/node
if command -v npm >/dev/null && ! cmp -s tests/tools/raw_repl/package-lock.json $raw_repl/.set-up; then
    mkdir -p $raw_repl
    cp tests/tools/raw_repl/package.json tests/tools/raw_repl/package-lock.json $raw_repl
    if (cd $raw_repl && npm ci --silent --no-audit --no-fund </dev/null); then
        cp $raw_repl/package-lock.json $raw_repl/.set-up
    else
        echo "setup: npm could not fetch a MicroPython with a raw REPL: tests of tandem flash skip" >&2
    fi
fi
