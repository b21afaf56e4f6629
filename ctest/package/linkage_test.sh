#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# linkage_test.sh FILE: what a library of ours exports and needs. It may export
# names of assay::v1, and of the rooms under the version ASSAY_PRIVATE, so that a
# vendor's own ONNX and protobuf never meet ours, and need nothing but the C and
# C++ run-time libraries.
set -euo pipefail

library=${1:?usage: linkage_test.sh FILE}
needed='libc\.so\.6|libm\.so\.6|libstdc\+\+\.so\.6|libgcc_s\.so\.1'
needed+='|ld-linux-[a-z0-9-]+\.so\.[0-9]+'
owned='(typeinfo for |typeinfo name for |vtable for |VTT for |guard variable for '
owned+='|non-virtual thunk to )?assay::v1::'
private='^assay::(backend|communicator|eager|edit|flow|graph|identity|reader|types|upgrade)::'
failures=0

fail() {
  echo "$library $1"
  failures=$((failures + 1))
}

# Assigned first, so that a failing tool ends the script.
exported=$(nm --dynamic --demangle --defined-only "$library")
dynamic=$(readelf --dynamic --wide "$library")

names=$(cut --delimiter=' ' --fields=3- <<<"$exported")
[[ -n $names ]] || fail "exports nothing"
while IFS= read -r name; do
  [[ $name != ASSAY_* ]] || continue  # the versions themselves
  [[ $name != *@@ASSAY_PRIVATE || ! $name =~ $private ]] || continue
  [[ $name =~ ^$owned ]] || fail "exports $name, which is not of assay::v1"
  [[ ! $name =~ (onnx::|google::protobuf) ]] ||
    fail "exports $name, which mentions ONNX or protobuf"
done <<<"$names"

while IFS= read -r name; do
  [[ $name =~ ^($needed)$ ]] || fail "needs $name"
done < <(sed --quiet 's/.*(NEEDED).*\[\(.*\)\].*/\1/p' <<<"$dynamic")

if ((failures > 0)); then
  echo "$failures failures"
  exit 1
fi
echo "$library exports $(grep --count 'assay::v1.*@@ASSAY_1$' <<<"$names") names" \
  "of assay::v1, and $(grep --count '@@ASSAY_PRIVATE$' <<<"$names") to our programs"
