#!/bin/sh
# Sets up .venv from the lock files, and a MicroPython. Silent and offline when all is there.
#   setup.sh PYTHON ASKED LEVEL [--again]
# PYTHON   the interpreter for a new .venv
# ASKED    empty, or the interpreter that was named on purpose: replaces a .venv made by another
# LEVEL    each has what the ones before it have:
#   drive  what driving needs, and a MicroPython
#   fast   the compiler of make fast
#   check  the developers' tools of Python
#   test   a ROS 2 and a raw REPL, outside .venv
# --again  try once more for a MicroPython where an earlier attempt found none
set -eu

python=$1
asked=$2
level=$3
again=${4:-}
stamp=.venv/.set-up
recipe="pyproject.toml requirements.lock requirements-drive.lock requirements-fast.lock \
    requirements-micropython.lock tests/tools/setup/setup.sh"

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
            # one line for each that the file names; what another one needs is named there, too
            /^Ignoring |\(from -r / {
                count++
                if (ending == "\r" || count % 10 == 0)
                    printf "setup: %d of %d packages%s", count, total, ending
            }
            /^Installing collected/ { print "setup: all of them are here, and being installed" }
            { fflush() }'
    [ ! -e $failed ]
}

# Installs what a lock file names; $2 is what is downloaded for it where nothing is there yet.
packages_of() {
    echo "setup: packages of $1 (once; some $2 MB at most)"
    counted "$1" ||
        fail "pip could not install the dependencies (its reason is above). The network is needed this once"
}

# Kept apart from site-packages: they describe another sys, struct and time.
typings() {
    ! cmp -s requirements-micropython.lock .venv/typings/.set-up || return 0
    rm -rf .venv/typings
    $quiet_pip --no-deps --require-hashes --target .venv/typings -r requirements-micropython.lock ||
        fail "pip could not install MicroPython's type stubs (its reason is above)"
    cp requirements-micropython.lock .venv/typings/.set-up
}

packages() {
    case $level in
    drive) packages_of requirements-drive.lock 120 ;;
    fast)
        packages_of requirements-drive.lock 120
        packages_of requirements-fast.lock 20
        ;;
    *)
        packages_of requirements.lock 250
        typings
        ;;
    esac
}

install() {
    check_python
    # A change may replace what a larger level had: from here on only what comes now is known.
    rm -f $stamp
    echo "setup: virtual environment with Python $version in .venv"
    [ -x .venv/bin/python ] || "$python" -m venv .venv
    pip="env PIP_USER=0 .venv/bin/python -m pip --disable-pip-version-check install"
    quiet_pip="env PIP_USER=0 .venv/bin/python -m pip -qq --disable-pip-version-check install"
    packages
    $quiet_pip --no-deps --no-build-isolation --editable . ||
        fail "pip could not install Tandem itself (its reason is above)"
    echo "$sum: $included" >$stamp
}

# The levels that are there once this one is, as they stand in the stamp beside the recipe's sum.
case $level in
drive) included="drive" ;;
fast) included="drive fast" ;;
check | test) included="drive fast check test" ;;
*) fail "no level '$level': drive, fast, check or test" ;;
esac

drop_stale_venv
# shellcheck disable=SC2086
sum=$(cat $recipe | cksum)
case "$(cat $stamp 2>/dev/null) " in
"$sum:"*" $level "*) ;;
*) install ;;
esac
[ "$level" != fast ] || exit 0

# shellcheck disable=SC2086
.venv/bin/python -m sim_mock.runtime.fetch_micropython $again
[ "$level" = test ] || exit 0

# A real ROS 2, for the tests of tandem ros. Where it cannot be had they skip, and say so.
# shellcheck disable=SC2086
sh tests/tools/setup/ros_setup.sh $again

# A raw REPL for the tests of tandem flash. Without Node they skip, and say so.
raw_repl=.micropython/node
if command -v npm >/dev/null && ! cmp -s tests/tools/setup/package-lock.json $raw_repl/.set-up; then
    mkdir -p $raw_repl
    cp tests/tools/setup/package.json tests/tools/setup/package-lock.json $raw_repl
    if (cd $raw_repl && npm ci --silent --no-audit --no-fund </dev/null); then
        cp $raw_repl/package-lock.json $raw_repl/.set-up
    else
        echo "setup: npm could not fetch a MicroPython with a raw REPL: tests of tandem flash skip" >&2
    fi
fi
