// SPDX-License-Identifier: Apache-2.0
//
// ImageDecoder-20: an encoded image as [height, width, channels] of bytes.
// Source: the page of ImageDecoder-20, and Pillow, which ONNX's reference
// implementation calls, where the page is silent: Grayscale is 0.299 R + 0.587
// G
// + 0.114 B in units of 2^-16, halves up, and a first picture stands for many.
// RGB and BGR have three channels of any image; transparency is left out.
//
// For a stream that is not decoded the page wants "an empty matrix", whose
// shape it does not give. Here, as in the reference implementation, that is an
// error: an empty result would hide what was wrong.

#include <optional>
#include <string_view>

#include "backends/reference/families.h"
#include "backends/reference/image/library.h"

namespace assay::reference {
namespace {

using std::string_view_literals::operator""sv;

struct Format {
  std::string_view name;
  std::string_view begins;  // a ? stands for any byte
  Result<Image> (*decode)(Bytes);
  DecodeImage ImageCodecs::*codec;
};

constexpr Format kFormats[] = {
    {"BMP", "BM"sv, &DecodeBmp, nullptr},
    {"JPEG", "\xFF\xD8\xFF"sv, nullptr, &ImageCodecs::jpeg},
    {"JPEG 2000", "\0\0\0\x0CjP  \r\n\x87\n"sv, nullptr,
     &ImageCodecs::jpeg2000},
    {"JPEG 2000", "\xFF\x4F\xFF\x51"sv, nullptr, &ImageCodecs::jpeg2000},
    {"PNG", "\x89PNG\r\n\x1A\n"sv, nullptr, &ImageCodecs::png},
    {"TIFF", "II\x2A\0"sv, nullptr, &ImageCodecs::tiff},
    {"TIFF", "MM\0\x2A"sv, nullptr, &ImageCodecs::tiff},
    {"TIFF", "II\x2B\0"sv, nullptr, &ImageCodecs::tiff},
    {"TIFF", "MM\0\x2B"sv, nullptr, &ImageCodecs::tiff},
    {"WebP", "RIFF????WEBP"sv, nullptr, &ImageCodecs::webp},
    {"PNM", "P1"sv, &DecodePnm, nullptr},
    {"PNM", "P2"sv, &DecodePnm, nullptr},
    {"PNM", "P3"sv, &DecodePnm, nullptr},
    {"PNM", "P4"sv, &DecodePnm, nullptr},
    {"PNM", "P5"sv, &DecodePnm, nullptr},
    {"PNM", "P6"sv, &DecodePnm, nullptr},
};

const Format* FormatOf(Bytes bytes) {
  for (const Format& format : kFormats) {
    bool same = bytes.size() >= format.begins.size();
    for (size_t i = 0; same && i < format.begins.size(); ++i) {
      same = format.begins[i] == '?' ||
             bytes[i] == static_cast<uint8_t>(format.begins[i]);
    }
    if (same) return &format;
  }
  return nullptr;
}

Result<Image> Decoded(const ImageCodecs& codecs, Bytes bytes) {
  const Format* const format = FormatOf(bytes);
  if (format == nullptr) {
    return InvalidArgument(
        "a stream of ", bytes.size(),
        " bytes, which begins as no BMP, JPEG, JPEG 2000, PNG, PNM, TIFF or "
        "WebP");
  }
  Result<Image> image = Image();
  if (format->decode != nullptr) {
    image = format->decode(bytes);
  } else {
    std::string why;
    const bool done = (codecs.*format->codec)(bytes, *image, why);
    if (!done) image = InvalidArgument(why);
  }
  if (image.ok()) return image;
  return image.status().WithContext(
      StrCat("a ", format->name, " stream of ", bytes.size(), " bytes"));
}

enum class PixelFormat : uint8_t { kRgb, kBgr, kGrayscale };

std::optional<PixelFormat> ParsePixelFormat(std::string_view name) {
  if (name == "RGB") return PixelFormat::kRgb;
  if (name == "BGR") return PixelFormat::kBgr;
  if (name == "Grayscale") return PixelFormat::kGrayscale;
  return std::nullopt;
}

void WritePixel(PixelFormat format, const uint8_t* rgb, uint8_t* to) {
  if (format == PixelFormat::kGrayscale) {
    to[0] = static_cast<uint8_t>(
        (rgb[0] * 19595U + rgb[1] * 38470U + rgb[2] * 7471U + 0x8000U) >> 16);
    return;
  }
  const size_t red = format == PixelFormat::kRgb ? 0 : 2;
  to[red] = rgb[0];
  to[1] = rgb[1];
  to[2 - red] = rgb[2];
}

Status DecodeTo(const op::ImageDecoder& op, const ImageCodecs& codecs,
                PixelFormat format, KernelContext& run) {
  const Tensor& stream = run.input(op.encoded_stream);
  if (stream.shape().rank() != 1) {
    return InvalidArgument("encoded_stream has shape ",
                           stream.shape().ToString(), ", wanted one axis");
  }
  ASSAY_ASSIGN_OR_RETURN(const Image image,
                         Decoded(codecs, stream.elements<uint8_t>()));
  const size_t channels = format == PixelFormat::kGrayscale ? 1 : 3;
  const Shape shape = {static_cast<int64_t>(image.height),
                       static_cast<int64_t>(image.width),
                       static_cast<int64_t>(channels)};
  ASSAY_ASSIGN_OR_RETURN(Tensor * y,
                         run.Output(op.image, DType::kUint8, shape));
  uint8_t* const to = y->mutable_elements<uint8_t>().data();
  for (size_t i = 0; i < image.height * image.width; ++i) {
    WritePixel(format, image.pixels.data() + 3 * i, to + channels * i);
  }
  return OkStatus();
}

Result<Kernel> MakeImageDecoder(const op::ImageDecoder& op, LoadContext&) {
  const auto format = ParsePixelFormat(op.pixel_format);
  if (!format.has_value()) {
    return InvalidArgument("pixel_format is '", op.pixel_format,
                           "', wanted 'RGB', 'BGR' or 'Grayscale'");
  }
  ASSAY_ASSIGN_OR_RETURN(const ImageCodecs* codecs, LoadImageCodecs());
  return Kernel{.forward = [op, codecs, format](KernelContext& run) {
    return DecodeTo(op, *codecs, *format, run);
  }};
}

}  // namespace

Family ImageDecoderFamily() { return FamilyOf(MakeImageDecoder); }

}  // namespace assay::reference
