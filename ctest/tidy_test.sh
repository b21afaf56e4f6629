#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Runs clang-tidy over the sources of a build, tests apart. A file that was clean
# is not looked at again until it, a header or the checks change.
#
#   ctest/tidy_test.sh .venv/bin/clang-tidy BUILD_DIRECTORY

set -euo pipefail
tidy=$1
build=$2
# The compiler, which knows its own headers (omp.h), is the one that warns.
flags="--quiet --extra-arg=-w --extra-arg=-idirafter$(
  g++ -print-file-name=include)"
stamps=$build/tidy
mkdir -p "$stamps"

# One digest for all headers, the checks and the tool: they decide for every file.
common=$({
  find framework backends conformance perf .clang-tidy -name '*.h' \
    -o -name .clang-tidy | sort | xargs sha256sum
  "$tidy" --version
} | sha256sum | cut -c1-16)

todo=()
while read -r file; do
  grep -qF "\"$PWD/$file\"" "$build/compile_commands.json" || continue
  key=$(sha256sum <"$file" | cut -c1-16)-$common
  stamp=$stamps/${file//\//_}
  [[ -f $stamp && $(<"$stamp") == "$key" ]] || todo+=("$file $key $stamp")
done < <(find framework backends conformance -name "*.cc" \
  ! -name "*_test.cc" ! -path "*/generated/*" \
  ! -path '*/test_module*/*' ! -path '*/*_test_modules/*' | sort)

check() {
  local file=$1 key=$2 stamp=$3
  if "$tidy" $flags -p "$build" "$file" 2>/dev/null; then
    printf '%s' "$key" >"$stamp"
  else
    printf 'clang-tidy: %s\n' "$file"
    return 1
  fi
}
export -f check
export tidy build flags

printf '%s files to look at\n' "${#todo[@]}"
((${#todo[@]} == 0)) ||
  printf '%s\n' "${todo[@]}" | xargs -P 2 -L 1 bash -c 'check "$@"' _
