#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Checks that the committed descriptions of the tables are those of the program.
#
#   ctest/schema_test.sh build/bin/assay [--accept]

set -euo pipefail
assay=$1
accept=${2:-}
status=0
compare() {  # FORMAT FILE
  if [[ $accept == --accept ]]; then
    "$assay" schema "$1" >"$2"
  elif ! diff -u "$2" <("$assay" schema "$1"); then
    printf '%s is not fresh: run ctest/schema_test.sh %s --accept\n' "$2" "$assay"
    status=1
  fi
}
compare json reports/assay_report/schema.json
compare markdown reports/TABLES.md
exit "$status"
