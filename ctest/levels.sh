#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Runs cases on instances of backends that are held to lesser instruction sets
# than the processor has (decision 0046).
#
#   ctest/levels.sh build/bin/assay build/levels/quick quick onednn+isa=avx2...
#
# `quick` is the suite special and the cases of which a line of
# backends/*/expectations.txt says when it holds; `whole` is all of tier ci, over
# which each instance must be conformant. An instance whose set the processor has
# not is unavailable, which is no failure; 77 where all are.

set -euo pipefail
(($# >= 4)) || {
  printf 'levels: found %s arguments, wanted ASSAY OUT quick|whole INSTANCE...\n' $#
  exit 2
}
assay=$1
out=$2
how=$3
shift 3
backends=()
for instance; do backends+=(--backend "$instance"); done

filter=()
if [[ $how == quick ]]; then
  named=$(grep -h '" when ' "$(dirname "$0")"/../backends/*/expectations.txt |
    grep -oE '(id|op):[^ )]+' | sort -u | sed 's/^/ or /' | tr -d '\n') || true
  filter=(--filter "suite:special$named")
fi
rm -rf "$out"
mkdir -p "$(dirname "$out")"
status=0
"$assay" run "${backends[@]}" "${filter[@]}" --tier ci --jobs 1 \
  --allow-unavailable --no-report --out "$out" | tee "$out.log" || status=$?
[[ $status == 0 && $how == whole ]] || exit "$status"

for instance; do
  grep -qF "$instance: conformant, " "$out.log" && continue
  grep -qF "$instance is unavailable: " "$out.log" && continue
  printf 'levels: %s is not conformant, see above\n' "$instance"
  status=1
done
exit "$status"
