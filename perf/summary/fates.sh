#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Times every known problem (perf/problems) on some instances, so many seconds each,
# and holds that the fates of DeepBench's add up to its 630 on each of them, and that
# the run has exponents.
#
#   perf/summary/fates.sh ASSAY ASSAY_TIMES FOLDER SECONDS INSTANCE...

set -euo pipefail
readonly assay=$1 assay_times=$2 folder=$3 seconds=$4
shift 4
backends=()
for instance; do backends+=(--backend "$instance"); done

rm -rf "$folder"
"$assay" run --suite time --tier scale --filter kind:problem --time-budget "$seconds" \
  "${backends[@]}" --no-report --out "$folder"

"$assay_times" "$folder" | tee "$folder/times.txt"
for instance; do
  if ! grep -q "^$instance: deepbench: timed [1-9].*: 630$" "$folder/times.txt"; then
    printf 'fates: found no fates of %s that add up to 630\n' "$instance" >&2
    exit 1
  fi
  if ! grep -qF "time/Gemm/scaling.product.gemm#size,$instance," "$folder/scaling.csv"
  then
    printf 'fates: found no exponent of products on %s in scaling.csv\n' "$instance" >&2
    exit 1
  fi
done
