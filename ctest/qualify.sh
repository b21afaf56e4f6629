#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The main job: sets the machine up, builds, and runs the cases of tier ci on
# backends. Quick when nothing changed.

set -euo pipefail

usage() {
  cat <<'EOF'
usage: ctest/qualify.sh [--out DIR] [BACKEND]...

Runs the cases of tier ci on each BACKEND, a name from `assay list backends`
or a module's file; default: reference onednn. Results go to DIR, or else to a
new folder in runs/. For other options see build/bin/assay run --help.

Exit codes: 0 all as expected, 1 unexpected result, 2 usage, 77 everything
unavailable, 99 set-up, build or harness failed.
EOF
}

refuse() {
  printf 'qualify: %s\n' "$*" >&2
  usage >&2
  exit 2
}

backends=()
out=
while (($# > 0)); do
  case $1 in
    --help | -h)
      usage
      exit 0
      ;;
    --out)
      [[ -n ${2-} ]] || refuse "found --out without a folder"
      out=$(realpath --canonicalize-missing -- "$2")
      shift 2
      ;;
    -*) refuse "found option '$1'" ;;
    */*)  # a file: its path is relative to where the person stands
      backends+=(--backend "$(realpath --canonicalize-missing -- "$1")")
      shift
      ;;
    *)
      backends+=(--backend "$1")
      shift
      ;;
  esac
done
((${#backends[@]} > 0)) || backends=(--backend reference --backend onednn)

cd "$(dirname "${BASH_SOURCE[0]}")/.."
ctest/build.sh ci qualify

mkdir -p build/log
# A sample of mutants shows the worth of the verdict, once for a build. The
# harness' own mutants need its tests, which check.sh builds and runs; until
# then the verdict says that the harness is not assessed.
if ! build/bin/assay assess --check >/dev/null; then
  printf 'qualify: trying a sample of mutants on the suites, once for this build\n'
  ctest/trial/sample_mutants.sh backends build >build/log/assess.txt 2>&1 || {
    cat build/log/assess.txt
    printf 'qualify: not every mutant was seen, see above\n' >&2
  }
fi

touch build/log/qualify.start
status=0
build/bin/assay run "${backends[@]}" --tier ci ${out:+--out "$out"} || status=$?

# Never a page that is older than this run.
page=${out:-runs/latest}/report.html
if [[ -e $page && ! build/log/qualify.start -nt $page ]]; then
  printf 'report: %s\n' "$page"
else
  printf 'qualify: this run wrote no %s\n' "$page" >&2
fi
exit "$status"
