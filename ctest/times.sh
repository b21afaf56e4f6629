#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Times the cases of the suite time that a query takes, and holds that each phase of
# each case that passes has a row, and that there is a row of each of these phases.
#
#   ctest/times.sh ASSAY FOLDER QUERY PHASES INSTANCE...

set -euo pipefail
readonly assay=$1 folder=$2 query=$3 phases=$4
shift 4
backends=()
for instance; do backends+=(--backend "$instance"); done

rm -rf "$folder"
"$assay" run --suite time --filter "$query" "${backends[@]}" --no-report --out "$folder"

# The cases that pass. Those that noise left undecided have rows and are none of them.
passes=$(awk -F, '/,pass,/ { print $4, $5 }' "$folder/results.csv" | sort)
undecided=$(grep -c ',undecided,' "$folder/results.csv" || true)
# passed WORD: how many of them have that word.
passed() { grep -c -- "$1" <<<"$passes" || true; }

all=$(passed time/) gradients=$(passed '#redrawn\.') steps=$(passed '#locked\.')
ranks=$(passed '#n[0-9]')
networks=$((all - steps - ranks))
for phase in $phases; do
  case $phase in
    warm) wanted=$((networks - gradients + ranks)) ;;
    cold) wanted=$((networks - gradients)) ;;
    backward) wanted=$gradients ;;
    step) wanted=$steps ;;
    *) wanted=$networks ;;
  esac
  # By test_id, backend and phase: a model has more than one row of calls.
  found=$(awk -F, -v phase="$phase" '$7 == phase { print $4, $5 }' "$folder/time.csv" |
    sort -u | comm -12 - <(printf '%s\n' "$passes") | wc -l)
  if ((found != wanted || found + undecided == 0)); then
    printf 'times: found the phase %s of %d cases, wanted %d\n' "$phase" "$found" "$wanted" >&2
    exit 1
  fi
done
printf 'times: the phases %s of %d cases\n' "$phases" "$all"
