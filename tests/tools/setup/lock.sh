#!/bin/sh
# Renews the lock files: one for CPython 3.10 and everything newer, forked by version where
# packages have dropped an old one. uv resolves; installing from the files needs only pip.
set -eu
export PATH=".venv/bin:$PATH"
command -v uv >/dev/null || .venv/bin/python -m pip --quiet install uv

# With extras: pip takes `coverage` pinned for no pin of a dependency's `coverage[toml]`, and refuses
# as soon as there is a newer release than the pinned one.
compile() {
    uv pip compile --quiet --upgrade --universal --python-version 3.10 --generate-hashes \
        --no-strip-extras --no-emit-index-url --no-annotate --no-config --custom-compile-command "make lock" "$@"
}

compile --extra dev --output-file requirements.lock pyproject.toml
# Parts of it, in the same versions: what drives, with what `make demo` shows and what builds the
# editable install; and what `make fast` takes besides.
echo hatchling |
    compile --extra pads --extra station --constraint requirements.lock \
        --output-file requirements-drive.lock pyproject.toml -
printf '%s\n' mypy setuptools |
    compile --constraint requirements.lock --output-file requirements-fast.lock -
# A real ROS 2 for the tests, in an environment of its own.
compile --output-file tests/ros/requirements.lock tests/ros/requirements.in
compile --output-file tests/ros/colcon.lock tests/ros/colcon.in
# A ground station for the tests, without what its maps need.
stations=tests/host_bridge/station/mavlink/far_ends
compile --no-deps --output-file $stations/mavproxy.lock $stations/mavproxy.in
# The types of MicroPython's own modules, for the second mypy run.
printf '%s\n' micropython-unix-stubs micropython-rp2-stubs |
    compile --output-file requirements-micropython.lock -
