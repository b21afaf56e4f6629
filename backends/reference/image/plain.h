// SPDX-License-Identifier: Apache-2.0
//
// BMP and the portable pixmaps (PBM, PGM, PPM, in text and in binary): formats
// that need no library.

#pragma once

#include "backends/reference/image/image.h"
#include "framework/core/status.h"

namespace assay::reference {

/// Invalid argument, saying what was found, for what is no such image, or not
/// all of it. Memory is had for the pixels that the bytes hold, except of a
/// run-length encoded BMP, which may leave out as many as IsPermitted.
Result<Image> DecodeBmp(Bytes bytes);
Result<Image> DecodePnm(Bytes bytes);

}  // namespace assay::reference
