#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Checks that framework/backend/identity/headers.txt lists the installed headers as they
# are, and build_facts.h their digest: modules that were built with others are
# refused, so each change shows here.
#
#   ctest/package/headers_test.sh build [--accept]

set -euo pipefail
build=$1
accept=${2:-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --install "$build" --component development --prefix "$work" >/dev/null
release=$(sed -n 's/^CMAKE_PROJECT_VERSION:STATIC=//p' "$build/CMakeCache.txt")
cmake -D "HEADERS=$work/include/assay" -D "RELEASE=$release" -D "OUT=$work" \
  -P ctest/cmake/headers.cmake
status=0
for file in headers.txt build_facts.h; do
  if [[ $accept == --accept ]]; then
    cp "$work/$file" "framework/backend/identity/$file"
  elif ! diff -u "framework/backend/identity/$file" "$work/$file"; then
    status=1
  fi
done
if [[ $status != 0 ]]; then
  printf '%s\n' "An installed header changed, so that modules which vendors" \
    "have built are refused until they are built again. If that is meant:" \
    "ctest/package/headers_test.sh $build --accept"
fi
exit "$status"
