// SPDX-License-Identifier: Apache-2.0
//
// Image, and the interface of the module image_codecs, the only one that links
// the libraries of JPEG, JPEG 2000, PNG, TIFF and WebP. It is loaded when the
// first ImageDecoder is.
//
// Both sides are built from one tree, by one compiler.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace assay::reference {

/// Rows from the top, pixels of three bytes: red, green, blue.
struct Image {
  size_t height = 0;
  size_t width = 0;
  std::vector<uint8_t> pixels;
};

using Bytes = std::span<const uint8_t>;

/// Pixels that an image may have, 8192 by 8192: what a header merely claims
/// costs no more memory than this times three (for TIFF four, for JPEG 2000
/// four for each component). Where a format cannot say so much in so few bytes,
/// less is refused already.
inline constexpr size_t kMostPixels = size_t{1} << 26;

/// True when an image has pixels, and no more than the limit.
inline bool IsPermitted(uint64_t height, uint64_t width) {
  return height > 0 && width > 0 && height <= kMostPixels &&
         width <= kMostPixels && height * width <= kMostPixels;
}

/// `value` of [0, most] as one of [0, 255], to nearest, halves up.
inline uint8_t ToByte(uint64_t value, uint64_t most) {
  return static_cast<uint8_t>((value * 510 + most) / (2 * most));
}

/// False when `bytes` are no such image, or not all of it; `why` says so in
/// words. Nothing is thrown.
using DecodeImage = bool (*)(Bytes bytes, Image& image,
                             std::string& why) noexcept;

/// The module's one symbol, assay_image_codecs(), gives this.
struct ImageCodecs {
  int version = 0;
  DecodeImage jpeg, jpeg2000, png, tiff, webp;
};
inline constexpr int kImageCodecsVersion = 1;
using GetImageCodecs = const ImageCodecs* (*)();

}  // namespace assay::reference
