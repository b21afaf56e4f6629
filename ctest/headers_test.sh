#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Compiles every public header alone.
#
#   ctest/headers_test.sh COMPILER [INCLUDE_DIRECTORY]...

set -euo pipefail
compiler=$1
shift
includes=(-I.)
# Directories come one by one or as a CMake list.
for directory in ${*//;/ }; do
  includes+=("-I$directory")
done

# The reader's headers are private; those that only tests include, the tests'.
headers=$(find framework -name '*.h' | grep -vE '/onnx_(reader|writer)|/gen_' | sort |
  while read -r header; do
    grep -rlF "#include \"$header\"" framework backends perf |
      grep -vE '_test\.cc$|_fixture\.h$|/test_module/' | grep -q . && printf '%s\n' "$header"
  done)
failed=0
xargs -P 2 -I{} "$compiler" -std=c++20 -Wall -Wextra -Wpedantic -Werror \
  -Wno-missing-field-initializers \
  "${includes[@]}" -fsyntax-only -x c++ {} <<<"$headers" || failed=1
printf '%s headers compiled alone\n' "$(wc -l <<<"$headers")"
exit "$failed"
