#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# isolate.sh IN.o OUT.o SYMBOL: OUT.o is IN.o with no symbol that others see but
# SYMBOL, and without section groups, of which a linker keeps one for everybody.
# LD, NM and OBJCOPY name the tools.

set -euo pipefail
in=$1 out=$2 symbol=$3
unique=$(mktemp)
trap 'rm -f "$unique"' EXIT

"${LD:-ld}" -r --force-group-allocation -o "$out" "$in"
# Symbols that GCC makes unique in the process become local only when they are weak.
"${NM:-nm}" "$out" | awk '$2 == "u" { print $3 }' >"$unique"
# (An empty list is an error to objcopy.)
[[ ! -s $unique ]] ||
  "${OBJCOPY:-objcopy}" --weaken-symbols="$unique" "$out"
"${OBJCOPY:-objcopy}" --keep-global-symbol="$symbol" "$out"
