// SPDX-License-Identifier: Apache-2.0
//
// JPEG by libjpeg-turbo, with the upsampling that ONNX's page of
// ImageDecoder-20 asks for, which is the library's default. Its errors are
// jumps: they land in Read(), from where nothing with a destructor is jumped
// over. A warning is damage that the library papers over: an error too.
//
// JPEG 2000 by OpenJPEG: a JP2 file or a bare codestream, grey or of three
// colours, with or without transparency, which is left out.

// jpeglib.h wants size_t and FILE.
// clang-format off
#include <cstddef>
#include <cstdio>
#include <jpeglib.h>
#include <openjpeg.h>
// clang-format on

#include <algorithm>
#include <array>
#include <cmath>
#include <csetjmp>
#include <cstring>
#include <memory>
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

struct Jpeg2000Source {
  Bytes bytes;
  size_t at = 0;
};

OPJ_SIZE_T Take(void* to, OPJ_SIZE_T count, void* user) {
  Jpeg2000Source& source = *static_cast<Jpeg2000Source*>(user);
  const size_t taken = std::min(count, source.bytes.size() - source.at);
  if (taken == 0) return static_cast<OPJ_SIZE_T>(-1);
  std::memcpy(to, source.bytes.data() + source.at, taken);
  source.at += taken;
  return taken;
}

OPJ_OFF_T Skip(OPJ_OFF_T count, void* user) {
  Jpeg2000Source& source = *static_cast<Jpeg2000Source*>(user);
  const size_t left = source.bytes.size() - source.at;
  if (count < 0 || static_cast<size_t>(count) > left) return -1;
  source.at += static_cast<size_t>(count);
  return count;
}

OPJ_BOOL Seek(OPJ_OFF_T at, void* user) {
  Jpeg2000Source& source = *static_cast<Jpeg2000Source*>(user);
  if (at < 0 || static_cast<size_t>(at) > source.bytes.size()) return OPJ_FALSE;
  source.at = static_cast<size_t>(at);
  return OPJ_TRUE;
}

template <class T, void (*kDestroy)(T*)>
struct Destroyer {
  void operator()(T* held) const { kDestroy(held); }
};
using Codec =
    std::unique_ptr<opj_codec_t, Destroyer<opj_codec_t, &opj_destroy_codec>>;
using Stream =
    std::unique_ptr<opj_stream_t, Destroyer<opj_stream_t, &opj_stream_destroy>>;
using Picture =
    std::unique_ptr<opj_image_t, Destroyer<opj_image_t, &opj_image_destroy>>;

void Note(const char* message, void* user) {
  auto& first = *static_cast<std::string*>(user);
  if (!first.empty()) return;
  first = message;
  while (!first.empty() && first.back() == '\n') first.pop_back();
}

void Ignore(const char*, void*) {}

Stream OpenJpeg2000(Jpeg2000Source& source) {
  Stream stream(opj_stream_default_create(OPJ_TRUE));
  if (stream == nullptr) throw std::bad_alloc();
  opj_stream_set_user_data(stream.get(), &source, nullptr);
  opj_stream_set_user_data_length(stream.get(), source.bytes.size());
  opj_stream_set_read_function(stream.get(), &Take);
  opj_stream_set_skip_function(stream.get(), &Skip);
  opj_stream_set_seek_function(stream.get(), &Seek);
  return stream;
}

void CheckHeader(const opj_image_t& picture, Bytes bytes) {
  CheckSize(picture.y1 - picture.y0, picture.x1 - picture.x0, 0, bytes, 0);
  if (picture.numcomps < 1 || picture.numcomps > 4) {
    throw Broken("it has " + std::to_string(picture.numcomps) +
                 " components, wanted 1 to 4");
  }
}

Picture Read(Bytes bytes, std::string& error) {
  Jpeg2000Source source{.bytes = bytes};
  const Stream stream = OpenJpeg2000(source);
  const bool bare = bytes.size() > 1 && bytes[0] == 0xFF;
  const Codec codec(
      opj_create_decompress(bare ? OPJ_CODEC_J2K : OPJ_CODEC_JP2));
  if (codec == nullptr) throw std::bad_alloc();
  opj_set_error_handler(codec.get(), &Note, &error);
  opj_set_warning_handler(codec.get(), &Ignore, nullptr);
  opj_set_info_handler(codec.get(), &Ignore, nullptr);
  opj_dparameters_t parameters;
  opj_set_default_decoder_parameters(&parameters);
  opj_image_t* read = nullptr;
  if (opj_setup_decoder(codec.get(), &parameters) == OPJ_FALSE ||
      opj_read_header(stream.get(), codec.get(), &read) == OPJ_FALSE) {
    throw Broken(error.empty() ? "its header is not read" : error);
  }
  Picture picture(read);
  CheckHeader(*picture, bytes);
  if (opj_decode(codec.get(), stream.get(), read) == OPJ_FALSE ||
      opj_end_decompress(codec.get(), stream.get()) == OPJ_FALSE ||
      !error.empty()) {
    throw Broken(error.empty() ? "its picture is not read" : error);
  }
  return picture;
}

/// One component, at a byte a sample.
class Component {
 public:
  Component(const opj_image_comp_t& from, size_t height, size_t width)
      : from_(from), height_(height), width_(width) {
    if (from.data == nullptr || from.prec < 1 || from.prec > 31 || from.w < 1 ||
        from.h < 1) {
      throw Broken("a component has no samples");
    }
  }

  // The nearest sample of a component that has fewer.
  uint8_t At(size_t row, size_t column) const {
    const size_t i = std::min<size_t>(row * from_.h / height_, from_.h - 1);
    const size_t j = std::min<size_t>(column * from_.w / width_, from_.w - 1);
    const int64_t least =
        from_.sgnd != 0 ? -(int64_t{1} << (from_.prec - 1)) : 0;
    const int64_t most = (int64_t{1} << from_.prec) - 1;
    const int64_t value = from_.data[i * from_.w + j] - least;
    return ToByte(static_cast<uint64_t>(std::clamp<int64_t>(value, 0, most)),
                  static_cast<uint64_t>(most));
  }

 private:
  const opj_image_comp_t& from_;
  size_t height_;
  size_t width_;
};

uint8_t Clamped(double value) {
  return static_cast<uint8_t>(std::clamp(std::floor(value + 0.5), 0.0, 255.0));
}

// ITU-T T.800, annex G.2, for "sYCC": luma and two differences around 128.
std::array<uint8_t, 3> FromYcc(double y, double cb, double cr) {
  return {Clamped(y + 1.402 * (cr - 128)),
          Clamped(y - 0.344136 * (cb - 128) - 0.714136 * (cr - 128)),
          Clamped(y + 1.772 * (cb - 128))};
}

bool IsYcc(const opj_image_t& picture) {
  if (picture.numcomps < 3) return false;
  if (picture.color_space == OPJ_CLRSPC_SYCC) return true;
  // A bare codestream names no space; colours are not sampled more coarsely.
  return picture.color_space != OPJ_CLRSPC_SRGB && picture.comps[0].dx == 1 &&
         picture.comps[1].dx != 1;
}

}  // namespace

Image DecodeJpeg(Bytes bytes) { return JpegReader(bytes).Read(); }

Image DecodeJpeg2000(Bytes bytes) {
  std::string error;
  const Picture picture = Read(bytes, error);
  if (picture->color_space == OPJ_CLRSPC_CMYK ||
      picture->color_space == OPJ_CLRSPC_EYCC) {
    throw Broken(
        "its colour space is CMYK or e-YCC, wanted grey, sRGB or sYCC");
  }
  const size_t height = picture->y1 - picture->y0;
  const size_t width = picture->x1 - picture->x0;
  const bool grey = picture->numcomps < 3;
  const bool ycc = IsYcc(*picture);
  std::vector<Component> components;
  for (size_t k = 0; k < (grey ? 1 : 3); ++k) {
    components.emplace_back(picture->comps[k], height, width);
  }
  Image image{height, width, {}};
  image.pixels.reserve(height * width * 3);
  for (size_t row = 0; row < height; ++row) {
    for (size_t column = 0; column < width; ++column) {
      std::array<uint8_t, 3> pixel{};
      for (size_t k = 0; k < 3; ++k) {
        pixel[k] = components[grey ? 0 : k].At(row, column);
      }
      if (ycc) pixel = FromYcc(pixel[0], pixel[1], pixel[2]);
      image.pixels.insert(image.pixels.end(), pixel.begin(), pixel.end());
    }
  }
  return image;
}

}  // namespace assay::reference
