#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Makes the Debian package and checks it: what it says it needs, that it has the
# kill table, and that its programs run from /opt/assay of another root.
#
#   ctest/package/package_test.sh build build/package_test/debian

set -euo pipefail
build=$1
out=$2
# shellcheck source=ctest/expect.sh
source "$(dirname "${BASH_SOURCE[0]}")/../expect.sh"

rm -rf "$out"
cpack --config "$build/CPackConfig.cmake" -G DEB -B "$out" >/dev/null
rm -r "$out/_CPack_Packages"
ls -l "$out"

deb=$(echo "$out"/*.deb)
control=$(dpkg-deb -f "$deb" Depends Recommends)
expect "depends on libraries" "$control" "*libc6 (>=*libpugixml*libstdc++6*"
expect "names Python" "$control" "*Recommends: *python3-jinja2*"
dpkg-deb -x "$deb" "$out/root"
assay=$out/root/opt/assay/bin/assay
for file in bin/assay bin/assay-host bin/assay-worker lib/libassay_core.so lib/assay/reference.so; do
  same=$(cmp "$build/$file" "$out/root/opt/assay/$file" && echo 1)
  expect "$file is installed as built" "$same" 1
done
if [[ -e $build/share/assay/mutants.csv ]]; then
  try "$build/bin/assay" assess --check
  built=$status
  try "$assay" assess --check
  expect "knows the mutants of the build" "$status" "$built"
fi
try "$assay" run --backend onednn --suite contract --no-report --out "$out/run"
expect "a verdict" "$status $output" "0 *onednn on contract: * = pass *"
rm -rf "$out/root" "$out/run"
end_expectations
