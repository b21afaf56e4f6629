#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Instructions per call of a kernel, directly and through Forward(Binding), and
# per node of a chain backward, directly and through RunBackward(GradientBinding),
# as callgrind counts them. Two runs are subtracted, so that what happens once
# (the first allocation, binding of symbols) is left out.
#
#   perf/binding_instructions.sh build/bin/binding_bench
set -eu
profile=$(mktemp)
trap 'rm -f "$profile"' EXIT
bench=$1

# count CALLS: the instructions of the functions below, in that order.
count() {
  valgrind --tool=callgrind --callgrind-out-file="$profile" "$bench" \
    --calls "$1" 2>/dev/null
  callgrind_annotate --inclusive=yes --threshold=100 "$profile" |
    awk 'BEGIN { split("CallDirect CallForward CallBackwardDirect" \
                       " CallBackwardBound", names, " ") }
         { for (i in names)
             if ($0 ~ names[i] && !seen[i]) {
               gsub(",", "", $1); seen[i] = $1 } }
         END { print seen[1] + 0, seen[2] + 0, seen[3] + 0, seen[4] + 0 }'
}

few=$(count 1600)
many=$(count 3200)
echo "$few $many" | awk '
  function row(what, at) {
    direct = ($(at + 4) - $at) / 1600
    bound = ($(at + 5) - $(at + 1)) / 1600
    if (direct <= 0 || bound <= 0) { print "no counts found"; exit 1 }
    printf "%s: direct %.1f, bound %.1f, framework %.1f instructions\n",
           what, direct, bound, bound - direct
  }
  { row("a forward call", 1); row("a node backward", 3) }'
