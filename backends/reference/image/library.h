// SPDX-License-Identifier: Apache-2.0
//
// The decoders of images: the module image_codecs, loaded on first use, which
// lies in the folder codecs beside the backend's module; and, of formats that
// need no library, BMP and the portable pixmaps (PBM, PGM, PPM, in text and in
// binary), in plain.cc.

#pragma once

#include <filesystem>

#include "backends/reference/image/image.h"
#include "framework/core/status.h"

namespace assay::reference {

/// Once in a process; the same answer ever after. Unavailable, naming the file,
/// when it is missing or one of its libraries is.
Result<const ImageCodecs*> LoadImageCodecs();

/// The same of that file, without remembering.
Result<const ImageCodecs*> LoadImageCodecs(const std::filesystem::path& file);

/// Invalid argument, saying what was found, for what is no such image, or not
/// all of it. Memory is had for the pixels that the bytes hold, except of a
/// run-length encoded BMP, which may leave out as many as IsPermitted.
Result<Image> DecodeBmp(Bytes bytes);
Result<Image> DecodePnm(Bytes bytes);

}  // namespace assay::reference
