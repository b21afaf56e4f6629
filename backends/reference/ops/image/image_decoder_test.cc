// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/reference/image/library.h"
#include "backends/reference/kernel_rows.h"
#include "backends/reference/ops/image/image_streams_fixture.h"
#include "framework/testing/support/statuses_fixture.h"

namespace assay::reference {
namespace {

using testing::HasSubstr;

std::vector<double> NumbersIn(const Stream& bytes) {
  return {bytes.begin(), bytes.end()};
}

Stream Text(std::string_view text) { return Writer().Text(text).bytes(); }

std::string DecoderGraph(const std::string& format) {
  return "g (uint8[n] x) => (uint8[h,w,c] y) { y = ImageDecoder"
         "<pixel_format = \"" +
         format + "\">(x) }";
}

Result<std::vector<assay::Value>> DecodeStream(const Stream& stream) {
  static RowBackend backend;
  static const auto network = backend.Load(ModelOf(DecoderGraph("RGB")), {});
  ASSAY_RETURN_IF_ERROR(network.status());
  const auto size = static_cast<int64_t>(stream.size());
  ASSAY_ASSIGN_OR_RETURN(auto bytes, Tensor::Of<uint8_t>({size}, stream));
  return Run(**network, {{"x", std::move(bytes)}});
}

/// Bytes of a stream that may be wrong without harm.
struct Slack {
  /// So many at the end may be missing.
  size_t spare = 0;
  /// Bytes from here on claim extents that nothing must bear out: changed, they
  /// are a picture of up to 2^26 pixels, and slow.
  size_t extents = 0;
  size_t extent_bytes = 0;
};

const Slack kBmpRuns = {0, 18, 8};
const Slack kJpeg2000 = {3, 8, 32};

/// Three bytes for each pixel.
Feed Rgb(int64_t height, int64_t width, std::vector<double> bytes) {
  return {DType::kUint8, {height, width, 3}, std::move(bytes)};
}

struct Picture {
  const char* name;
  Stream stream;
  Feed wanted;
  Slack slack = {};
};

void ExpectPictures(const std::vector<Picture>& pictures) {
  for (const Picture& picture : pictures) {
    SCOPED_TRACE(picture.name);
    const auto size = static_cast<int64_t>(picture.stream.size());
    ExpectRows({{DecoderGraph("RGB"),
                 {{DType::kUint8, {size}, NumbersIn(picture.stream)}},
                 {picture.wanted}}});
  }
}

// Blue, green, red; a line is padded to four bytes and the last comes first.
std::vector<Picture> BmpPictures() {
  const Stream lines = {7, 8, 9, 10, 11, 12, 0, 0, 1, 2, 3, 4, 5, 6, 0, 0};
  const Feed upright = Rgb(2, 2, {3, 2, 1, 6, 5, 4, 9, 8, 7, 12, 11, 10});
  const Feed flipped = Rgb(2, 2, {9, 8, 7, 12, 11, 10, 3, 2, 1, 6, 5, 4});
  const Stream two = {1, 2, 3, 0, 4, 5, 6, 0};
  return {
      {"24 bits", Bmp(2, 2, 24, 0, {}, lines), upright},
      {"from the top", Bmp(2, 0U - 2, 24, 0, {}, lines), flipped},
      {"32 bits", Bmp(1, 1, 32, 0, {}, {1, 2, 3, 4}), Rgb(1, 1, {3, 2, 1})},
      {"1 bit", Bmp(3, 1, 1, 0, two, {0xA0, 0, 0, 0}),
       Rgb(1, 3, {6, 5, 4, 3, 2, 1, 6, 5, 4})},
      {"4 bits", Bmp(3, 1, 4, 0, two, {0x10, 0x10, 0, 0}, 2),
       Rgb(1, 3, {6, 5, 4, 3, 2, 1, 6, 5, 4})},
      {"8 bits", Bmp(2, 1, 8, 0, two, {1, 0, 0, 0}, 2),
       Rgb(1, 2, {6, 5, 4, 3, 2, 1})},
  };
}

std::vector<Picture> OtherBmpPictures() {
  const Stream two = {1, 2, 3, 0, 4, 5, 6, 0};
  const Stream masks = Writer().Little(4, {0xF800, 0x07E0, 0x1F}).bytes();
  return {
      // Five bits each: 31, 16 and 0; then five, six and five by masks.
      {"16 bits", Bmp(1, 1, 16, 0, {}, {0x00, 0x7E, 0, 0}),
       Rgb(1, 1, {255, 132, 0})},
      {"masks", Bmp(1, 1, 16, 3, masks, {0x00, 0xFC, 0, 0}),
       Rgb(1, 1, {255, 130, 0})},
      // Two of 1, the end of the line; one as it is after a step of one.
      {"runs of 8",
       Bmp(2, 2, 8, 1, two, {2, 1, 0, 0, 0, 2, 1, 0, 1, 1, 0, 1}, 2),
       Rgb(2, 2, {3, 2, 1, 6, 5, 4, 6, 5, 4, 6, 5, 4}), kBmpRuns},
      {"runs of 4", Bmp(3, 1, 4, 2, two, {3, 0x10, 0, 1}, 2),
       Rgb(1, 3, {6, 5, 4, 3, 2, 1, 6, 5, 4}), kBmpRuns},
      {"samples of 4", Bmp(3, 1, 4, 2, two, {0, 3, 0x01, 0x10, 0, 1}, 2),
       Rgb(1, 3, {3, 2, 1, 6, 5, 4, 6, 5, 4}), kBmpRuns},
      {"the old header",
       Writer()
           .Text("BM")
           .Little(4, {30, 0, 26, 12})
           .Little(2, {1, 1, 1, 24, 0x0201, 0x0003})
           .bytes(),
       Rgb(1, 1, {3, 2, 1})},
  };
}

std::vector<Picture> PnmPictures() {
  return {
      {"P1", Text("P1\n# 9 9\n3 1 1 0\n1"),
       Rgb(1, 3, {0, 0, 0, 255, 255, 255, 0, 0, 0})},
      {"P1 without spaces", Text("P1 3 1 101"),
       Rgb(1, 3, {0, 0, 0, 255, 255, 255, 0, 0, 0})},
      {"P2", Text("P2 1 2 3 1 3"), Rgb(2, 1, {85, 85, 85, 255, 255, 255})},
      {"P3", Text("P3 1 1 255 7 8#\n9"), Rgb(1, 1, {7, 8, 9})},
      {"P4", Text("P4 9 1\n\x7F\x80"),
       Rgb(1, 9, {255, 255, 255, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
                  0,   0,   0,   0, 0, 0, 0, 0, 0, 0, 0, 0, 0})},
      {"P5", Text("P5 2 1 255 ab"), Rgb(1, 2, {97, 97, 97, 98, 98, 98})},
      {"P5 of 16 bits", Text("P5 1 1 65535 ab"), Rgb(1, 1, {97, 97, 97})},
      {"P6", Text("P6 1 1 255 abc"), Rgb(1, 1, {97, 98, 99})},
  };
}

std::vector<Picture> PngPictures() {
  const Stream two_lines = {0, 1, 2, 3, 0, 4, 5, 6};
  return {
      {"RGB", Png(1, 2, 8, 2, two_lines), Rgb(2, 1, {1, 2, 3, 4, 5, 6})},
      // The second line is the difference to the first.
      {"a filter", Png(1, 2, 8, 2, {0, 1, 2, 3, 2, 3, 3, 3}),
       Rgb(2, 1, {1, 2, 3, 4, 5, 6})},
      {"RGBA", Png(1, 1, 8, 6, {0, 1, 2, 3, 0}), Rgb(1, 1, {1, 2, 3})},
      {"grey", Png(2, 1, 8, 0, {0, 7, 9}), Rgb(1, 2, {7, 7, 7, 9, 9, 9})},
      {"grey and alpha", Png(1, 1, 8, 4, {0, 7, 0}), Rgb(1, 1, {7, 7, 7})},
      {"grey of 1 bit", Png(2, 1, 1, 0, {0, 0x40}),
       Rgb(1, 2, {0, 0, 0, 255, 255, 255})},
      {"a palette",
       Png(2, 1, 8, 3, {0, 1, 0},
           {.palette = {1, 2, 3, 4, 5, 6}, .transparency = {0}}),
       Rgb(1, 2, {4, 5, 6, 1, 2, 3})},
      // 383 / 257 is 1.49 and 386 / 257 1.502: to nearest.
      {"RGB of 16 bits", Png(1, 1, 16, 2, {0, 1, 0x7F, 1, 0x82, 255, 255}),
       Rgb(1, 1, {1, 2, 255})},
      // The passes of Adam7 that a picture of two by two has: 1, 6 and 7.
      {"interlaced",
       Png(2, 2, 8, 0, {0, 10, 0, 20, 0, 30, 40}, {.interlace = 1}),
       Rgb(2, 2, {10, 10, 10, 20, 20, 20, 30, 30, 30, 40, 40, 40})},
  };
}

// R = Y + 1.402 Cr', G = Y - 0.344 Cb' - 0.714 Cr', B = Y + 1.772 Cb'.
std::vector<Picture> OtherPictures() {
  const Stream adobe = Writer().Text("Adobe").Zeros(7).bytes();
  return {
      {"grey JPEG", Jpeg(2, 1, {136}),
       Rgb(1, 2, {136, 136, 136, 136, 136, 136})},
      {"JPEG", Jpeg(1, 1, {128, 128, 143}), Rgb(1, 1, {149, 117, 128})},
      // 255 without ink, times the share that black leaves: 143 * 143 / 255.
      {"CMYK JPEG", Jpeg(1, 1, {143, 136, 120, 143}, adobe),
       Rgb(1, 1, {80, 76, 67})},
      {"CMYK JPEG of inks", Jpeg(1, 1, {143, 136, 120, 143}),
       Rgb(1, 1, {49, 52, 59})},
      {"WebP", Webp(2, 1, 1, 2, 3), Rgb(1, 2, {1, 2, 3, 1, 2, 3}), {8}},
      {"JPEG 2000", Jpeg2000(2, 1, 3, 8),
       Rgb(1, 2, {128, 128, 128, 128, 128, 128}), kJpeg2000},
      {"grey JPEG 2000 and alpha", Jpeg2000(1, 1, 2, 8),
       Rgb(1, 1, {128, 128, 128}), kJpeg2000},
      // 8 of 15, and 2048 of 4095.
      {"JPEG 2000 of 4 bits", Jpeg2000(1, 1, 1, 4), Rgb(1, 1, {136, 136, 136}),
       kJpeg2000},
      {"JPEG 2000 of 12 bits", Jpeg2000(1, 1, 1, 12),
       Rgb(1, 1, {128, 128, 128}), kJpeg2000},
      {"TIFF", Tiff(1, 2, 3, 2, {1, 2, 3, 4, 5, 6}),
       Rgb(2, 1, {1, 2, 3, 4, 5, 6})},
      {"grey TIFF", Tiff(2, 1, 1, 1, {7, 9}), Rgb(1, 2, {7, 7, 7, 9, 9, 9})},
      {"TIFF of white 0", Tiff(1, 1, 1, 0, {7}), Rgb(1, 1, {248, 248, 248})},
      {"TIFF and alpha", Tiff(1, 1, 4, 2, {1, 2, 3, 0}, 1, 2),
       Rgb(1, 1, {1, 2, 3})},
  };
}

TEST(ImageDecoder, DecodesBmp) {
  ExpectPictures(BmpPictures());
  ExpectPictures(OtherBmpPictures());
}
TEST(ImageDecoder, DecodesPnm) { ExpectPictures(PnmPictures()); }
TEST(ImageDecoder, DecodesPng) { ExpectPictures(PngPictures()); }
TEST(ImageDecoder, DecodesTheOthers) { ExpectPictures(OtherPictures()); }

// 0.299 R + 0.587 G + 0.114 B.
TEST(ImageDecoder, OrdersPixelsAsAsked) {
  const Stream stream = Writer()
                            .Text("P6 4 1 255 ")
                            .Big(1, {255, 0, 0, 0, 255, 0, 0, 0, 255, 7, 7, 7})
                            .bytes();
  const auto size = static_cast<int64_t>(stream.size());
  const Feed feed = {DType::kUint8, {size}, NumbersIn(stream)};
  ExpectRows({
      {DecoderGraph("BGR"),
       {feed},
       {{DType::kUint8,
         {1, 4, 3},
         {0, 0, 255, 0, 255, 0, 255, 0, 0, 7, 7, 7}}}},
      {DecoderGraph("Grayscale"),
       {feed},
       {{DType::kUint8, {1, 4, 1}, {76, 150, 29, 7}}}},
  });
}

std::vector<Picture> AllPictures() {
  std::vector<Picture> all;
  for (const auto& some : {BmpPictures(), OtherBmpPictures(), PnmPictures(),
                           PngPictures(), OtherPictures()}) {
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

TEST(ImageDecoder, RefusesWhatIsCut) {
  for (const Picture& picture : AllPictures()) {
    for (size_t n = 0; n + picture.slack.spare < picture.stream.size(); ++n) {
      const Stream cut(picture.stream.begin(),
                       picture.stream.begin() + static_cast<ptrdiff_t>(n));
      const auto outputs = DecodeStream(cut);
      ASSERT_FALSE(outputs.ok()) << picture.name << " of " << n << " bytes";
      EXPECT_THAT(outputs.status(),
                  IsStatus(StatusCode::kInvalidArgument, "ImageDecoder: a "));
    }
  }
}

// Whatever becomes of it, it becomes a Status or an image.
TEST(ImageDecoder, SurvivesAnyWrongByte) {
  int refused = 0;
  int decoded = 0;
  for (const Picture& picture : AllPictures()) {
    for (size_t n = 0; n < picture.stream.size(); ++n) {
      if (n - picture.slack.extents < picture.slack.extent_bytes) continue;
      for (const uint8_t flip : {0xFF, 0x80, 0x01}) {
        Stream wrong = picture.stream;
        wrong[n] ^= flip;
        const auto outputs = DecodeStream(wrong);
        ++(outputs.ok() ? decoded : refused);
        if (outputs.ok()) {
          EXPECT_EQ((*outputs)[0].tensor()->shape().rank(), 3);
        }
      }
    }
  }
  EXPECT_GT(refused, 1000);
  EXPECT_GT(decoded, 100);
}

TEST(ImageDecoder, BelievesNoHeader) {
  const uint32_t far = 0x7FFFFFFF;
  const struct {
    const char* name;
    Stream stream;
    const char* says;
  } rows[] = {
      {"BMP", Bmp(far, far, 24, 0, {}, {1, 2, 3, 0}), "claims 2147483647 by"},
      {"BMP", Bmp(8000, 8000, 24, 0, {}, {1, 2, 3, 0}), "4 bytes for 8000"},
      {"BMP", Bmp(1, 0x80000000, 24, 0, {}, {1, 2, 3, 0}), "claims"},
      {"BMP", Bmp(1, 1, 8, 0, {}, {1}, 999), "palette has 999 colours"},
      {"BMP", Bmp(1, 1, 7, 0, {}, {1}), "it has 7 bits"},
      {"BMP", Bmp(1, 1, 8, 0, {1, 2, 3, 0}, {1, 0, 0, 0}, 1), "colour 1 of"},
      {"BMP", Bmp(1, 1, 8, 1, {1, 2, 3, 0}, {9, 0, 0, 1}, 1), "it draws at"},
      {"PNM", Text("P6 99999999 99999999 255 abc"), "gives no size"},
      {"PNM", Text("P6 8000 8000 255 abc"), "it ends too soon"},
      {"PNM", Text("P3 8000 8000 255 1 2"), "it ends too soon"},
      {"PNM", Text("P5 1 1 65536 a"), "its greatest sample is 65536"},
      {"PNM", Text("P5 1 1 3 a"), "a sample of line 0 is 97"},
      {"PNG", Png(far, far, 8, 2, {0}), "Invalid IHDR data"},
      {"PNG", Png(60000, 60000, 8, 2, {0}), "the header claims 60000 by 60000"},
      {"PNG", Png(8000, 8000, 8, 2, {0}), "more than 69 bytes can hold"},
      {"JPEG", Jpeg(65000, 65000, {128}), "wanted 1 to 67108864 in all"},
      {"JPEG", Jpeg(8000, 8000, {128}), "bytes can hold"},
      {"WebP", Webp(16383, 16383, 1, 2, 3), "wanted 1 to 67108864 in all"},
      {"JPEG 2000", Jpeg2000(65000, 65000, 3, 8), "wanted 1 to 67108864"},
      {"JPEG 2000", Jpeg2000(1, 1, 5, 8), "it has 5 components"},
      {"TIFF", Tiff(65000, 65000, 3, 2, {1, 2, 3}), "wanted 1 to 67108864"},
      {"TIFF", Tiff(8000, 8000, 3, 2, {1, 2, 3}), "bytes can hold"},
      {"TIFF", Tiff(1, 1, 3, 2, {1, 2, 3}, 999), "TIFF"},
      {"", Text("GIF89a"), "begins as no BMP"},
      {"", {}, "a stream of 0 bytes"},
  };
  for (const auto& row : rows) {
    const auto outputs = DecodeStream(row.stream);
    ASSERT_FALSE(outputs.ok()) << row.name << row.says;
    EXPECT_THAT(outputs.status(),
                IsStatus(StatusCode::kInvalidArgument, row.says));
    EXPECT_THAT(outputs.status().message(), HasSubstr(row.name));
  }
}

TEST(ImageDecoder, RefusesOtherPixelFormatsAndShapes) {
  const auto format = Compute(DecoderGraph("CMYK"), {});
  EXPECT_THAT(format.status().message(), HasSubstr("pixel_format is 'CMYK'"));
  const auto shape =
      Compute("g (uint8[1,2] x) => (uint8[h,w,c] y) { y = ImageDecoder(x) }",
              {{DType::kUint8, {1, 2}, {66, 77}}});
  EXPECT_THAT(shape.status().message(), HasSubstr("has shape [1,2]"));
}

TEST(ImageCodecs, AreUnavailableWithoutTheirModule) {
  const auto missing = LoadImageCodecs("/nowhere/image_codecs.so");
  EXPECT_THAT(missing.status(),
              IsStatus(StatusCode::kUnavailable, "/nowhere/image_codecs.so"));
  const auto other = LoadImageCodecs("libm.so.6");
  EXPECT_THAT(other.status(),
              IsStatus(StatusCode::kUnavailable, "libm.so.6 have version 0"));
}

}  // namespace
}  // namespace assay::reference
