#!/bin/sh
# Install a wheel with the latest Python that is here, of 3.12 to 3.14, or with each, and have it do a small job of every system.
#
#     tests/try_pythons.sh [--each] FOLDER WHEEL
#
# FOLDER must not exist; it is removed at the end. Pythons are those on the PATH, and pyenv's.
set -eu

each=
[ "$1" != --each ] || { each=1; shift; }
folder=$1
wheel=$2
mkdir "$folder"
trap 'rm -rf "$folder"' EXIT

for version in 3.14 3.13 3.12; do
    found=
    for python in "python$version" "${PYENV_ROOT:-$HOME/.pyenv}"/versions/"$version".*/bin/python3; do
        if [ "$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null)" = "$version" ]; then
            found=$python
            break
        fi
    done
    if [ -z "$found" ]; then
        echo "Python $version: not here"
        continue
    fi
    "$found" -m venv "$folder/$version"
    "$folder/$version/bin/pip" install -q --no-compile "$wheel" # of the modules, few are imported
    "$folder/$version/bin/oclgenomics" doctor --self-test
    [ -n "$each" ] || break
done
