#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# What the harness itself costs, in one run on this machine:
#   - an additional case, with a backend that does nothing: the whole corpus on
#     `null` less one case, divided by the cases in between; all tables written;
#   - one case by name on `reference`, from a warm build.
#
#   perf/harness_bench.sh [BUILD_DIRECTORY] [REPEATS]
#
# Runs alternate, and medians are printed with the least and the greatest, since
# machines are noisy. Nothing is asserted.

set -euo pipefail
assay=$(realpath "${1:-build}/bin/assay")
repeats=${2:-11}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

milliseconds() {  # of a command; its exit code does not matter here
  local begin=$EPOCHREALTIME
  "$@" >output.txt 2>&1 || true
  awk -v a="$begin" -v b="$EPOCHREALTIME" 'BEGIN {printf "%.1f\n", (b - a) * 1e3}'
}

median() {  # of the numbers in a file: median (least to greatest)
  sort -n "$1" | awk '{x[NR] = $1} END {
    printf "%.1f (%.1f to %.1f)", x[int((NR + 1) / 2)], x[1], x[NR]}'
}

middle() { sort -n "$1" | awk '{x[NR] = $1} END {print x[int((NR + 1) / 2)]}'; }

one=(run --filter id:node/Abs/test_abs --no-report)
for ((i = 0; i < repeats; ++i)); do
  milliseconds "$assay" run --backend null --corpus onnx --no-report \
    --out "whole$i" >>whole.txt
  milliseconds "$assay" "${one[@]}" --backend null --out "one$i" >>one.txt
  milliseconds "$assay" "${one[@]}" --backend reference --out "ref$i" >>named.txt
done

cases=$(($(wc -l <whole0/plan.csv) - 1))
printf '%s runs each; milliseconds, median (least to greatest)\n' "$repeats"
printf 'null, %s cases:        %s\n' "$cases" "$(median whole.txt)"
printf 'null, one case:          %s\n' "$(median one.txt)"
printf 'reference, case by name: %s\n' "$(median named.txt)"
awk -v w="$(middle whole.txt)" -v o="$(middle one.txt)" -v n="$cases" 'BEGIN {
  printf "each additional case:    %.1f us (budget 100)\n", (w - o) / (n - 1) * 1e3}'
