#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Checks that clang-format would change nothing.

set -euo pipefail
find framework backends conformance gradcheck perf ctest \( -name '*.cc' -o -name '*.h' \) \
  ! -path '*/generated/*' -print0 |
  xargs -0 -P 2 -n 16 clang-format --dry-run --Werror
