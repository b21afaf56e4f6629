#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# simd_test.sh LIBRARY NAME_ISA...: that code for an instruction set which not
# every processor has stays where it is asked for. In the static library LIBRARY
#   - NAME_ISA.o shows one symbol, its entry, has no section groups, which a
#     linker may keep one of for everybody, and runs nothing while loaded;
#   - no other object, nor that of the baseline sse2, has an instruction on the
#     wide registers that AVX brought.

set -euo pipefail

library=$(realpath "${1:?usage: simd_test.sh LIBRARY NAME_ISA...}")
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
failures=0

fail() {
  echo "$1"
  failures=$((failures + 1))
}

# True where an object names a register of 256 or 512 bits, or a mask. The output
# is read whole: a reader that leaves early would stop objdump with a signal.
is_wide() {
  local found
  found=$(objdump --disassemble --no-show-raw-insn "$1" |
    awk '/%[yz]mm|%k[0-7]/ { ++n } END { print n + 0 }')
  ((found > 0))
}

ar x "$library"
for name in "$@"; do
  object=$name.o
  shown=$(nm --extern-only --defined-only --format=posix "$object" |
    cut --delimiter=' ' --fields=1)
  [[ $shown == "assay_reference_$name" ]] ||
    fail "$object shows '${shown//$'\n'/ }', wanted assay_reference_$name"
  sections=$(readelf --section-headers --wide "$object")
  [[ ! $sections =~ [[:space:]]GROUP[[:space:]] ]] ||
    fail "$object has section groups"
  [[ ! $sections =~ \.(init_array|ctors) ]] ||
    fail "$object runs something while it is loaded"
  if [[ $name == *_sse2 ]]; then continue; fi
  is_wide "$object" || fail "$object has no wide registers: nothing was tested"
  rm "$object"
done

objects=(*.o)
for object in "${objects[@]}"; do
  ! is_wide "$object" || fail "$object has instructions of AVX"
done

if ((failures > 0)); then
  echo "$failures failures"
  exit 1
fi
echo "$# objects isolated, ${#objects[@]} objects of the baseline"
