#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# private_names_test.sh PROGRAM MODULE...: no module needs what the core exports
# to our own programs only, of which PROGRAM, to show that it would be seen,
# needs some.
set -euo pipefail

program=${1:?usage: private_names_test.sh PROGRAM MODULE...}
shift
failures=0

needed() {
  nm --dynamic --demangle --undefined-only --with-symbol-versions "$1" |
    grep '@ASSAY_PRIVATE' || true
}

if [[ -z $(needed "$program") ]]; then
  echo "$program needs nothing of ASSAY_PRIVATE: nothing would be seen"
  failures=$((failures + 1))
fi
for module in "$@"; do
  names=$(needed "$module")
  [[ -z $names ]] && continue
  echo "$module needs"
  echo "$names"
  failures=$((failures + 1))
done
if ((failures > 0)); then
  echo "$failures failures"
  exit 1
fi
echo "$# modules need assay::v1 only"
