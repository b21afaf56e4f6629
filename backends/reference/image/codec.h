// SPDX-License-Identifier: Apache-2.0
//
// The codecs of the module image_codecs. A codec throws Broken, or
// what the standard library throws; the module's boundary is in module.cc.

#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include "backends/reference/image/image.h"

namespace assay::reference {

/// Why a stream is not decoded.
class Broken : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Throws unless an image of this size is permitted, and `bytes` times `ratio`
/// (0: any), the most that the format's compression gives, are so many.
inline void CheckSize(uint64_t height, uint64_t width, uint64_t needed,
                      Bytes bytes, uint64_t ratio) {
  const std::string size =
      std::to_string(height) + " by " + std::to_string(width) + " pixels";
  if (!IsPermitted(height, width)) {
    throw Broken("the header claims " + size + ", wanted 1 to " +
                 std::to_string(kMostPixels) + " in all");
  }
  if (ratio != 0 && needed / ratio > bytes.size()) {
    throw Broken("the header claims " + size + ", more than " +
                 std::to_string(bytes.size()) + " bytes can hold");
  }
}

Image DecodeJpeg(Bytes bytes);
Image DecodeJpeg2000(Bytes bytes);
Image DecodePng(Bytes bytes);
Image DecodeTiff(Bytes bytes);
Image DecodeWebp(Bytes bytes);

}  // namespace assay::reference
