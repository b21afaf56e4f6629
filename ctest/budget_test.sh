#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Prints the largest files, classes and functions and fails above the budgets:
# 500 lines a file, 200 a class, 60 a function. Generated code is exempt, and the
# rows of a test's table (lines of a TEST that end with a comma) are data. It
# reads the layout that clang-format gives: a body ends with a brace in the
# column in which its first line began.
#
#   ctest/budget_test.sh [ROOT]

set -euo pipefail
cd "${1:-.}"

sources() {
  find framework backends perf conformance reports ctest .ci \
    \( -name '*.cc' -o -name '*.h' -o -name '*.py' -o -name '*.sh' \
    -o -name '*.cmake' -o -name '*.js' -o -name '*.css' \) \
    ! -path '*/generated/*' 2>/dev/null | sort
}

files() { sources | xargs wc -l | awk '$2 != "total" {print $1, "file", $2}'; }

bodies() {
  sources | grep -E '\.(cc|h)$' | xargs awk '
    FNR == 1 { depth = 0; rows = 0; in_test = 0 }
    {
      if ($0 ~ /^ *\/\//) next
      indent = match($0, /[^ ]/) - 1
      if ($0 ~ /^TEST/) in_test = 1
      if ($0 ~ /^}/) { in_test = 0 } else if (in_test && $0 ~ /,$/) ++rows
      # A declaration may run over several lines before its brace.
      if (depth > 0 && indent == open_at[depth] && $0 ~ /^ *}/) {
        print FNR - begun[depth] + 1 - rows, what[depth], FILENAME ":" begun[depth]
        --depth
        rows = 0
        next
      }
      # So may the bases of a class.
      if ($0 ~ /^ *(class|struct) [A-Za-z_]+ .*,$/) { head = FNR; next }
      if (head > 0) {
        if ($0 !~ /\{$/) next
        ++depth; open_at[depth] = 0; begun[depth] = head; what[depth] = "class"
        head = 0
      } else if ($0 ~ /^ *(class|struct) [A-Za-z_]+.*{$/) {
        ++depth; open_at[depth] = indent; begun[depth] = FNR; what[depth] = "class"
      } else if ($0 ~ /^ *(namespace|extern|enum|union)/) {
        next
      } else if ($0 ~ /\{$/ && indent <= 2 && $0 !~ /^ *(if|for|while|switch|else|do|try|case|}|return)/ &&
                 ($0 ~ /\)/ || $0 ~ /^ *[A-Z].*\{$/) && $0 !~ /= *[A-Za-z_:<>]*\{$/ &&
                 (depth == 0 || what[depth] == "class")) {
        ++depth; open_at[depth] = indent; begun[depth] = FNR; what[depth] = "function"
        if ($0 ~ /^ +[^ ].*\) .*\{$/ && depth == 1) open_at[depth] = 0
      }
    }'
}

failed=0
check() {  # KIND LIMIT, sizes on standard input
  local sizes worst over
  sizes=$(grep " $1 " | sort -rn || true)
  worst=$(head -n 3 <<<"$sizes")
  printf 'largest, of at most %s lines:\n%s\n' "$2" "$worst"
  over=$(awk -v limit="$2" '$1 > limit' <<<"$sizes")
  if [[ -n $over ]]; then
    printf 'over the budget of %s lines:\n%s\n' "$2" "$over"
    failed=1
  fi
}

check file 500 < <(files)
check class 200 < <(bodies)
check function 60 < <(bodies)
exit "$failed"
