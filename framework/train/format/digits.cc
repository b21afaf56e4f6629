// SPDX-License-Identifier: Apache-2.0

#include "framework/train/format/digits.h"

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "framework/core/text.h"
#include "framework/train/format/byte_source.h"
#include "framework/train/format/images.h"

namespace assay::train {
namespace {

constexpr size_t kDigitPixels = 28 * 28;

/// The numbers of a line, each of a byte; nothing for anything else.
std::optional<std::string> BytesOf(std::string_view line) {
  std::string bytes;
  while (!line.empty()) {
    const std::string_view field = CutFront(&line, ",");
    uint8_t number = 0;
    const auto [end, error] =
        std::from_chars(field.data(), field.data() + field.size(), number);
    if (error != std::errc() || end != field.data() + field.size()) {
      return std::nullopt;
    }
    bytes.push_back(static_cast<char>(number));
  }
  return bytes;
}

}  // namespace

Result<Dataset> ReadDigits(const std::filesystem::path& path) {
  ASSAY_ASSIGN_OR_RETURN(ByteSource source, ByteSource::Open(path));
  ASSAY_ASSIGN_OR_RETURN(const std::string text, source.TakeAll());
  std::string pixels;
  std::vector<int64_t> labels;
  std::string_view rest = text;
  while (!rest.empty()) {
    const auto bytes = BytesOf(CutFront(&rest));
    if (!bytes.has_value() || bytes->size() != kDigitPixels + 1) {
      return DataLoss(path.string(), ": line ", labels.size() + 1, ": found ",
                      bytes.has_value() ? StrCat(bytes->size(), " numbers")
                                        : "what is no number from 0 to 255",
                      ", wanted ", kDigitPixels, " pixels and a label");
    }
    pixels.append(*bytes, 0, kDigitPixels);
    labels.push_back(static_cast<unsigned char>(bytes->back()));
  }
  return ImagesOf(path, pixels, labels, {1, 28, 28}, 10);
}

}  // namespace assay::train
