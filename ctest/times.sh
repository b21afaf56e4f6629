#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Times the cases of the suite time that a query takes, and holds that each phase of
# each case that passes has a row.
#
#   ctest/times.sh ASSAY FOLDER QUERY INSTANCE...

set -euo pipefail
readonly assay=$1 folder=$2 query=$3
shift 3
backends=()
for instance; do backends+=(--backend "$instance"); done

rm -rf "$folder"
"$assay" run --suite time --filter "$query" "${backends[@]}" --no-report --out "$folder"

passed=$(grep -c ',pass,' "$folder/results.csv")
for phase in load create first warm cold destroy; do
  rows=$(grep -c ",$phase," "$folder/time.csv" || true)
  if ((rows != passed || rows == 0)); then
    printf 'times: found %d rows of the phase %s, wanted %d\n' "$rows" "$phase" "$passed" >&2
    exit 1
  fi
done
printf 'times: six phases of %d cases\n' "$passed"
