# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# The step engine of bootstrap.sh and build.sh, to be sourced. A step is a
# function step_NAME with an entry in each of these tables; it runs, with its
# output in a log, when its key (what it depends on) is not the one of its last
# success, or when a file that it makes is gone:
#
#   what[wheels]="installing the wheels" key[wheels]=$(cat requirements.txt)
#   makes[wheels]=".venv/bin/python"     advice[wheels]="check the network"
#   step_wheels() { ...; }
#   ensure wheels
#
# The stamp is written last, so a step that was killed runs again; every step
# begins by clearing away what an earlier try left half done.

declare -A what=() key=() makes=() advice=() stamp=()
declare -a steps_run=()

readonly kHarnessError=99

# shellcheck disable=SC2154  # the program that sources this names itself
say() { printf '%s: %s\n' "$program" "$*"; }

# The first error in a log, which parallel work may have buried, and its end.
show_log() {  # FILE
  local first lines=14
  first=$(grep -n -m 1 -E '(^| )(fatal )?error: |^CMake Error|^ERROR: |^E: ' \
    "$1" | cut -d: -f1) || true
  if [[ -n $first ]] && (($(wc -l <"$1") - first >= lines)); then
    tail -n "+$first" "$1" | head -n 6
    echo ...
    lines=7
  fi
  tail -n "$lines" "$1"
}

# Ends the program: which step, why, and what to do.
fail_step() {  # NAME WHY
  {
    say "step $1 failed: $2"
    if [[ -s $log_dir/$1.log ]]; then
      show_log "$log_dir/$1.log" | cut -c 1-200 | fold -s -w 76 |
        sed 's/^/    /'
    fi
    local free_mib
    free_mib=$(df -Pm . | awk 'NR == 2 { print $4 }')
    if ((free_mib < 500)); then
      say "to do: free some disk space, only $free_mib MiB are left"
    fi
    say "to do: ${advice[$1]}"
  } >&2
  exit "$kHarnessError"
}

# Enters the root of the tree, prepares the folders, and keeps a second set-up
# of the same tree waiting: two would clear away each other's files.
start_steps() {  # LOG_DIR, relative to the root
  log_dir=$1
  if ! { mkdir -p "$log_dir" build/deps/stamp &&
         exec 9>build/deps/lock; } 2>/dev/null; then
    say "cannot write to $PWD/build" >&2
    say "to do: check its owner, its mode, and that the disk is not full" >&2
    exit "$kHarnessError"
  fi
  if ! flock -n 9; then
    say "waiting for another set-up of this tree to end"
    flock 9
  fi
  if [[ ! -w ${HOME-} && -z ${CCACHE_DIR-} ]]; then
    export CCACHE_DIR=$PWD/build/ccache  # ccache fails without a home
  fi
}

digest() { sha256sum | cut -d' ' -f1; }

is_done() {  # NAME DIGEST
  local product
  for product in ${makes[$1]-}; do
    [[ -e $product ]] || return 1
  done
  [[ -f ${stamp[$1]} && $(<"${stamp[$1]}") == "$2" ]]
}

# Runs a step without asking whether it is needed.
run_step() {  # NAME
  local name=$1 status started=$SECONDS
  say "step $name: ${what[$name]}"
  set +e  # not "if !": that would switch errexit off inside of the step
  (set -e; "step_$name") </dev/null >"$log_dir/$name.log" 2>&1
  status=$?
  set -e
  if ((status != 0)); then
    fail_step "$name" "exit $status, the end of $log_dir/$name.log:"
  fi
  steps_run+=("$name $((SECONDS - started)) s")
}

ensure() {  # NAME
  local name=$1 key_digest
  : "${stamp[$name]:=build/deps/stamp/$name}"
  # The recipe is part of the key: a changed step runs again.
  key_digest=$({ printf '%s\n' "$PWD" "${key[$name]}"
                 declare -f "step_$name"; } | digest)
  if is_done "$name" "$key_digest"; then return; fi
  rm -f "${stamp[$name]}"
  run_step "$name"
  printf '%s\n' "$key_digest" >"${stamp[$name]}"
}

# One closing line, with the seconds that each step took.
end_steps() {
  if ((${#steps_run[@]} == 0)); then
    say "up to date"
  else
    local list
    list=$(printf '%s, ' "${steps_run[@]}")
    say "done (${list%, })"
  fi
}
