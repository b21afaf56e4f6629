#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The cost of the harness itself, in one run on this machine:
#   - an additional case, with a backend that does nothing: the whole corpus on
#     `null` less one case, divided by the cases in between; all tables written;
#   - one case by name on `reference`, from a warm build;
#   - the supervisor: the node suite on `reference` in a run with one worker, all
#     tables written, less the same batch in a worker alone.
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

# The batch of the node suite, as a run hands it to its worker.
"$assay" run --backend reference --suite node --jobs 1 --isolation none \
  --repeats 0 --no-report --out batch >output.txt 2>&1
batch=batch/records/reference.1.batch
worker=$(dirname "$assay")/assay-worker

one=(run --filter id:node/Abs/test_abs --no-report --repeats 0)
for ((i = 0; i < repeats; ++i)); do
  milliseconds "$assay" run --backend null --corpus onnx --no-report --repeats 0 \
    --out "whole$i" >>whole.txt
  milliseconds "$assay" "${one[@]}" --backend null --out "one$i" >>one.txt
  milliseconds "$assay" "${one[@]}" --backend reference --out "ref$i" >>named.txt
  milliseconds "$assay" run --backend reference --suite node --jobs 1 \
    --isolation none --repeats 0 --no-report --out "node$i" >>node.txt
  printf '%s\n' request,worker backend,reference "batch,$batch" \
    "journal,bare$i" cases_per_process,5000 >request.csv
  milliseconds "$worker" request.csv >>bare.txt
done

cases=$(($(wc -l <whole0/plan.csv) - 1))
printf '%s runs each; milliseconds, median (least to greatest)\n' "$repeats"
printf 'null, %s cases:        %s\n' "$cases" "$(median whole.txt)"
printf 'null, one case:          %s\n' "$(median one.txt)"
printf 'reference, case by name: %s\n' "$(median named.txt)"
awk -v w="$(middle whole.txt)" -v o="$(middle one.txt)" -v n="$cases" 'BEGIN {
  printf "each additional case:    %.1f us (budget 100)\n", (w - o) / (n - 1) * 1e3}'
printf 'node suite, one worker:  %s\n' "$(median node.txt)"
printf 'that batch in a worker:  %s\n' "$(median bare.txt)"
nodes=$(($(wc -l <node0/plan.csv) - 1))
awk -v w="$(middle node.txt)" -v o="$(middle bare.txt)" -v n="$nodes" 'BEGIN {
  printf "supervisor, a case:      %.3f ms (budget 1)\n", (w - o) / n}'
