#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# linkage_test.sh CODECS OTHER...: the module of image codecs exports one name
# and needs all of its five libraries; the other files need none of them.
set -euo pipefail
codecs=${1:?usage: linkage_test.sh CODECS OTHER...}
shift
libraries='libjpeg|libopenjp2|libpng|libtiff|libwebp'
failures=0

fail() {
  echo "$1"
  failures=$((failures + 1))
}

exported=$(nm --dynamic --defined-only "$codecs" | awk '{print $3}')
[[ $exported == assay_image_codecs ]] || fail "$codecs exports $exported"
dynamic=$(readelf --dynamic --wide "$codecs")
found=$(grep -cE "NEEDED.*\[($libraries)" <<<"$dynamic" || true)
((found == 5)) || fail "$codecs needs $found of $libraries"
for file; do
  dynamic=$(readelf --dynamic --wide "$file")
  if grep -E "NEEDED.*\[($libraries)" <<<"$dynamic"; then
    fail "$file needs a library of the image codecs"
  fi
done
((failures == 0)) || exit 1
echo "$codecs exports one name; $# others need none of its libraries"
