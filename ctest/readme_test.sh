#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Checks that the C++ on the front page is a part of the backend that a test
# builds.

set -euo pipefail
folder=backends/example_plugin
example=$(<"$folder/example_plugin.cc")
shown=$(sed -n '/^```cpp$/,/^```$/{/^```/!p}' README.md)
if [[ -z $shown || $example != *"$shown"* ]]; then
  printf 'README.md does not show a part of %s as it is\n' "$folder"
  exit 1
fi
