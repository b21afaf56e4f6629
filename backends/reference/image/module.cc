// SPDX-License-Identifier: Apache-2.0
//
// The module's one symbol. And WebP by libwebp, lossy and lossless;
// transparency is left out, an animation declined.

#include <webp/decode.h>

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

Image DecodeWebp(Bytes bytes) {
  WebPBitstreamFeatures features;
  const VP8StatusCode status =
      WebPGetFeatures(bytes.data(), bytes.size(), &features);
  if (status != VP8_STATUS_OK) {
    throw Broken("its header is not read, status " + std::to_string(status));
  }
  if (features.has_animation != 0) throw Broken("it is an animation");
  const auto height = static_cast<size_t>(features.height);
  const auto width = static_cast<size_t>(features.width);
  // A lossless picture of one colour needs no bits for its pixels.
  CheckSize(height, width, 0, bytes, 0);
  Image image{height, width, std::vector<uint8_t>(height * width * 3)};
  if (WebPDecodeRGBInto(bytes.data(), bytes.size(), image.pixels.data(),
                        image.pixels.size(),
                        static_cast<int>(width * 3)) == nullptr) {
    throw Broken("its picture is cut or damaged");
  }
  return image;
}

extern "C" __attribute__((visibility("default"))) const ImageCodecs*
assay_image_codecs() {
  static constexpr ImageCodecs kCodecs = {
      kImageCodecsVersion, &Decode<DecodeJpeg>, &Decode<DecodeJpeg2000>,
      &Decode<DecodePng>,  &Decode<DecodeTiff>, &Decode<DecodeWebp>};
  return &kCodecs;
}

}  // namespace assay::reference
