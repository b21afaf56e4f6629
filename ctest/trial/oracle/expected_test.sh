#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Holds the expected outputs of the node cases against the oracle, and checks
# that the committed list of those that are inexact is what it says.
#
#   ctest/trial/oracle/expected_test.sh build/bin/assay build/corpus/onnx

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../.."
readonly list=conformance/corpus/inexact.txt
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Other tests say which cases pass.
"$1" run --backend reference --oracle --suite node --corpus "$2" --no-report \
  --out "$work/run" >"$work/out" 2>&1 || cat "$work/out"
"$1" list inexact --run "$work/run" >"$work/found"
if ! diff -u <(grep -v '^#' "$list") "$work/found"; then
  printf '%s is not fresh, or the oracle is wrong: %s\n' "$list" \
    "see ctest/trial/oracle/README.md"
  exit 1
fi
