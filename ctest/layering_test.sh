#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Checks who includes whom against ctest/layers.txt, that public headers are
# free of protobuf, MPI, CUDA and GoogleTest, that only tests include a fixture
# (*_fixture.h), and that no backend's name stands in the framework's sources,
# tests and fixtures apart.
#
#   ctest/layering_test.sh [ROOT]     # another tree, for this test's own test

set -euo pipefail
root=${1:-.}
table=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/layers.txt
cd "$root"

sources() { find framework backends conformance perf -name '*.cc' -o -name '*.h'; }

# file:line:included-path of every include of a file of this tree.
includes() {
  sources | xargs grep -nE '^#include "(framework|backends|conformance|perf)/' /dev/null |
    sed -E 's/^([^:]+):([0-9]+):#include "([^"]+)".*/\1:\2:\3/'
}

layering() {
  includes | awk -F: -v table="$table" '
    function folder(path,  parts, n) {
      n = split(path, parts, "/")
      if (parts[1] == "perf") return "perf"
      return parts[1] "/" parts[2]
    }
    BEGIN {
      while ((getline line < table) > 0) {
        if (line ~ /^#/ || line == "") continue
        n = split(line, words, " ")
        known[words[1]] = 1
        for (i = 1; i <= n; ++i) {
          if (words[i] == "|") { tests_only = 1; continue }
          allowed[words[1], words[i], tests_only + 0] = 1
        }
        tests_only = 0
      }
    }
    {
      from = folder($1); to = folder($3)
      if (!(from in known)) { print $1 ": folder " from " is not in layers.txt"; next }
      if (from == to || (from, to, 0) in allowed) next
      if ($1 ~ /_test\.cc$|\/test_module\// && (from, to, 1) in allowed) next
      print $1 ":" $2 ": " from " may not include " $3
    }' | sort -u
}

# Whether only tests include a header.
is_test_header() {
  ! grep -rlF "#include \"$1\"" framework backends perf |
    grep -qvE '_test\.cc$|_test\.h$|_fixture\.h$|/test_module/'
}

# A fixture may do what a test may, so nothing else may have it.
fixtures() {
  includes | grep -E '_fixture\.h$' |
    grep -vE '^[^:]*(_test\.cc|_fixture\.h):' |
    sed 's/$/: only tests may include a fixture/' || true
}

# The header for typed fixtures is the one place of GoogleTest; the reader,
# the writer and the generator are private to framework/graph.
foreign_headers() {
  local header
  find framework -name '*.h' ! -path framework/testing/worker/backend_test.h |
    grep -vE '/onnx_(reader|writer)|/gen_' |
    xargs grep -lE '#include [<"](google/protobuf|onnx/|mpi\.h|cuda|gtest|gmock)' /dev/null |
    while read -r header; do
      is_test_header "$header" ||
        printf '%s: includes what no public header may\n' "$header"
    done
}

backend_names() {
  local names
  names=$(find backends -mindepth 1 -maxdepth 1 -type d -printf '%f\n' |
    grep -vE '^(reference|null)$' | paste -sd'|')
  [[ -n $names ]] || return 0
  # Comments may give an example; code may not know a vendor. The reference and
  # null have names that are words of the field.
  find framework perf -name '*.cc' -o -name '*.h' |
    grep -vE '_test\.cc$|_fixture\.h$' |
    xargs grep -nE "\"[^\"]*\b($names)\b[^\"]*\"" /dev/null |
    grep -vE '^[^:]+:[0-9]+: *//' |
    sed 's/$/: names a backend/' || true
}

found=$(layering; foreign_headers; fixtures; backend_names)
if [[ -n $found ]]; then
  printf '%s\n' "$found"
  exit 1
fi
printf 'layering holds for %s files\n' "$(sources | wc -l)"
