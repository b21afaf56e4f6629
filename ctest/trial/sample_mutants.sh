#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Tries the mutants that choose_mutants.py chooses, and leaves what became of them where
# the word of a run looks for it.
#
#   ctest/trial/sample_mutants.sh harness|backends BUILD

set -euo pipefail
here=$(dirname "${BASH_SOURCE[0]}")
chosen=$(python3 -B "$here/choose_mutants.py" "$1")
# shellcheck disable=SC2086  # names, of which none has a blank
case $1 in
  harness)
    exec python3 -B "$here/mutants/harness_mutants.py" --build "$2" $chosen
    ;;
  backends)
    exec "$2/bin/assay" assess $chosen --out "$2/share/assay/mutants.csv"
    ;;
esac
