#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Instructions per call of a kernel, directly and through Forward(Binding), as
# callgrind counts them. Two runs are subtracted, so that what happens once (the
# first allocation, binding of symbols) is left out.
#
#   perf/binding_instructions.sh build/bin/binding_bench
set -eu
profile=$(mktemp)
trap 'rm -f "$profile"' EXIT

# count CALLS: "direct forward", in instructions.
count() {
  valgrind --tool=callgrind --callgrind-out-file="$profile" "$bench" \
    --calls "$1" 2>/dev/null
  callgrind_annotate --inclusive=yes --threshold=100 "$profile" |
    awk '/CallDirect/ && !direct { gsub(",", "", $1); direct = $1 }
         /CallForward/ && !forward { gsub(",", "", $1); forward = $1 }
         END { print direct + 0, forward + 0 }'
}

bench=$1
few=$(count 1000)
many=$(count 2000)
echo "$few $many" | awk '{
  direct = ($3 - $1) / 1000; forward = ($4 - $2) / 1000
  if (direct <= 0 || forward <= 0) { print "no counts found"; exit 1 }
  printf "direct %.1f, forward %.1f, framework %.1f instructions a call\n",
         direct, forward, forward - direct }'
