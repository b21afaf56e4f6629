// SPDX-License-Identifier: Apache-2.0
//
// JPEG by libjpeg-turbo, with the upsampling that ONNX's page of
// ImageDecoder-20 asks for, which is the library's default. Its errors are
// jumps: they land in Read(), from where nothing with a destructor is jumped
// over. A warning is damage that the library papers over: an error too.

// jpeglib.h wants size_t and FILE.
// clang-format off
#include <cstddef>
#include <cstdio>
#include <jpeglib.h>
// clang-format on

#include <array>
#include <csetjmp>
#include <utility>

#include "backends/reference/image/codec.h"

namespace assay::reference {
namespace {

class JpegReader {
 public:
  explicit JpegReader(Bytes bytes) : bytes_(bytes) {
    info_.err = jpeg_std_error(&errors_);
    info_.client_data = this;
    errors_.error_exit = [](j_common_ptr info) { Self(info)->Fail(); };
    errors_.output_message = [](j_common_ptr) {};
    errors_.emit_message = [](j_common_ptr info, int level) {
      if (level < 0) Self(info)->Fail();
    };
  }
  JpegReader(const JpegReader&) = delete;
  JpegReader& operator=(const JpegReader&) = delete;
  ~JpegReader() { jpeg_destroy_decompress(&info_); }

  Image Read() {
    // NOLINTNEXTLINE: the library knows no other way.
    if (setjmp(jump_) != 0) throw Broken(message_.data());
    jpeg_create_decompress(&info_);
    info_.progress = &progress_;
    progress_.progress_monitor = [](j_common_ptr info) {
      Self(info)->CheckScans();
    };
    jpeg_mem_src(&info_, bytes_.data(), bytes_.size());
    jpeg_read_header(&info_, TRUE);
    // Without arithmetic coding a block of 8 by 8 has a bit at least.
    constexpr uint64_t kMostPixelsPerByte = 512;
    const uint64_t pixels = uint64_t{info_.image_width} * info_.image_height;
    CheckSize(info_.image_height, info_.image_width, pixels, bytes_,
              info_.arith_code != FALSE ? 0 : kMostPixelsPerByte);
    const bool inks = info_.jpeg_color_space == JCS_CMYK ||
                      info_.jpeg_color_space == JCS_YCCK;
    info_.out_color_space = inks ? JCS_CMYK : JCS_RGB;
    jpeg_start_decompress(&info_);
    image_.height = info_.output_height;
    image_.width = info_.output_width;
    image_.pixels.resize(image_.height * image_.width * 3);
    line_.resize(image_.width * 4);
    while (info_.output_scanline < info_.output_height) {
      ReadLine(inks);
    }
    jpeg_finish_decompress(&info_);
    return std::move(image_);
  }

 private:
  static JpegReader* Self(j_common_ptr info) {
    return static_cast<JpegReader*>(info->client_data);
  }

  [[noreturn]] void Fail() {
    errors_.format_message(reinterpret_cast<j_common_ptr>(&info_),
                           message_.data());
    longjmp(jump_, 1);  // over frames of C: no destructors
  }

  // Each scan goes over the whole picture, in as little as a few bytes.
  void CheckScans() {
    constexpr int kMostScans = 500;
    if (info_.input_scan_number <= kMostScans) return;
    std::snprintf(message_.data(), message_.size(), "it has over %d scans",
                  kMostScans);
    longjmp(jump_, 1);  // over frames of C: no destructors
  }

  void ReadLine(bool inks) {
    uint8_t* const to =
        image_.pixels.data() + info_.output_scanline * image_.width * 3;
    JSAMPROW row = inks ? line_.data() : to;
    jpeg_read_scanlines(&info_, &row, 1);
    for (size_t i = 0; inks && i < image_.width; ++i) {
      // Inks as Adobe's marker has them, 255 being none; else the other way.
      const uint8_t flip = info_.saw_Adobe_marker != FALSE ? 0 : 255;
      const uint64_t black = line_[4 * i + 3] ^ flip;
      for (size_t k = 0; k < 3; ++k) {
        to[3 * i + k] = ToByte((line_[4 * i + k] ^ flip) * black, 255 * 255);
      }
    }
  }

  Bytes bytes_;
  jpeg_decompress_struct info_{};
  jpeg_error_mgr errors_{};
  jpeg_progress_mgr progress_{};
  std::jmp_buf jump_{};
  std::array<char, JMSG_LENGTH_MAX> message_{};
  Image image_;
  std::vector<uint8_t> line_;
};

}  // namespace

Image DecodeJpeg(Bytes bytes) { return JpegReader(bytes).Read(); }

}  // namespace assay::reference
