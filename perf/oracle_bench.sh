#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The cost of an oracle on this machine: exact answers in double precision to
# all node cases with floating-point numbers, none of them of 64 bits, one after
# the other in one worker, written to files. Wall time of the worker, with its
# start; the greatest memory of its process; the time that the evaluations take.
#
#   perf/oracle_bench.sh [BUILD_DIRECTORY] [REPEATS] [ORACLE]
#
# Medians are printed with the least and the greatest, since machines are noisy.
# Nothing is asserted.

set -euo pipefail
assay=$(realpath "${1:-build}/bin/assay")
repeats=${2:-5}
oracle=${3:-reference}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

column() {  # NAME FILE: that column of a table whose messages have no newline
  python3 -c 'import csv, sys
for row in csv.DictReader(open(sys.argv[2], newline="")): print(row[sys.argv[1]])' "$1" "$2"
}

median() {  # of the numbers in a file: median (least to greatest)
  sort -n "$1" | awk '{x[NR] = $1} END {
    printf "%.2f (%.2f to %.2f)", x[int((NR + 1) / 2)], x[1], x[NR]}'
}

# The batch of the oracle's worker, as a run hands it over.
"$assay" run --backend "$oracle" --oracle="$oracle" --oracle-cache cache \
  --corpus onnx --suite node --jobs 1 --isolation none --repeats 0 --no-report \
  --filter '(dtype:float32 or dtype:float16 or dtype:bfloat16) and not dtype:float64' \
  --out run >output.txt 2>&1
head -1 output.txt
batch=run/records/oracle/$oracle.1.batch
worker=$(dirname "$assay")/assay-worker

for ((i = 0; i < repeats; ++i)); do
  begin=$EPOCHREALTIME
  printf '%s\n' request,worker "backend,$oracle" "batch,$batch" \
    "journal,bare$i" cases_per_process,5000 >request.csv
  "$worker" request.csv >output.txt 2>&1
  awk -v a="$begin" -v b="$EPOCHREALTIME" 'BEGIN {print b - a}' >>wall.txt
done

printf '%s runs each; median (least to greatest)\n' "$repeats"
printf 'worker, whole:  %s s (goal 30)\n' "$(median wall.txt)"
printf 'evaluations:    %s s\n' \
  "$(column run_us run/oracle.csv | awk '{s += $1} END {printf "%.2f", s / 1e6}')"
printf 'peak memory:    %s MB (goal 2000)\n' \
  "$(column peak_rss_kb run/oracle.csv | sort -n | tail -1 | awk '{print int($1 / 1e3)}')"
printf 'answers:        %s MB\n' "$(du -sm cache | cut -f1)"
