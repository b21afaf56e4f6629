#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Runs backends of ours beside the peers that are here, in turn.

set -euo pipefail

usage() {
  cat <<'EOF'
usage: perf/peers.sh [BUILD [TURNS]]

The backend reference on ONNX's node cases beside ONNX Runtime (from Python, and by its
C ABI), ONNX's evaluator and OpenVINO, and training steps beside LibTorch: one thread
each, in turn, as the ratio of ours to theirs with its interval of 95 %. Prints the
table of perf/README.md. It takes a quarter of an hour.

The wheels of perf/requirements-peers.txt go into BUILD/peers/venv. LibTorch is that of
Debian's libtorch-dev. A peer that is not here is left out with a line that says so.
BUILD is build by default, and is built; 9 TURNS are taken by default, 6 at least give
an interval.
EOF
}

case ${1-} in
  --help | -h) usage; exit 0 ;;
  -*) printf "peers: found argument '%s'\n" "$1" >&2; usage >&2; exit 2 ;;
esac
source=$(realpath "$(dirname "${BASH_SOURCE[0]}")/..")
build=$(realpath "${1:-build}")
turns=${2:-9}
work=$build/peers
wheels=$source/perf/requirements-peers.txt
mkdir -p "$work"

say() { printf 'peers: %s\n' "$*" >&2; }

ensure_venv() {
  cmp -s "$wheels" "$work/venv/requirements.txt" && return
  rm -rf "$work/venv"
  python3 -m venv --without-pip "$work/venv" &&
    "$source/.venv/bin/python" -m pip --python "$work/venv/bin/python" install \
      --no-input --quiet --only-binary :all: -r "$wheels" &&
    cp "$wheels" "$work/venv/requirements.txt"
}

ensure_venv >"$work/venv.log" 2>&1 || {
  tail "$work/venv.log" >&2
  say "cannot install the wheels of $wheels"
  exit 2
}

# CMake looks for LibTorch again, which may have come since.
cmake "$build" >"$work/build.log"
targets=(assay assay-worker assay-host assay_backend_reference ort_c_bench overhead)
[[ -f $build/lib/assay/onednn.so ]] && targets+=(assay_backend_onednn)
torch=
if cmake --build "$build" --target help | grep -q '^libtorch_peer'; then
  targets+=(libtorch_peer)
  torch=$build/bin/libtorch_peer.so
else
  say "LibTorch is left out: apt install --no-install-recommends libtorch-dev"
fi
cmake --build "$build" --target "${targets[@]}" >>"$work/build.log" ||
  { tail -n 30 "$work/build.log" >&2; exit 2; }

export OMP_NUM_THREADS=1
epochs=()
if [[ -n $torch ]]; then
  modules=("$build/lib/assay/reference.so")
  [[ -f $build/lib/assay/onednn.so ]] && modules+=("$build/lib/assay/onednn.so")
  "$build/bin/overhead" --only none --epoch-seconds 30 --peer "$torch" \
    --out "$work/overhead.csv" "${modules[@]}" >&2
  epochs=(--epochs "$work/overhead.csv" LibTorch)
fi
"$work/venv/bin/python" -B "$source/perf/node_peers.py" --build "$build" \
  --turns "$turns" "${epochs[@]}"
