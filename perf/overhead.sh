#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Measures the overhead of the framework over the libraries that are here.

set -euo pipefail

usage() {
  cat <<'EOF'
usage: perf/overhead.sh [--at-most N] [BUILD [OPTION...]]

Calls of oneDNN and ONNX Runtime beside those of the backends on them, and epochs by
hand beside those of the trainer: times in turn, with intervals of 95 %, and
instructions by valgrind's callgrind, with AVX2. One thread. Prints the table, and
writes BUILD/overhead.csv. BUILD is build by default; it is built already, but for this.

  --at-most N   no times, and exact: exit code 1 where a bound call adds more than N
                instructions
  OPTION        of the program: build/bin/overhead --help

ctest/bootstrap.sh --with onnxruntime gets ONNX Runtime. Exit codes: 0 measured, 1
beyond, 2 usage or a failure, 77 no valgrind with --at-most.
EOF
}

most=
case ${1-} in
  --help | -h) usage; exit 0 ;;
  --at-most) most=${2:?found no N behind --at-most}; shift 2 ;;
  -*) printf "overhead: found argument '%s'\n" "$1" >&2; usage >&2; exit 2 ;;
esac
source=$(realpath "$(dirname "${BASH_SOURCE[0]}")/..")
build=$(realpath "${1:-build}")
shift $(($# > 0 ? 1 : 0))
work=$build/overhead
mkdir -p "$work"
if [[ -n $most ]] && ! command -v valgrind >/dev/null; then
  echo "skipped: no valgrind, which is a package of Debian"
  exit 77
fi

targets=(overhead assay_backend_reference)
[[ -f $build/lib/assay/onednn.so ]] && targets+=(assay_backend_onednn)
cmake --build "$build" --target "${targets[@]}" >"$work/build.log" ||
  { cat "$work/build.log" >&2; exit 2; }
modules=("$build/lib/assay/reference.so")
[[ -f $build/lib/assay/onednn.so ]] && modules+=("dnnl=$build/lib/assay/onednn.so")

# The example is built as a vendor would.
library=$(find "$source/.venv/lib" -path '*/onnxruntime/capi/libonnxruntime.so.*' \
  2>/dev/null | head -n 1)
if [[ -n $library ]]; then
  {
    cmake --install "$build" --component development --prefix "$work/assay"
    cmake -S "$source/backends/example_onnxruntime" -B "$work/onnxruntime" \
      -D CMAKE_BUILD_TYPE=Release -D CMAKE_PREFIX_PATH="$work/assay" \
      -D ONNXRUNTIME_LIBRARY="$library"
    cmake --build "$work/onnxruntime"
  } >"$work/onnxruntime.log" 2>&1 || { cat "$work/onnxruntime.log" >&2; exit 2; }
  modules+=("onnxruntime=$work/onnxruntime/lib/assay/example_onnxruntime.so")
else
  echo "no ONNX Runtime: ctest/bootstrap.sh --with onnxruntime gets it" >&2
fi

export OMP_NUM_THREADS=1
program=("$build/bin/overhead" "${modules[@]}")
counts=()
if command -v valgrind >/dev/null; then
  # valgrind 3.19 knows no AVX-512.
  ONEDNN_MAX_CPU_ISA=AVX2 valgrind --tool=callgrind --collect-atstart=no \
    --toggle-collect=assay_counted_calls --dump-after=assay_counted_calls \
    --combine-dumps=yes --callgrind-out-file="$work/callgrind.out" \
    "${program[@]}" --make-counted-calls "$@" >"$work/valgrind.log" 2>&1 ||
    { tail "$work/valgrind.log" >&2; exit 2; }
  counts=(--counts "$work/callgrind.out")
else
  echo "no valgrind, and so no instructions: it is a package of Debian" >&2
fi
if [[ -n $most ]]; then
  exec "${program[@]}" "${counts[@]}" --seconds 0 --most-instructions "$most" "$@"
fi
exec "${program[@]}" "${counts[@]}" --epoch-seconds 30 --out "$build/overhead.csv" "$@"
