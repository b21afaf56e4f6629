# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# Expectations for the tests of the scripts, to be sourced: they are counted, so
# that one run shows all that do not hold.
#
#   expect "exit code" "$status" 2
#   end_expectations

failures=0
expectations=0

# A folder of the test's own, removed at its end.
make_scratch() {
  scratch=$(mktemp -d)
  readonly scratch
  trap 'rm -rf "$scratch"' EXIT
}

# A program that notes its call in $FAKE/calls and then does what standard input says.
fake() {  # FILE NAME
  # shellcheck disable=SC2016  # for the fake to expand
  { printf '#!/bin/bash\necho "%s $*" >>"$FAKE/calls"\n' "$2"; cat; } >"$1"
  chmod +x "$1"
}

# Leaves `status` and `output` of a command.
# shellcheck disable=SC2034  # for who sources this
try() {  # COMMAND...
  status=0
  output=$("$@" 2>&1) || status=$?
}

expect() {  # ABOUT GOT WANTED, a glob
  expectations=$((expectations + 1))
  # shellcheck disable=SC2053  # the right side is a pattern
  if [[ $2 != $3 ]]; then
    printf 'FAILED %s\n  got:    %s\n  wanted: %s\n' "$1" "$2" "$3"
    failures=$((failures + 1))
  fi
}

# Ends the test program; one without expectations has tested nothing.
end_expectations() {
  echo "$((expectations - failures)) of $expectations expectations hold"
  ((failures == 0 && expectations > 0)) || exit 1
}
