#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Checks that the committed description of the tables is that of the program.
#
#   ctest/schema_test.sh build/bin/assay [--accept]

set -euo pipefail
assay=$1
accept=${2:-}
committed=reports/assay_report/schema.json
if [[ $accept == --accept ]]; then
  "$assay" schema json >"$committed"
elif ! diff -u "$committed" <("$assay" schema json); then
  printf '%s is not fresh: run ctest/schema_test.sh %s --accept\n' "$committed" \
    "$assay"
  exit 1
fi
