#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Sets the machine up, then configures and builds one CMake preset; configures
# only when the preset is another one than last time or has changed.
#
#   ctest/build.sh ci            # into build/, or as the preset says
#   ctest/build.sh ci qualify    # no more than that target needs

set -euo pipefail
readonly program=build
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=ctest/steps.sh
source ctest/steps.sh

# The presets dev and ci share build/; every other has a folder of its own.
build_dir() {  # PRESET
  case $1 in
    dev | ci) echo build ;;
    *) echo "build-$1" ;;
  esac
}

step_configure() {
  # A cache that another place or an interrupted run left cannot be used.
  cmake --preset "$preset" --fresh
}

# Passes ninja's lines, long and many, on to the log, and to the person, on
# descriptor 8, a short one at each tenth of the way.
show_progress() {
  awk -F'[][/]' '
    { print }
    /^\[[0-9]+\/[0-9]+\]/ {
      tenth = int(10 * $2 / $3)
      if (tenth > last && $3 > 20) {
        printf "build: %d of %d\n", $2, $3 | "cat >&8"
        fflush("cat >&8")
      }
      last = tenth
    }'
}

step_build() {
  cmake --build "$dir" -j "${ASSAY_JOBS:-$(nproc)}" \
    ${target:+--target "$target"} 2>&1 | show_progress
}

main() {
  preset=${1-ci}
  target=${2-}
  # Paths below the tree are hashed relative to it, so that a second clone, or a
  # worktree, finds in the compiler cache what the first has compiled.
  export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=true
  ctest/bootstrap.sh
  dir=$(build_dir "$preset")
  start_steps "$dir/log"

  what[configure]="configuring the preset $preset"
  key[configure]="$preset $(<CMakePresets.json)"
  makes[configure]="$dir/build.ninja $dir/CMakeCache.txt"
  stamp[configure]=$dir/log/configured
  advice[configure]="read the log, then run this again"
  ensure configure

  what[build]="building into $dir/"
  advice[build]="mend what the log names as an error, then run this again"
  exec 8>&1
  run_step build
  exec 8>&-
}

main "$@"
