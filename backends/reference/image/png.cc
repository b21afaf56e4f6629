// SPDX-License-Identifier: Apache-2.0
//
// PNG by libpng: palettes, grey, transparency, 16 bits and interlacing become
// rows of RGB. Transparency is left out, and gamma is not applied. Errors are
// jumps that land in Read(), from where nothing with a destructor is jumped
// over. Rows are read one by one, so that a cut file costs what it holds.

#include <png.h>

#include <array>
#include <csetjmp>
#include <cstdio>
#include <cstring>
#include <utility>

#include "backends/reference/image/codec.h"

namespace assay::reference {
namespace {

constexpr size_t kMostChunkBytes = size_t{1} << 23;
constexpr int kMostChunks = 128;
// "Deflate" gives 258 bytes for two bits at the most.
constexpr uint64_t kMostRatio = 1032;

class PngReader {
 public:
  explicit PngReader(Bytes bytes) : bytes_(bytes) {
    png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, this, &Fail,
                                  [](png_structp, png_const_charp) {});
    if (png_ == nullptr) throw std::bad_alloc();
    info_ = png_create_info_struct(png_);
  }
  PngReader(const PngReader&) = delete;
  PngReader& operator=(const PngReader&) = delete;
  ~PngReader() { png_destroy_read_struct(&png_, &info_, nullptr); }

  Image Read() {
    if (info_ == nullptr) throw std::bad_alloc();
    // NOLINTNEXTLINE: the library knows no other way.
    if (setjmp(jump_) != 0) throw Broken(message_.data());
    ReadHeader();
    Transform();
    const int passes = png_set_interlace_handling(png_);
    png_read_update_info(png_, info_);
    const size_t row_bytes = image_.width * 3;
    if (png_get_rowbytes(png_, info_) != row_bytes) {
      throw Broken("its rows have " +
                   std::to_string(png_get_rowbytes(png_, info_)) + " bytes");
    }
    for (int pass = 0; pass < passes; ++pass) {
      for (size_t row = 0; row < image_.height; ++row) {
        const size_t end = (row + 1) * row_bytes;
        if (image_.pixels.size() < end) image_.pixels.resize(end);
        png_read_row(png_, image_.pixels.data() + row * row_bytes, nullptr);
      }
    }
    png_read_end(png_, nullptr);
    return std::move(image_);
  }

 private:
  [[noreturn]] static void Fail(png_structp png, png_const_charp message) {
    auto* const self = static_cast<PngReader*>(png_get_error_ptr(png));
    std::snprintf(self->message_.data(), self->message_.size(), "%s", message);
    longjmp(self->jump_, 1);  // over frames of C: no destructors
  }

  static void Take(png_structp png, png_bytep to, size_t count) {
    auto* const self = static_cast<PngReader*>(png_get_io_ptr(png));
    if (count > self->bytes_.size()) png_error(png, "it ends too soon");
    std::memcpy(to, self->bytes_.data(), count);
    self->bytes_ = self->bytes_.subspan(count);
  }

  void ReadHeader() {
    const Bytes all = bytes_;
    png_set_user_limits(png_, kMostPixels, kMostPixels);
    png_set_chunk_malloc_max(png_, kMostChunkBytes);
    png_set_chunk_cache_max(png_, kMostChunks);
    png_set_read_fn(png_, this, &Take);
    png_read_info(png_, info_);
    image_.height = png_get_image_height(png_, info_);
    image_.width = png_get_image_width(png_, info_);
    CheckSize(image_.height, image_.width,
              image_.height * (png_get_rowbytes(png_, info_) + 1), all,
              kMostRatio);
  }

  void Transform() {
    png_set_expand(png_);
    png_set_scale_16(png_);
    png_set_strip_alpha(png_);
    png_set_gray_to_rgb(png_);
  }

  Bytes bytes_;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
  std::jmp_buf jump_{};
  std::array<char, 256> message_{};
  Image image_;
};

}  // namespace

Image DecodePng(Bytes bytes) { return PngReader(bytes).Read(); }

}  // namespace assay::reference
