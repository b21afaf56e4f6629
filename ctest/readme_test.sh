#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Checks that the C++ on the front page is a part of the backend that a test
# builds, and that the example's own page shows all of it.

set -euo pipefail
folder=backends/example_plugin
example=$(<"$folder/example_plugin.cc")
shown=$(sed -n '/^```cpp$/,/^```$/{/^```/!p}' README.md)
if [[ -z $shown || $example != *"$shown"* ]]; then
  printf 'README.md does not show a part of %s as it is\n' "$folder"
  exit 1
fi
if [[ $(<"$folder/README.md") != *"$example"* ]]; then
  printf '%s does not show the example as it is\n' "$folder/README.md"
  exit 1
fi
