// SPDX-License-Identifier: Apache-2.0

#include <exception>
#include <new>

#include "backends/reference/image/codec.h"

namespace assay::reference {
namespace {

// Nothing that a codec throws passes this.
template <Image (*kDecode)(Bytes)>
bool Decode(Bytes bytes, Image& image, std::string& why) noexcept {
  try {
    image = kDecode(bytes);
    return true;
  } catch (const std::bad_alloc&) {
    why.assign("memory ran out");
  } catch (const std::exception& error) {
    why.assign(error.what());
  }
  return false;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const ImageCodecs*
assay_image_codecs() {
  static constexpr ImageCodecs kCodecs = {
      kImageCodecsVersion, &Decode<DecodeJpeg>, &Decode<DecodeJpeg2000>,
      &Decode<DecodePng>,  &Decode<DecodeTiff>, &Decode<DecodeWebp>};
  return &kCodecs;
}

}  // namespace assay::reference
