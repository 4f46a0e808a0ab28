#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Look for what a build needs and a bare machine lacks. Print the Python (3.11 or newer) to use; or
# fail, and print the one line that installs on Debian or Ubuntu all that is missing.
#
# usage: preflight.sh compiler | venv | modules [PROGRAM...]
#   compiler  no Python is needed
#   venv      Python will make a virtual environment
#   modules   Python must itself have the modules that build the package
# environment: CC, the compiler (cc); PYTHON, the one interpreter to consider
set -u
purpose=$1
shift

lacking=   # in words
packages=  # for apt-get
elsewhere= # what a Python lacks that is not the system's: apt-get cannot help

need() {
  lacking="$lacking${lacking:+, }$1"
  packages="$packages $2"
}

compiles() {
  printf '#include <stdio.h>\nint main(void) { return 0; }\n' | "$@" -x c -o /dev/null -
}

find_python() {
  for python in ${PYTHON:-python3 python3.13 python3.12 python3.11}; do
    "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && return
  done
  python=
  if command -v python3 >/dev/null; then name=python3.11; else name=python3; fi
  case $purpose in
    venv) need 'Python 3.11 or newer' "$name $name-dev $name-venv" ;;
    modules) need 'Python 3.11 or newer' "$name $name-dev python3-cffi python3-setuptools" ;;
  esac
}

# usage: wants WHAT PACKAGE CODE, where CODE fails unless the Python has it
wants() {
  "$python" -c "$3" 2>/dev/null && return
  if "$python" -c 'import sys; sys.exit(sys.base_prefix != "/usr")'; then
    need "$1" "$2"
  else
    elsewhere="$elsewhere${elsewhere:+, }$1"
  fi
}

# shellcheck disable=SC2086 # CC may hold words, such as `ccache gcc`
compiles ${CC:-cc} >/dev/null 2>&1 || case ${CC:-cc} in
  *clang*) need "a C compiler ($CC)" 'clang libc6-dev' ;;
  *) need "a C compiler (${CC:-cc})" 'gcc libc6-dev' ;;
esac

if [ "$purpose" != compiler ]; then
  find_python
  if [ "$python" ]; then
    name=$("$python" -c 'import sys; print("python%d.%d" % sys.version_info[:2])')
    wants 'Python.h' "$name-dev" 'import sysconfig; open(sysconfig.get_path("include") + "/Python.h")'
    case $purpose in
      venv) wants 'the modules venv and ensurepip' "$name-venv" 'import venv, ensurepip' ;;
      modules)
        wants 'the module cffi' python3-cffi 'import cffi'
        wants 'the module setuptools' python3-setuptools 'import setuptools'
        ;;
    esac
  fi
fi

for program in "$@"; do
  command -v "$program" >/dev/null || need "$program" "$program"
done

if [ "$elsewhere" ]; then
  echo "$(command -v "$python") lacks $elsewhere; choose another with PYTHON=... or mend it." >&2
fi
if [ "$lacking" ]; then
  if [ "$(id -u)" = 0 ]; then sudo=; else sudo='sudo '; fi
  echo "This machine lacks $lacking. On Debian or Ubuntu:" >&2
  printf '\n    %sapt-get update && %sapt-get install -y%s\n\n' "$sudo" "$sudo" "$packages" >&2
fi
[ -z "$elsewhere$lacking" ] || exit 1
[ "$purpose" = compiler ] || echo "$python"
