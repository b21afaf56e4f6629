#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Tests build.sh, qualify.sh, check.sh, nightly.sh and .ci/run in a folder of their own,
# with fakes for bootstrap.sh, cmake, ctest and assay that note how they were
# called: exact arguments, exit codes, and that no old page is named.

set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
readonly here
# shellcheck source=ctest/expect.sh
source "$here/expect.sh"
make_scratch

make_world() {
  export FAKE=$scratch/fake PATH=$scratch/fake/bin:$PATH ASSAY_JOBS=2
  tree="$scratch/a tree"
  mkdir -p "$FAKE/bin" "$tree/ctest/trial" "$tree/build/bin" "$tree/.ci"
  cp "$here"/{build,qualify,check,nightly,steps}.sh "$tree/ctest/"
  cp "$here"/trial/changed.py "$tree/ctest/trial/"
  printf '# comment\n0123 2026-01-02\n' >"$tree/ctest/trial/nightly.txt"
  cp "$here/../.ci/run" "$tree/.ci/"
  echo '{}' >"$tree/CMakePresets.json"

  fake "$tree/ctest/bootstrap.sh" bootstrap <<'EOF'
exit "${BOOTSTRAP_EXIT-0}"
EOF
  fake "$FAKE/bin/cmake" cmake <<'EOF'
if [[ $1 == --preset ]]; then
  dir=build; [[ $2 == ci ]] || dir=build-$2
  touch "$dir"/{build.ninja,CMakeCache.txt}
else
  for i in 1 30 60; do echo "[$i/60] Building $i"; done
  if [[ -e $FAKE/break_build ]]; then echo "x.cc:9: error: bad"; exit 1; fi
fi
EOF
  fake "$FAKE/bin/ctest" ctest <<'EOF'
[[ $- == *i* || -t 0 ]] && echo "a terminal is there"
echo "remember=${ASSAY_REMEMBER-}"
echo "summary of ctest, CI=${CI-}"
[[ $* != *"--test-dir ${BROKEN_TESTS-none} "* ]] || exit 8
EOF
  fake "$tree/build/bin/assay" assay <<'EOF'
out=runs/now
while (($# > 0)); do [[ $1 != --out ]] || out=$2; shift; done
if [[ ! -e $FAKE/no_page ]]; then
  mkdir -p "$out"; touch "$out/report.html"; ln -sfn now runs/latest || true
fi
exit "${ASSAY_EXIT-0}"
EOF
}

# Runs a script; leaves `status`, `output`, `calls`.
run() {  # SCRIPT [ARGUMENT...]
  : >"$FAKE/calls"
  try "$tree/$1" "${@:2}"
  calls=$(<"$FAKE/calls")
}

test_build_configures_only_when_needed() {
  run ctest/build.sh ci
  expect "first build" "$status $calls" $'0 bootstrap \ncmake --preset ci --fresh
cmake --build build -j 2'
  expect "its progress" "$output" "*configuring*building*build: 30 of 60*60 of 60"
  run ctest/build.sh ci
  expect "second build" "$calls" $'bootstrap \ncmake --build build -j 2'
  run ctest/build.sh asan
  expect "another preset" "$calls" $'bootstrap \ncmake --preset asan --fresh
cmake --build build-asan -j 2'
  echo '{ }' >"$tree/CMakePresets.json"
  run ctest/build.sh ci
  expect "after a change of the presets" "$calls" "*--preset ci --fresh*"
}

test_build_fails_with_reason() {
  touch "$FAKE/break_build"
  run ctest/check.sh
  expect "broken source" "$status $output" "99 *step build failed*x.cc:9: error*"
  expect "no test then" "$calls" $'bootstrap \ncmake --build build -j 2'
  rm "$FAKE/break_build"
  BOOTSTRAP_EXIT=99 run ctest/qualify.sh
  expect "failed set-up" "$status $calls" "99 bootstrap "
}

test_qualify_runs_the_main_job() {
  local row about arguments wanted
  while IFS='|' read -r about arguments wanted; do
    # shellcheck disable=SC2086  # words
    run ctest/qualify.sh $arguments
    expect "$about" "$status ${calls##*$'\n'}" "0 assay run $wanted"
  done <<EOF
default||--backend reference --backend onednn --tier ci
one|null|--backend null --tier ci
two|null faulty+mutant=nan|--backend null --backend faulty+mutant=nan --tier ci
file and folder|/x/a.so --out $scratch/r|--backend /x/a.so --tier ci --out $scratch/r
EOF
}

test_qualify_names_only_a_new_page() {
  run ctest/qualify.sh
  expect "page" "$output" "*report: runs/latest/report.html"
  run ctest/qualify.sh --out "$scratch/r2"
  expect "page of --out" "$output" "*report: $scratch/r2/report.html"
  ASSAY_EXIT=1 run ctest/qualify.sh
  expect "page of a red run" "$status $output" "1 *report: runs/latest/*"
  touch "$FAKE/no_page"
  ASSAY_EXIT=99 run ctest/qualify.sh
  expect "old page" "$status $output" "99 *this run wrote no runs/latest/*"
  rm "$FAKE/no_page"
}

test_check_runs_the_tests() {
  unset CI  # this test runs in CI too
  local tests="--output-on-failure --no-tests=error -L ^tier=ci\$ -j 2"
  run ctest/check.sh
  expect "check" "$status ${calls##*$'\n'}" "0 ctest --test-dir build $tests"
  expect "its last line" "${output##*$'\n'}" "summary of ctest, CI="
  expect "what passed is remembered" "$output" "*remember=1*"
  expect "the last night" "$output" "*last green night: 0123, *"
  run ctest/check.sh --again
  expect "every test again" "$status $output" "0 *remember=0*"
  BROKEN_TESTS=build run ctest/check.sh
  expect "red" "$status ${output##*$'\n'}" "1 summary of ctest*"
  BROKEN_TESTS=build-asan run ctest/check.sh --sanitize
  expect "red under asan only" "$status $output" "1 *check: failed under asan*"
  expect "both" "$(grep -c '^ctest' "$FAKE/calls")" 2
  run ctest/check.sh --sanitize
  expect "sanitize" "$status $(sed -n 's/^ctest --test-dir \(\S*\).*/\1/p' \
    "$FAKE/calls" | xargs)" "0 build-asan build"
  run .ci/run
  expect "ci" "$status ${output##*$'\n'}" "0 summary of ctest, CI=true"
}

test_a_green_night_names_its_commit() {
  local night=$tree/ctest/trial/nightly.txt before commit
  before=$(<"$night")
  run ctest/nightly.sh
  expect "all tiers" "$status ${calls##*$'\n'}" "0 ctest --test-dir build \
--output-on-failure --no-tests=error -L ^tier=(ci|nightly|scale)\$ -j 2"
  expect "of no commit" "$output" "*green, of no commit*"
  printf 'build*\nruns\n' >"$tree/.gitignore"
  git -C "$tree" init -q
  git -C "$tree" add -A
  git -C "$tree" -c user.name=a -c user.email=a@b commit -qm a
  commit=$(git -C "$tree" rev-parse HEAD)
  BROKEN_TESTS=build run ctest/nightly.sh
  expect "red" "$status $(<"$night")" "1 $before"
  touch "$tree/other"
  run ctest/nightly.sh
  expect "other files" "$status $(<"$night")" "0 $before"
  rm "$tree/other"
  run ctest/nightly.sh
  expect "green" "$status $(<"$night")" \
    "0 # comment"$'\n'"$commit $(date -u +%F)"
  rm -rf "$tree/.git"
}

test_other_arguments_are_refused() {
  local row
  for row in "qualify.sh --tier ci" "qualify.sh --out" "check.sh x" \
             "check.sh --sanitise" "nightly.sh x"; do
    # shellcheck disable=SC2086  # words
    run ctest/$row
    expect "$row" "$status $output" "2 *found *usage: *"
    expect "$row: nothing done" "$calls" ""
  done
  run ctest/qualify.sh --help
  expect "help" "$status $output" "0 usage: *"
}

make_world
test_build_configures_only_when_needed
test_build_fails_with_reason
test_qualify_runs_the_main_job
test_qualify_names_only_a_new_page
test_check_runs_the_tests
test_a_green_night_names_its_commit
test_other_arguments_are_refused
end_expectations
