// SPDX-License-Identifier: Apache-2.0
//
// TIFF by libtiff: the first picture, by the library's own conversion to RGBA,
// from which transparency is left out.

#include <tiffio.h>

#include <algorithm>
#include <array>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <memory>

#include "backends/reference/image/codec.h"

namespace assay::reference {
namespace {

// Strips, tiles and directories; the picture itself is bounded by kMostPixels.
constexpr tmsize_t kMostBytesAtOnce = tmsize_t{1} << 28;

/// The file in memory, and the first error.
struct TiffSource {
  Bytes bytes;
  size_t at = 0;
  std::array<char, 256> message{};
};

TiffSource* SourceOf(thandle_t handle) {
  return static_cast<TiffSource*>(handle);
}

tmsize_t Take(thandle_t handle, void* to, tmsize_t count) {
  TiffSource& source = *SourceOf(handle);
  const size_t left = source.bytes.size() - source.at;
  const size_t taken = std::min(left, static_cast<size_t>(count));
  if (taken > 0) std::memcpy(to, source.bytes.data() + source.at, taken);
  source.at += taken;
  return static_cast<tmsize_t>(taken);
}

tmsize_t Refuse(thandle_t, void*, tmsize_t) { return 0; }

toff_t Seek(thandle_t handle, toff_t offset, int whence) {
  TiffSource& source = *SourceOf(handle);
  toff_t at = offset;
  if (whence == SEEK_CUR) at += source.at;
  if (whence == SEEK_END) at += source.bytes.size();
  source.at = std::min<toff_t>(at, source.bytes.size());
  return source.at;
}

toff_t Size(thandle_t handle) { return SourceOf(handle)->bytes.size(); }

int Close(thandle_t) { return 0; }

int Fail(TIFF*, void* handle, const char*, const char* format,
         va_list arguments) {
  TiffSource& source = *SourceOf(handle);
  if (source.message[0] == 0) {
    std::vsnprintf(source.message.data(), source.message.size(), format,
                   arguments);
  }
  return 1;
}

int Ignore(TIFF*, void*, const char*, const char*, va_list) { return 1; }

struct Closer {
  void operator()(TIFF* tiff) const { TIFFClose(tiff); }
  void operator()(TIFFOpenOptions* options) const {
    TIFFOpenOptionsFree(options);
  }
};

std::unique_ptr<TIFF, Closer> Open(TiffSource& source) {
  const std::unique_ptr<TIFFOpenOptions, Closer> options(
      TIFFOpenOptionsAlloc());
  if (options == nullptr) throw std::bad_alloc();
  TIFFOpenOptionsSetMaxSingleMemAlloc(options.get(), kMostBytesAtOnce);
  TIFFOpenOptionsSetErrorHandlerExtR(options.get(), &Fail, &source);
  TIFFOpenOptionsSetWarningHandlerExtR(options.get(), &Ignore, nullptr);
  // "m": not mapped into memory.
  return std::unique_ptr<TIFF, Closer>(
      TIFFClientOpenExt("image", "rm", &source, &Take, &Refuse, &Seek, &Close,
                        &Size, nullptr, nullptr, options.get()));
}

// How many bytes one may become.
uint64_t RatioOf(uint16_t compression) {
  switch (compression) {
    case COMPRESSION_NONE:
      return 1;
    case COMPRESSION_PACKBITS:
      return 64;  // 128 for two
    case COMPRESSION_ADOBE_DEFLATE:
    case COMPRESSION_DEFLATE:
      return 1032;
    case COMPRESSION_LZW:
      return 4096;  // strings of up to 4096 for nine bits or more
    default:
      return 0;  // a line may take no bits
  }
}

// The library multiplies colours by a transparency that is not "associated".
void KeepColours(TIFF* tiff) {
  uint16_t count = 0;
  uint16_t* kinds = nullptr;
  TIFFGetFieldDefaulted(tiff, TIFFTAG_EXTRASAMPLES, &count, &kinds);
  std::vector<uint16_t> kept(kinds, kinds + count);
  for (uint16_t& kind : kept) {
    if (kind == EXTRASAMPLE_UNASSALPHA) kind = EXTRASAMPLE_ASSOCALPHA;
  }
  if (count > 0) TIFFSetField(tiff, TIFFTAG_EXTRASAMPLES, count, kept.data());
}

void CheckDirectory(TIFF* tiff, Bytes bytes, uint32_t& height,
                    uint32_t& width) {
  uint16_t compression = COMPRESSION_NONE;
  uint16_t bits = 1;
  uint16_t samples = 1;
  TIFFGetField(tiff, TIFFTAG_IMAGELENGTH, &height);
  TIFFGetField(tiff, TIFFTAG_IMAGEWIDTH, &width);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_COMPRESSION, &compression);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_BITSPERSAMPLE, &bits);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_SAMPLESPERPIXEL, &samples);
  uint16_t photometric = 0;
  TIFFGetField(tiff, TIFFTAG_PHOTOMETRIC, &photometric);
  // The chroma of YCbCr may be of fewer samples.
  const uint64_t planes = photometric == PHOTOMETRIC_YCBCR ? 1 : samples;
  const uint64_t line = (uint64_t{width} * bits * planes + 7) / 8;
  CheckSize(height, width, IsPermitted(height, width) ? height * line : 0,
            bytes, RatioOf(compression));
}

}  // namespace

Image DecodeTiff(Bytes bytes) {
  TiffSource source{.bytes = bytes};
  const auto fail = [&](const char* otherwise) {
    return Broken(source.message[0] == 0 ? otherwise : source.message.data());
  };
  const auto tiff = Open(source);
  if (tiff == nullptr) throw fail("its header is not read");
  uint32_t height = 0;
  uint32_t width = 0;
  CheckDirectory(tiff.get(), bytes, height, width);
  KeepColours(tiff.get());
  std::vector<uint32_t> raster(size_t{height} * width);
  if (TIFFReadRGBAImageOriented(tiff.get(), width, height, raster.data(),
                                ORIENTATION_TOPLEFT, 1) == 0) {
    throw fail("its picture is not read");
  }
  if (source.message[0] != 0) throw fail("");
  Image image{height, width, {}};
  image.pixels.reserve(raster.size() * 3);
  for (const uint32_t pixel : raster) {
    image.pixels.push_back(static_cast<uint8_t>(TIFFGetR(pixel)));
    image.pixels.push_back(static_cast<uint8_t>(TIFFGetG(pixel)));
    image.pixels.push_back(static_cast<uint8_t>(TIFFGetB(pixel)));
  }
  return image;
}

}  // namespace assay::reference
