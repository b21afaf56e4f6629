#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Checks that the backend on the front page is the one that a test builds.

set -euo pipefail
example=backends/example_plugin/example_plugin.cc
if [[ $(<README.md) != *"$(<"$example")"* ]]; then
  printf 'README.md does not show %s as it is\n' "$example"
  exit 1
fi
