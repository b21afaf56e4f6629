#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The speed of this machine, by which costs of building and checking scale: compiles
# ten files of commit 90ec7c7f, whatever they became since, one after the other, and
# prints user plus system seconds, the least of three rounds.
#
#   perf/calibrate.sh
#
# Needs g++ and a clone that holds the commit, and nothing else.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
readonly commit=90ec7c7f
readonly files=(
  framework/core/tensor.cc framework/core/value.cc framework/dist/collective.cc
  framework/dist/schedule.cc framework/dist/together.cc framework/file/csv.cc
  framework/metric/difference.cc framework/metric/exact_difference.cc
  framework/metric/ulp.cc framework/train/optimizer/optimizer.cc)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
git archive "$commit" framework | tar x -C "$work"
cd "$work"

compile() {
  local file
  for file in "${files[@]}"; do
    g++ -std=c++20 -O2 -I. -c "$file" -o /dev/null
  done
}
TIMEFORMAT='%U %S'
least=$(for _ in 1 2 3; do { time compile; } 2>&1; done |
  awk '{ s = $1 + $2; if (NR == 1 || s < least) least = s } END { print least }')
lscpu | sed -n 's/^Model name: *//p'
g++ --version | head -n 1
printf '%s s: %d files of %s\n' "$least" "${#files[@]}" "$commit"
