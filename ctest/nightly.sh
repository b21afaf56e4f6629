#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Sets the machine up, builds, and runs every test of every tier: all that tries
# ourselves, too. When all pass on a commit, writes it into ctest/trial/nightly.txt.

set -euo pipefail

usage() {
  cat <<'EOF'
usage: ctest/nightly.sh [--again]

Sets the machine up, builds into build/, and runs the tests of the tiers ci,
nightly and scale: every mutant, hostile behaviour, header, example and source.
One that was stopped goes on where it was: a test that passed is not run again
until something changes that it reads.

When every test passes and the work tree is that of a commit, the commit and the
day go into ctest/trial/nightly.txt; ctest/check.sh tries what has changed since.

  --again      runs every test

Exit codes: 0 every test passed, 1 some did not, 2 usage, 99 set-up or build
failed.
EOF
}

export ASSAY_REMEMBER=1
for argument; do
  case $argument in
    --help | -h)
      usage
      exit 0
      ;;
    --again) ASSAY_REMEMBER=0 ;;
    *)
      printf "nightly: found argument '%s'\n" "$argument" >&2
      usage >&2
      exit 2
      ;;
  esac
done

cd "$(dirname "${BASH_SOURCE[0]}")/.."
readonly list=ctest/trial/nightly.txt
ctest/bootstrap.sh --with nightly
ctest/build.sh ci
ctest --test-dir build --output-on-failure --no-tests=error \
  -L '^tier=(ci|nightly|scale)$' -j "${ASSAY_JOBS:-$(nproc)}" || exit 1

if ! commit=$(git rev-parse HEAD 2>/dev/null); then
  printf 'nightly: green, of no commit: %s stays as it is\n' "$list"
elif [[ -n $(git status --porcelain -- . ":!$list") ]]; then
  printf 'nightly: green, of no commit, since files differ from %s: %s stays as it is\n' \
    "${commit:0:12}" "$list"
else
  lines=$(grep '^#' "$list")
  printf '%s\n%s %s\n' "$lines" "$commit" "$(date -u +%F)" >"$list"
  printf 'nightly: green, %s is written: commit it\n' "$list"
fi
