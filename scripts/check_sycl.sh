# SPDX-License-Identifier: BSD-2-Clause
#
# The tests of vectors and tensors on a device of SYCL, in an environment of its own ($1) with dpnp
# at the other end. $2: the Python to begin with; all else are programs in C. It takes 4 GB of disk;
# where they can't be had, it says so and is content.
set -eu
environment=$1
python=$2
shift 2

skip() {
  echo "SYCL skipped: $1"
  exit 0
}

if [ ! -e "$environment/.made" ]; then
  mkdir -p "$environment"
  free=$(df -Pk "$environment" | awk 'NR == 2 { print $4 }')
  [ "$free" -gt 6000000 ] || skip "its runtime takes 4 GB of disk, and $((free / 1000000)) are free"
  "$python" -m venv "$environment"
  "$python" scripts/requirements.py build sycl >"$environment/requirements.txt"
  "$environment/bin/pip" install -q -r "$environment/requirements.txt" ||
    skip "what pyproject.toml lists for sycl can't be installed"
  touch "$environment/.made"
fi
"$environment/bin/pip" install -q --no-deps --no-build-isolation --force-reinstall .

# The icd file of the package names no path that exists.
export OCL_ICD_FILENAMES="$environment/lib/libintelocl.so"
packages=$("$environment/bin/python" -P -c 'import dpctl, os; print(os.path.dirname(dpctl.__file__))')
export CEEDLIKE_LIBSYCL="$packages/libDPCTLSyclInterface.so"
export PYTHONSAFEPATH=1
for program in "$@"; do
  echo "  SYCL $program"
  CEEDLIKE_TEST_RESOURCE=/gpu/sycl "$program" >"$environment/log" || {
    grep '^not ok' "$environment/log"
    exit 1
  }
done
"$environment/bin/python" -m pytest -q tests/python/test_sycl.py
