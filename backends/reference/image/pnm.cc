// SPDX-License-Identifier: Apache-2.0
//
// Portable pixmaps P1 to P6. Source: the manual pages pbm(5), pgm(5) and ppm(5)
// of Netpbm.

#include <optional>

#include "backends/reference/image/plain.h"

namespace assay::reference {
namespace {

bool IsSpace(uint8_t c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

/// The bytes that are yet to be read.
class Scanner {
 public:
  explicit Scanner(Bytes bytes) : rest_(bytes) {}

  size_t left() const { return rest_.size(); }

  /// White space, and comments from # to the end of the line, then digits.
  std::optional<uint64_t> Number() {
    SkipBlank();
    if (rest_.empty() || !IsDigit(rest_[0])) return std::nullopt;
    uint64_t number = 0;
    while (!rest_.empty() && IsDigit(rest_[0])) {
      number = number * 10 + (rest_[0] - '0');
      if (number > kMostPixels) return std::nullopt;
      rest_ = rest_.subspan(1);
    }
    return number;
  }

  /// One digit of a PBM in text, where white space may be left out.
  std::optional<uint64_t> Bit() {
    SkipBlank();
    if (rest_.empty() || (rest_[0] != '0' && rest_[0] != '1')) {
      return std::nullopt;
    }
    const uint64_t bit = rest_[0] - '0';
    rest_ = rest_.subspan(1);
    return bit;
  }

  /// The one white space between a header and binary samples.
  bool EndHeader() {
    if (rest_.empty() || !IsSpace(rest_[0])) return false;
    rest_ = rest_.subspan(1);
    return true;
  }

  Bytes Rest() const { return rest_; }

 private:
  static bool IsDigit(uint8_t c) { return c >= '0' && c <= '9'; }

  void SkipBlank() {
    while (!rest_.empty() && (IsSpace(rest_[0]) || rest_[0] == '#')) {
      const bool comment = rest_[0] == '#';
      rest_ = rest_.subspan(1);
      while (comment && !rest_.empty() && rest_[0] != '\n') {
        rest_ = rest_.subspan(1);
      }
    }
  }

  Bytes rest_;
};

struct PnmHeader {
  char kind = 0;  // '1' to '6'
  size_t height = 0;
  size_t width = 0;
  uint64_t most = 1;  // the sample that is white

  bool text() const { return kind <= '3'; }
  bool bits() const { return kind == '1' || kind == '4'; }
  size_t samples() const { return kind == '3' || kind == '6' ? 3 : 1; }
  size_t line_bytes() const {  // binary
    if (bits()) return (width + 7) / 8;
    return width * samples() * (most > 255 ? 2 : 1);
  }
};

Result<PnmHeader> ReadPnmHeader(char kind, Scanner& scanner) {
  PnmHeader header{.kind = kind};
  const auto width = scanner.Number();
  const auto height = scanner.Number();
  const auto most =
      header.bits() ? std::optional<uint64_t>(1) : scanner.Number();
  if (!width || !height || !IsPermitted(*height, *width)) {
    return InvalidArgument("its header gives no size of 1 to ", kMostPixels,
                           " pixels");
  }
  if (!most || *most < 1 || *most > 65535) {
    return InvalidArgument("its greatest sample is ", most.value_or(0),
                           ", wanted 1 to 65535");
  }
  header.width = *width;
  header.height = *height;
  header.most = *most;
  return header;
}

// Appends one sample, three times when it is grey; 1 is black in a PBM.
void Append(const PnmHeader& header, uint64_t sample, Image& image) {
  const uint64_t value = header.bits() ? 1 - sample : sample;
  image.pixels.insert(image.pixels.end(), 3 / header.samples(),
                      ToByte(value, header.most));
}

Status ReadText(const PnmHeader& header, Scanner& scanner, Image& image) {
  const size_t count = header.height * header.width * header.samples();
  // A digit each and, but for bits, something between them.
  const size_t least = header.bits() ? count : 2 * count - 1;
  if (least > scanner.left()) {
    return InvalidArgument("it ends too soon: ", scanner.left(), " bytes for ",
                           count, " samples");
  }
  for (size_t i = 0; i < count; ++i) {
    const auto sample = header.bits() ? scanner.Bit() : scanner.Number();
    if (!sample || *sample > header.most) {
      return InvalidArgument("sample ", i, " is none of 0 to ", header.most);
    }
    Append(header, *sample, image);
  }
  return OkStatus();
}

Status ReadBinary(const PnmHeader& header, Scanner& scanner, Image& image) {
  const size_t line_bytes = header.line_bytes();
  if (!scanner.EndHeader() || scanner.left() / line_bytes < header.height) {
    return InvalidArgument("it ends too soon: ", scanner.left(), " bytes for ",
                           header.height, " lines of ", line_bytes);
  }
  const Bytes bytes = scanner.Rest();
  for (size_t row = 0; row < header.height; ++row) {
    const Bytes line = bytes.subspan(row * line_bytes, line_bytes);
    for (size_t i = 0; i < header.width * header.samples(); ++i) {
      uint64_t sample = 0;
      if (header.bits()) {
        sample = line[i / 8] >> (7 - i % 8) & 1;
      } else if (header.most > 255) {
        sample = line[2 * i] * 256U + line[2 * i + 1];
      } else {
        sample = line[i];
      }
      if (sample > header.most) {
        return InvalidArgument("a sample of line ", row, " is ", sample,
                               ", wanted at most ", header.most);
      }
      Append(header, sample, image);
    }
  }
  return OkStatus();
}

}  // namespace

Result<Image> DecodePnm(Bytes bytes) {
  if (bytes.size() < 2 || bytes[0] != 'P' || bytes[1] < '1' || bytes[1] > '6') {
    return InvalidArgument("it does not begin with P1 to P6");
  }
  Scanner scanner(bytes.subspan(2));
  ASSAY_ASSIGN_OR_RETURN(const PnmHeader header,
                         ReadPnmHeader(static_cast<char>(bytes[1]), scanner));
  Image image{header.height, header.width, {}};
  ASSAY_RETURN_IF_ERROR(header.text() ? ReadText(header, scanner, image)
                                      : ReadBinary(header, scanner, image));
  return image;
}

}  // namespace assay::reference
