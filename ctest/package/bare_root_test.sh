#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# From the archive to a verdict in a root that holds the C and the C++ library, with
# the locale C.UTF-8, and nothing else: no compiler, Python, shell, source or build.
#
#   ctest/package/bare_root_test.sh ARCHIVE FOLDER [ARGUMENT...]
#
# The arguments are those of `assay run`; by default the node suite. Exit code 77
# where this user may not make such a root.

set -euo pipefail
archive=$(realpath "$1")
work=$(realpath --canonicalize-missing "$2")
shift 2
(($# > 0)) || set -- --suite node
# shellcheck source=ctest/expect.sh
source "$(dirname "${BASH_SOURCE[0]}")/../expect.sh"

# A user's own namespaces of mounts and processes.
apart=(unshare --user --map-root-user --mount --pid --fork)
rm -rf "$work"
mkdir -p "$work"/{opt,tmp,proc,dev,lib64,usr/lib/locale}
touch "$work/dev/null"
if ! why=$("${apart[@]}" mount -t proc proc "$work/proc" 2>&1); then
  echo "skipped: this user may not make a root of its own: $why"
  rm -rf "$work"
  exit 77
fi

libraries=/lib/$(uname -m)-linux-gnu
mkdir -p "$work$libraries"
for name in libc libm libdl libpthread librt libstdc++ libgcc_s; do
  cp -L "$libraries/$name".so.? "$work$libraries/"
done
cp -L /lib64/ld-linux-*.so.? "$work/lib64/"
cp -r /usr/lib/locale/C.utf8 "$work/usr/lib/locale/"
tar -xf "$archive" -C "$work/opt"
prefix=/opt/$(ls "$work/opt")

# Leaves `status` and `output` of the program in the bare root.
run() {  # ARGUMENT...
  # shellcheck disable=SC2016  # for the inner shell to expand
  try "${apart[@]}" bash -c 'mount -t proc proc "$0/proc" &&
    mount --bind /dev/null "$0/dev/null" &&
    exec env -i HOME=/tmp /usr/sbin/chroot "$@"' "$work" "$work" \
    "$prefix/bin/assay" "$@"
}

SECONDS=0
run run --backend reference --out /tmp/green "$@"
echo "$output"
echo "$SECONDS s"
expect "a green verdict" "$status $output" "0 *reference on * = pass *"
expect "the page is left out" "$output" \
  "*written to /tmp/green, no report.html: a page needs Python *"
expect "tables are there" "$(head -c 7 "$work/tmp/green/results.csv")" "schema,"
run run --backend null --suite contract --out /tmp/red
expect "a red verdict" "$status $output" "1 *null on contract: *no report.html*"
run inspect onednn
expect "oneDNN loads" "$status $output" "0 *"
run run --backend reference --filter op:ImageDecoder --out /tmp/images
expect "codecs load" "$status $output" "0 *reference on onnx: * = pass *"
rm -rf "$work"
end_expectations
