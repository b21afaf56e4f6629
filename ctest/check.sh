#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Sets the machine up, builds, and runs every test of tier ci; ends with
# ctest's own summary.

set -euo pipefail

usage() {
  cat <<'EOF'
usage: ctest/check.sh [--sanitize] [--again]

Sets the machine up, builds into build/, and runs every test of tier ci that
has not passed since anything that it reads changed (ctest/unchanged.py). What
tries ourselves is run where something changed since the last green night, whose
commit it prints, and as a sample; ctest/nightly.sh runs all of it.

  --again      runs every test
  --sanitize   first does the same with AddressSanitizer and
               UndefinedBehaviorSanitizer (build-asan/)

Exit codes: 0 every test passed, 1 some did not, 2 usage, 99 set-up or build
failed.
EOF
}

presets=(ci)
export ASSAY_REMEMBER=1
for argument; do
  case $argument in
    --help | -h)
      usage
      exit 0
      ;;
    --again) ASSAY_REMEMBER=0 ;;
    --sanitize) presets=(asan ci) ;;
    *)
      printf "check: found argument '%s'\n" "$argument" >&2
      usage >&2
      exit 2
      ;;
  esac
done

cd "$(dirname "${BASH_SOURCE[0]}")/.."
failed=()
for preset in "${presets[@]}"; do
  ctest/build.sh "$preset"
  python3 -B ctest/trial/changed.py
  dir=build
  [[ $preset == ci ]] || dir=build-$preset
  if ((${#failed[@]} > 0)); then
    printf 'check: failed under %s, see above\n' "${failed[*]}"
  fi
  ctest --test-dir "$dir" --output-on-failure --no-tests=error \
    -L '^tier=ci$' -j "${ASSAY_JOBS:-$(nproc)}" || failed+=("$preset")
done
((${#failed[@]} == 0))
