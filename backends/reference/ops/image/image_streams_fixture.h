// SPDX-License-Identifier: Apache-2.0
//
// Small encoded images, put together by hand, for tests of ImageDecoder: what
// each stands for follows from its format's own text, not from an encoder.
//
//   const Stream png = Png(2, 1, 8, 2, {0, 1, 2, 3, 4, 5, 6});

#pragma once

#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <vector>

namespace assay::reference {

using Stream = std::vector<uint8_t>;

/// Bytes of text and numbers, one after another.
class Writer {
 public:
  Writer& Text(std::string_view text) {
    bytes_.insert(bytes_.end(), text.begin(), text.end());
    return *this;
  }
  Writer& Bytes(const Stream& bytes) {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    return *this;
  }
  /// Numbers of `width` bytes, the greatest first.
  Writer& Big(int width, std::initializer_list<uint32_t> numbers) {
    for (const uint32_t number : numbers) {
      for (int i = width; i-- > 0;) {
        bytes_.push_back(static_cast<uint8_t>(number >> (8 * i)));
      }
    }
    return *this;
  }
  /// The least first.
  Writer& Little(int width, std::initializer_list<uint32_t> numbers) {
    for (const uint32_t number : numbers) {
      for (int i = 0; i < width; ++i) {
        bytes_.push_back(static_cast<uint8_t>(number >> (8 * i)));
      }
    }
    return *this;
  }
  Writer& Zeros(size_t count) {
    bytes_.resize(bytes_.size() + count);
    return *this;
  }
  uint32_t size() const { return static_cast<uint32_t>(bytes_.size()); }
  const Stream& bytes() const { return bytes_; }

 private:
  Stream bytes_;
};

/// A BITMAPINFOHEADER, a palette or masks, and the lines from the bottom.
inline Stream Bmp(uint32_t width, uint32_t height, uint32_t bits,
                  uint32_t compression, const Stream& colours,
                  const Stream& lines, uint32_t palette = 0) {
  const auto start = static_cast<uint32_t>(54 + colours.size());
  return Writer()
      .Text("BM")
      .Little(4, {start + static_cast<uint32_t>(lines.size()), 0, start})
      .Little(4, {40, width, height})
      .Little(2, {1, bits})
      .Little(4, {compression, 0, 0, 0, palette, 0})
      .Bytes(colours)
      .Bytes(lines)
      .bytes();
}

// ISO/IEC 15948, annex D.
inline uint32_t Crc(const Stream& bytes, size_t from) {
  uint32_t crc = 0xFFFFFFFF;
  for (size_t i = from; i < bytes.size(); ++i) {
    crc ^= bytes[i];
    for (int k = 0; k < 8; ++k) {
      crc = (crc & 1) != 0 ? crc >> 1 ^ 0xEDB88320 : crc >> 1;
    }
  }
  return ~crc;
}

inline void AddChunk(Writer& png, std::string_view name, const Stream& data) {
  png.Big(4, {static_cast<uint32_t>(data.size())});
  const uint32_t from = png.size();
  png.Text(name).Bytes(data);
  png.Big(4, {Crc(png.bytes(), from)});
}

/// RFC 1950 and 1951: one stored block.
inline Stream StoredStream(const Stream& data) {
  uint32_t a = 1;
  uint32_t b = 0;
  for (const uint8_t byte : data) {
    a = (a + byte) % 65521;
    b = (b + a) % 65521;
  }
  const auto count = static_cast<uint32_t>(data.size());
  return Writer()
      .Big(1, {0x78, 0x01, 0x01})
      .Little(2, {count, ~count})
      .Bytes(data)
      .Big(4, {b << 16 | a})
      .bytes();
}

struct PngExtras {
  Stream palette;       // PLTE
  Stream transparency;  // tRNS
  uint32_t interlace = 0;
};

/// `lines` with a filter byte before each.
inline Stream Png(uint32_t width, uint32_t height, uint32_t depth,
                  uint32_t colour, const Stream& lines,
                  const PngExtras& extras = {}) {
  Writer png;
  png.Text("\x89PNG\r\n\x1A\n");
  AddChunk(png, "IHDR",
           Writer()
               .Big(4, {width, height})
               .Big(1, {depth, colour, 0, 0, extras.interlace})
               .bytes());
  if (!extras.palette.empty()) AddChunk(png, "PLTE", extras.palette);
  if (!extras.transparency.empty()) AddChunk(png, "tRNS", extras.transparency);
  AddChunk(png, "IDAT", StoredStream(lines));
  AddChunk(png, "IEND", {});
  return png.bytes();
}

/// TIFF 6.0, little-endian, one uncompressed strip of bytes.
inline Stream Tiff(uint32_t width, uint32_t height, uint32_t samples,
                   uint32_t photometric, const Stream& pixels,
                   uint32_t compression = 1, int extra_sample = -1) {
  constexpr uint32_t kShort = 3;
  constexpr uint32_t kLong = 4;
  const uint32_t entries = extra_sample < 0 ? 9 : 10;
  const uint32_t bits_at = 8 + 2 + entries * 12 + 4;
  const uint32_t pixels_at = bits_at + 8;
  Writer tiff;
  tiff.Text("II").Little(2, {42}).Little(4, {8}).Little(2, {entries});
  const auto entry = [&](uint32_t tag, uint32_t type, uint32_t value,
                         uint32_t count = 1) {
    tiff.Little(2, {tag, type}).Little(4, {count, value});
  };
  entry(256, kLong, width);
  entry(257, kLong, height);
  entry(258, kShort, samples > 2 ? bits_at : 8, samples);
  entry(259, kShort, compression);
  entry(262, kShort, photometric);
  entry(273, kLong, pixels_at);
  entry(277, kShort, samples);
  entry(278, kLong, height);
  entry(279, kLong, static_cast<uint32_t>(pixels.size()));
  if (extra_sample >= 0) {
    entry(338, kShort, static_cast<uint32_t>(extra_sample));
  }
  return tiff.Little(4, {0}).Little(2, {8, 8, 8, 8}).Bytes(pixels).bytes();
}

/// Bits into bytes, from the top or from the bottom of each.
class BitWriter {
 public:
  explicit BitWriter(bool from_top) : from_top_(from_top) {}
  /// The lowest `count` bits: from the top the greatest first.
  void Add(uint32_t bits, int count) {
    for (int i = 0; i < count; ++i) {
      if (used_ % 8 == 0) bytes_.push_back(0);
      const uint32_t bit = bits >> (from_top_ ? count - 1 - i : i) & 1;
      bytes_.back() |=
          static_cast<uint8_t>(bit << (from_top_ ? 7 - used_ % 8 : used_ % 8));
      ++used_;
    }
  }
  /// Ones up to a whole byte.
  void Fill() {
    while (used_ % 8 != 0) Add(1, 1);
  }
  const Stream& bytes() const { return bytes_; }

 private:
  bool from_top_;
  int used_ = 0;
  Stream bytes_;
};

/// ITU-T T.81, baseline: each component is one block of `levels[k]`: 128, or 8
/// to 15 more or less. The quantum is 8, so that the DC coefficient is the
/// level less 128.
inline Stream Jpeg(uint32_t width, uint32_t height,
                   const std::vector<int>& levels, const Stream& app14 = {}) {
  Writer jpeg;
  jpeg.Big(2, {0xFFD8});
  if (!app14.empty()) {
    jpeg.Big(2, {0xFFEE, static_cast<uint32_t>(2 + app14.size())});
    jpeg.Bytes(app14);
  }
  jpeg.Big(2, {0xFFDB, 67}).Big(1, {0}).Bytes(Stream(64, 8));
  const auto count = static_cast<uint32_t>(levels.size());
  jpeg.Big(2, {0xFFC0, 8 + 3 * count}).Big(1, {8}).Big(2, {height, width});
  jpeg.Big(1, {count});
  for (uint32_t k = 1; k <= count; ++k) jpeg.Big(1, {k, 0x11, 0});
  // DC: 00 for no difference, 01 for one of four bits. AC: 0 for the end.
  jpeg.Big(2, {0xFFC4, 21}).Big(1, {0x00, 0, 2}).Zeros(14).Big(1, {0, 4});
  jpeg.Big(2, {0xFFC4, 20}).Big(1, {0x10, 1}).Zeros(15).Big(1, {0});
  jpeg.Big(2, {0xFFDA, 6 + 2 * count}).Big(1, {count});
  for (uint32_t k = 1; k <= count; ++k) jpeg.Big(1, {k, 0});
  jpeg.Big(1, {0, 63, 0});
  BitWriter bits(true);
  for (const int level : levels) {
    const int difference = level - 128;
    if (difference == 0) {
      bits.Add(0, 2);
    } else {  // of four bits: 8 to 15, or -15 to -8 as 0 to 7
      bits.Add(1, 2);
      bits.Add(
          static_cast<uint32_t>(difference < 0 ? difference + 15 : difference),
          4);
    }
    bits.Add(0, 1);
  }
  bits.Fill();
  return jpeg.Bytes(bits.bytes()).Big(2, {0xFFD9}).bytes();
}

/// WebP, lossless: every pixel is of one colour, which takes no bits.
inline Stream Webp(uint32_t width, uint32_t height, uint32_t red,
                   uint32_t green, uint32_t blue) {
  BitWriter bits(false);
  bits.Add(width - 1, 14);
  bits.Add(height - 1, 14);
  bits.Add(0, 4);  // opaque, version 0
  bits.Add(0, 3);  // no transform, no cache, no groups of codes
  for (const uint32_t symbol : {green, red, blue, 255U}) {
    bits.Add(1, 1);  // a simple code
    bits.Add(0, 1);  // of one symbol
    bits.Add(1, 1);  // of eight bits
    bits.Add(symbol, 8);
  }
  bits.Add(1, 4);  // distances: a simple code of the symbol 0
  Stream data = Writer().Big(1, {0x2F}).Bytes(bits.bytes()).bytes();
  const auto size = static_cast<uint32_t>(data.size());
  if (size % 2 != 0) data.push_back(0);
  const auto padded = static_cast<uint32_t>(data.size());
  return Writer()
      .Text("RIFF")
      .Little(4, {12 + padded})
      .Text("WEBPVP8L")
      .Little(4, {size})
      .Bytes(data)
      .bytes();
}

/// ITU-T T.800, a bare codestream: one tile without a wavelet, and an empty
/// packet for each component, so that every sample is 2^(depth - 1).
inline Stream Jpeg2000(uint32_t width, uint32_t height, uint32_t components,
                       uint32_t depth) {
  Writer stream;
  stream.Big(2, {0xFF4F, 0xFF51, 38 + 3 * components, 0});
  stream.Big(4, {width, height, 0, 0, width, height, 0, 0});
  stream.Big(2, {components});
  for (uint32_t k = 0; k < components; ++k) stream.Big(1, {depth - 1, 1, 1});
  stream.Big(2, {0xFF52, 12}).Big(1, {0, 0}).Big(2, {1}).Big(1, {0});
  stream.Big(1, {0, 4, 4, 0, 1});  // no level, blocks of 64, the 5/3 filter
  stream.Big(2, {0xFF5C, 4}).Big(1, {0x40, depth << 3});
  const uint32_t part = 12 + 2 + components;
  stream.Big(2, {0xFF90, 10, 0}).Big(4, {part}).Big(1, {0, 1});
  return stream.Big(2, {0xFF93}).Zeros(components).Big(2, {0xFFD9}).bytes();
}

}  // namespace assay::reference
