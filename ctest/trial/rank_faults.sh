#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Faults of ranks: rank_faults.sh BUILD [ROUNDS]. A round kills a rank, stops one for good,
# kills the launcher, and kills the supervisor, whose run then goes on; stops a rank for a
# second, which must fail nothing; and leaves a rank no more memory than it has. Prints what
# each cost until the ranks ran again or the run was over, and fails for a process, a shared
# segment or a folder of a launch that is left.
set -euo pipefail

build=$(cd "$1" && pwd)
rounds=${2:-25}
[[ -e $build/lib/assay/openmpi.so ]] || exit 77
limit=3 # seconds of a case
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

now() { date +%s%N; }
# The ranks of this run, by the folder in their commands; not this script's own search.
ranks() { pgrep -f -- "[a]ssay-worker $folder" || true; }
count() { ranks | wc -l; }
launcher() { pgrep -f -- "[m]piexec.*$folder" | head -1 || true; }
segments() { find /dev/shm /tmp -maxdepth 1 \( -name 'vader_segment*' -o -name 'ompi.*' \) | sort; }

wait_for() { # a function and its arguments, for a minute at most
  for ((i = 0; i < 6000; ++i)); do
    if "$@"; then return 0; fi
    sleep 0.01
  done
  printf 'rank_faults: waited a minute for: %s\n' "$*" >&2
  exit 1
}
are_there() { (($(count) >= 4)); }
are_gone() { (($(count) == 0)); }
is_over() { ! kill -0 "$supervisor" 2>/dev/null; }
# Other ranks than those of $1, or the run is over.
are_new() {
  local first
  first=$(ranks | head -1)
  [[ -n $first && $first != "$1" ]] || is_over
}

begin() {
  rm -rf out
  "$build/bin/assay" run --backend openmpi --ranks 4 --timeout "$limit" --repeats 0 \
    --out "$folder/out" >log 2>&1 &
  supervisor=$!
  wait_for are_there
  sleep 0.3 # into the cases
}

# Until other ranks are there than those that were: the verdict is made before.
again() { # milliseconds since $1, where the ranks were $2
  wait_for are_new "$2"
  echo $((($(now) - $1) / 1000000))
}

# Stops a rank for a while, in which the others wait for it.
slow_rank() {
  local start victim
  begin
  start=$(now)
  victim=$(ranks | tail -1)
  kill -STOP "$victim"
  sleep 1
  kill -CONT "$victim"
  wait "$supervisor" || {
    cat log
    exit 1
  }
  all[slow_rank]+="$((($(now) - start) / 1000000)) "
}

# From now on a rank gets no more memory: its run is over by itself, whatever became of it.
starve_rank() {
  local start victim size
  begin
  start=$(now)
  victim=$(ranks | tail -1)
  size=$(awk '/^VmSize/ {print $2 * 1024}' "/proc/$victim/status")
  prlimit --pid "$victim" --as="$size"
  wait_for is_over
  wait "$supervisor" || true
  all[starve_rank]+="$((($(now) - start) / 1000000)) "
}

before=$(segments)
declare -A all
for ((round = 0; round < rounds; ++round)); do
  for fault in kill_rank stop_rank kill_launcher; do
    begin
    first=$(ranks | head -1)
    case $fault in
      kill_rank) victim=$(ranks | tail -1) signal=KILL ;;
      stop_rank) victim=$(ranks | tail -1) signal=STOP ;;
      kill_launcher) victim=$(launcher) signal=KILL ;;
    esac
    start=$(now)
    kill -"$signal" "$victim" 2>/dev/null || true
    all[$fault]+="$(again "$start" "$first") "
    wait "$supervisor" || true
    wait_for are_gone
  done
  slow_rank
  starve_rank
  wait_for are_gone
  begin
  start=$(now)
  kill -KILL "$supervisor"
  wait "$supervisor" 2>/dev/null || true
  wait_for are_gone
  all[kill_supervisor]+="$((($(now) - start) / 1000000)) "
  "$build/bin/assay" run --resume "$folder/out" >log 2>&1 || {
    cat log
    exit 1
  }
done

for fault in kill_rank stop_rank kill_launcher slow_rank starve_rank kill_supervisor; do
  printf '%-16s %s times, ms: ' "$fault" "$(wc -w <<<"${all[$fault]}")"
  tr ' ' '\n' <<<"${all[$fault]}" | sed '/^$/d' | sort -n |
    awk '{v[NR]=$1} END {print "least " v[1] ", median " v[int((NR+1)/2)] ", most " v[NR]}'
done
left=$(count)
segments_left=$(comm -13 <(printf '%s\n' "$before") <(segments) | sed '/^$/d' | wc -l)
folders_left=$(find out -name '*.scratch' | wc -l)
printf 'left: %d processes, %d shared segments or session folders, %d scratch folders\n' \
  "$left" "$segments_left" "$folders_left"
((left == 0 && segments_left == 0 && folders_left == 0))
