#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Tests the generator, draws models that no day before has seen, and asks the
# oracle about them.
#
#   ctest/trial/oracle/witness/nightly.sh PYTHON WITNESS FOLDER [COUNT]

set -euo pipefail
readonly python=$1 witness=$2 folder=$3 count=${4-1000}
cd "$(dirname "${BASH_SOURCE[0]}")/generator"
mkdir -p "$folder"
"$python" -m unittest --quiet witness_test pages_test
# Three seeds, of which each stands for a range of 1,000 models a day.
today=$(($(date +%s) / 86400))
for offset in 0 1 2; do
  seed=$((3 * today + offset))
  echo "seed $seed"
  "$python" generate.py --seed "$seed" --count "$count" >"$folder/$offset.txt"
done
"$witness" "$folder"/[012].txt
