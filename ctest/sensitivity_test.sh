#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Checks that the committed list of inputs that need not show in a case's outputs
# is what the reference says.
#
#   ctest/sensitivity_test.sh build/bin/assay-corpus build/corpus/onnx

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
readonly list=conformance/corpus/insensitive.txt
if ! diff -u "$list" <("$1" sensitivity reference "$2"); then
  printf '%s is not fresh: %s sensitivity reference %s >%s\n' "$list" "$1" "$2" "$list"
  exit 1
fi
