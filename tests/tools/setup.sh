#!/bin/sh
# Sets up .venv from the lock files, and a MicroPython. Silent and offline when all is there.
#   setup.sh PYTHON ASKED [--again]
# PYTHON  the interpreter for a new .venv
# ASKED   empty, or the interpreter that was named on purpose: replaces a .venv made by another
# --again try once more for a MicroPython where an earlier attempt found none
set -eu

python=$1
asked=$2
again=${3:-}
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

install() {
    check_python
    echo "setup: virtual environment with Python $version in .venv"
    [ -x .venv/bin/python ] || "$python" -m venv .venv
    pip="env PIP_USER=0 .venv/bin/python -m pip -qq --disable-pip-version-check install"
    echo "setup: locked dependencies (once; some 100 MB)"
    $pip --require-hashes -r requirements.lock ||
        fail "pip could not install the dependencies (its reason is above). The network is needed this once"
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
