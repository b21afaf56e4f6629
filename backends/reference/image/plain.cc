// SPDX-License-Identifier: Apache-2.0
//
// BMP of 1, 4, 8, 16, 24 and 32 bits, with palettes, masks and run lengths.
// Source: "Bitmap Storage" in Microsoft's Win32 documentation, BITMAPCOREHEADER
// to BITMAPV5HEADER. Transparency is left out. And the portable pixmaps P1 to
// P6. Source: the manual pages pbm(5), pgm(5) and ppm(5) of Netpbm.

#include <array>
#include <bit>
#include <optional>
#include <vector>

#include "backends/reference/image/library.h"

namespace assay::reference {
namespace {

enum Compression : uint32_t {
  kNone = 0,
  kRuns8 = 1,
  kRuns4 = 2,
  kMasks = 3,
  kMasksAndAlpha = 6
};

constexpr size_t kFileHeader = 14;

// Little-endian; zeros behind the end, which the sizes checked do not reach.
uint32_t Number(Bytes bytes, size_t at, size_t count) {
  uint32_t number = 0;
  for (size_t i = 0; i < count && at + i < bytes.size(); ++i) {
    number |= uint32_t{bytes[at + i]} << (8 * i);
  }
  return number;
}

struct BmpHeader {
  size_t height = 0;
  size_t width = 0;
  bool from_top = false;
  uint32_t bits = 0;
  uint32_t compression = kNone;
  std::array<uint32_t, 3> masks{};  // red, green, blue
  std::vector<std::array<uint8_t, 3>> palette;
  size_t start = 0;  // of the samples

  bool runs() const { return compression == kRuns8 || compression == kRuns4; }
  size_t line_bytes() const { return (width * bits + 31) / 32 * 4; }
};

Status ReadMasks(Bytes bytes, BmpHeader& header) {
  if (header.compression == kMasks || header.compression == kMasksAndAlpha) {
    for (size_t k = 0; k < 3; ++k) {
      header.masks[k] = Number(bytes, kFileHeader + 40 + 4 * k, 4);
    }
  } else if (header.bits == 16) {
    header.masks = {0x7C00, 0x03E0, 0x001F};
  } else {
    header.masks = {0xFF0000, 0x00FF00, 0x0000FF};
  }
  for (const uint32_t mask : header.masks) {
    const uint32_t low = mask >> std::countr_zero(mask | 0x80000000U);
    if (mask == 0 || (low & (low + 1)) != 0) {
      return InvalidArgument("a mask of its colours is ", mask,
                             ", wanted neighbouring bits");
    }
  }
  return OkStatus();
}

Status ReadPalette(Bytes bytes, size_t header_size, BmpHeader& header) {
  if (header.bits > 8) return OkStatus();
  const bool core = header_size == 12;
  const size_t entry = core ? 3 : 4;
  const size_t most = size_t{1} << header.bits;
  size_t count = core ? 0 : Number(bytes, kFileHeader + 32, 4);
  if (count == 0) count = most;
  const size_t at = kFileHeader + header_size;
  if (count > most || at + count * entry > bytes.size()) {
    return InvalidArgument("its palette has ", count, " colours of ",
                           header.bits, " bits in ", bytes.size(), " bytes");
  }
  for (size_t i = 0; i < count; ++i) {
    const Bytes from = bytes.subspan(at + i * entry, 3);
    header.palette.push_back({from[2], from[1], from[0]});
  }
  return OkStatus();
}

Status CheckBits(const BmpHeader& header) {
  const uint32_t bits = header.bits;
  bool fits = false;
  switch (header.compression) {
    case kNone:
      fits = bits == 1 || bits == 4 || bits == 8 || bits == 16 || bits == 24 ||
             bits == 32;
      break;
    case kRuns8:
      fits = bits == 8 && !header.from_top;
      break;
    case kRuns4:
      fits = bits == 4 && !header.from_top;
      break;
    case kMasks:
    case kMasksAndAlpha:
      fits = bits == 16 || bits == 32;
      break;
    default:
      break;
  }
  if (fits) return OkStatus();
  return InvalidArgument("it has ", bits, " bits and compression ",
                         header.compression);
}

Result<BmpHeader> ReadBmpHeader(Bytes bytes) {
  const size_t size = Number(bytes, kFileHeader, 4);
  const bool core = size == 12;
  if ((!core && (size < 40 || size > 124)) ||
      kFileHeader + size > bytes.size()) {
    return InvalidArgument("its header has ", size, " bytes of ", bytes.size(),
                           ", wanted 12, or 40 to 124");
  }
  BmpHeader header;
  const size_t extent = core ? 2 : 4;
  const uint32_t height = Number(bytes, kFileHeader + 4 + extent, extent);
  header.width = Number(bytes, kFileHeader + 4, extent);
  header.from_top = !core && static_cast<int32_t>(height) < 0;
  header.height = header.from_top ? 0U - height : height;
  header.bits = Number(bytes, kFileHeader + 6 + 2 * extent, 2);
  header.compression = core ? kNone : Number(bytes, kFileHeader + 16, 4);
  header.start = Number(bytes, 10, 4);
  if (!IsPermitted(header.height, header.width)) {
    return InvalidArgument("its header claims ", header.height, " by ",
                           header.width, " pixels, wanted 1 to ", kMostPixels,
                           " in all");
  }
  ASSAY_RETURN_IF_ERROR(CheckBits(header));
  ASSAY_RETURN_IF_ERROR(ReadMasks(bytes, header));
  ASSAY_RETURN_IF_ERROR(ReadPalette(bytes, size, header));
  if (header.start < kFileHeader + size || header.start > bytes.size()) {
    return InvalidArgument("its samples begin at byte ", header.start, " of ",
                           bytes.size());
  }
  return header;
}

using Pixel = std::array<uint8_t, 3>;

Result<Pixel> PixelAt(const BmpHeader& header, Bytes line, size_t column) {
  if (header.bits <= 8) {
    const size_t bit = column * header.bits;
    const uint32_t index = line[bit / 8] >> (8 - header.bits - bit % 8) &
                           ((1U << header.bits) - 1);
    if (index < header.palette.size()) return header.palette[index];
    return InvalidArgument("colour ", index, " of a palette of ",
                           header.palette.size());
  }
  const size_t count = header.bits / 8;
  const uint32_t sample = Number(line, column * count, count);
  Pixel pixel;
  for (size_t k = 0; k < 3; ++k) {
    const int shift = std::countr_zero(header.masks[k]);
    pixel[k] =
        ToByte((sample & header.masks[k]) >> shift, header.masks[k] >> shift);
  }
  return pixel;
}

/// Run lengths of 4 or 8 bits, drawn into a picture of colour 0.
class Runs {
 public:
  Runs(const BmpHeader& header, Bytes bytes)
      : header_(header),
        rest_(bytes),
        lines_(header.height * header.line_bytes()) {}

  Result<std::vector<uint8_t>> Draw() {
    while (!ended_) {
      ASSAY_ASSIGN_OR_RETURN(const Bytes pair, Take(2));
      if (pair[0] > 0) {
        for (size_t i = 0; i < pair[0]; ++i) {
          ASSAY_RETURN_IF_ERROR(Put(NibbleOf(pair[1], i)));
        }
      } else {
        ASSAY_RETURN_IF_ERROR(Escape(pair[1]));
      }
    }
    return std::move(lines_);
  }

 private:
  Result<Bytes> Take(size_t count) {
    if (count > rest_.size()) {
      return InvalidArgument("it ends too soon, in line ", row_, " of ",
                             header_.height);
    }
    const Bytes taken = rest_.first(count);
    rest_ = rest_.subspan(count);
    return taken;
  }

  // In a run of 4 bits the two halves take turns.
  uint8_t NibbleOf(uint8_t byte, size_t i) const {
    if (header_.bits == 8) return byte;
    return i % 2 == 0 ? byte >> 4 : byte & 15;
  }

  Status Escape(uint8_t code) {
    if (code == 0) {  // the end of a line
      ++row_;
      column_ = 0;
    } else if (code == 1) {  // of the picture
      ended_ = true;
    } else if (code == 2) {  // a step
      ASSAY_ASSIGN_OR_RETURN(const Bytes step, Take(2));
      column_ += step[0];
      row_ += step[1];
    } else {  // as many samples as they are, padded to 16 bits
      const size_t count = header_.bits == 8 ? code : (code + 1) / 2;
      ASSAY_ASSIGN_OR_RETURN(const Bytes samples, Take((count + 1) / 2 * 2));
      for (size_t i = 0; i < code; ++i) {
        const uint8_t byte = samples[header_.bits == 8 ? i : i / 2];
        ASSAY_RETURN_IF_ERROR(Put(NibbleOf(byte, i)));
      }
    }
    return OkStatus();
  }

  Status Put(uint8_t sample) {
    if (row_ >= header_.height || column_ >= header_.width) {
      return InvalidArgument("it draws at line ", row_, ", column ", column_,
                             " of ", header_.height, " by ", header_.width);
    }
    const size_t bit = column_ * header_.bits;
    lines_[row_ * header_.line_bytes() + bit / 8] |=
        static_cast<uint8_t>(sample << (8 - header_.bits - bit % 8));
    ++column_;
    return OkStatus();
  }

  const BmpHeader& header_;
  Bytes rest_;
  std::vector<uint8_t> lines_;
  size_t row_ = 0;
  size_t column_ = 0;
  bool ended_ = false;
};

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

Result<Image> DecodeBmp(Bytes bytes) {
  if (bytes.size() < kFileHeader || bytes[0] != 'B' || bytes[1] != 'M') {
    return InvalidArgument("it has no file header of ", kFileHeader, " bytes");
  }
  ASSAY_ASSIGN_OR_RETURN(const BmpHeader header, ReadBmpHeader(bytes));
  Bytes samples = bytes.subspan(header.start);
  std::vector<uint8_t> drawn;
  if (header.runs()) {
    ASSAY_ASSIGN_OR_RETURN(drawn, Runs(header, samples).Draw());
    samples = drawn;
  }
  const size_t line_bytes = header.line_bytes();
  if (samples.size() / line_bytes < header.height) {
    return InvalidArgument("it ends too soon: ", samples.size(), " bytes for ",
                           header.height, " lines of ", line_bytes);
  }
  Image image{header.height, header.width, {}};
  image.pixels.reserve(header.height * header.width * 3);
  for (size_t row = 0; row < header.height; ++row) {
    const size_t stored = header.from_top ? row : header.height - 1 - row;
    const Bytes line = samples.subspan(stored * line_bytes, line_bytes);
    for (size_t column = 0; column < header.width; ++column) {
      ASSAY_ASSIGN_OR_RETURN(const Pixel pixel, PixelAt(header, line, column));
      image.pixels.insert(image.pixels.end(), pixel.begin(), pixel.end());
    }
  }
  return image;
}

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
