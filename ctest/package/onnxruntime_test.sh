#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Builds backends/example_onnxruntime as a vendor would and runs ONNX's node cases on
# it; exit code 77 where the library is not here.
#
#   ctest/package/onnxruntime_test.sh build FOLDER

set -euo pipefail
build=$(realpath "$1")
work=$2
library=$(find .venv/lib -path '*/onnxruntime/capi/libonnxruntime.so.*' 2>/dev/null)
if [[ -z $library ]]; then
  echo "skipped: no ONNX Runtime: ctest/bootstrap.sh --with onnxruntime gets it"
  exit 77
fi
# shellcheck source=ctest/expect.sh
source ctest/expect.sh
rm -rf "$work"
cmake --install "$build" --component development --prefix "$work/assay" >/dev/null
configure() {  # LIBRARY
  cmake -S backends/example_onnxruntime -B "$work/build" \
    -D CMAKE_PREFIX_PATH="$(realpath "$work/assay")" -D ONNXRUNTIME_LIBRARY="$1"
}
configure "$(realpath "$library")" >/dev/null
cmake --build "$work/build" >/dev/null
module=$work/build/lib/assay/example_onnxruntime.so

try "$build/bin/assay" run --backend "$module" --suite node --repeats 0 \
  --no-report --out "$work/run"
echo "$output"
expect "judged" "$status $output" "[01] *example_onnxruntime on onnx: * = pass *"
passed=$(grep -o "pass [0-9]*" <<<"$output" | head -n 1)
expect "most of the cases pass" "$((${passed#pass } > 1000))" 1
try "$build/bin/assay" run --backend "$module+threads=0" --filter op:Relu \
  --no-report --out "$work/refused"
expect "a wrong setting" "$output" "*found the setting threads=0, wanted *"

# The library is gone: unavailable, with the loader's reason.
ln -s "$(realpath "$library")" "$work/lost.so"
configure "$(realpath "$work")/lost.so" >/dev/null
cmake --build "$work/build" >/dev/null
rm "$work/lost.so"
try "$build/bin/assay" run --backend "$module" --filter op:Relu --no-report \
  --out "$work/unavailable"
expect "without the library" "$status $output" "1 *unavailable*lost.so*"
rm -rf "$work"
end_expectations
