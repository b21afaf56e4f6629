// SPDX-License-Identifier: Apache-2.0

#include "framework/train/format/byte_source.h"

#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>

namespace assay::train {
namespace {

constexpr uint64_t kBlock = 1U << 20U;

}  // namespace

void ByteSource::Close::operator()(gzFile_s* file) const { gzclose(file); }

Result<ByteSource> ByteSource::Open(const std::filesystem::path& path) {
  errno = 0;
  gzFile_s* const file = gzopen(path.c_str(), "rb");
  if (file == nullptr || std::filesystem::is_directory(path)) {
    const char* const why =
        file == nullptr ? std::strerror(errno) : "it is a folder";
    if (file != nullptr) gzclose(file);
    return NotFound("cannot read ", path.string(), ": ", why);
  }
  return ByteSource(path, file);
}

Status ByteSource::AddTo(std::string* bytes, uint64_t most) {
  while (most > 0) {
    const size_t before = bytes->size();
    const auto block = static_cast<unsigned>(std::min(most, kBlock));
    bytes->resize(before + block);
    const int got = gzread(file_.get(), bytes->data() + before, block);
    bytes->resize(before + static_cast<size_t>(std::max(got, 0)));
    int code = Z_OK;
    const char* const why = gzerror(file_.get(), &code);
    if (got < 0 || (code != Z_OK && code != Z_STREAM_END)) {
      return DataLoss(path_.string(), ": behind byte ", at_ + bytes->size(),
                      ": ", why);
    }
    if (got == 0) break;
    most -= static_cast<uint64_t>(got);
  }
  return OkStatus();
}

Result<std::string> ByteSource::Take(uint64_t n, std::string_view what) {
  std::string bytes;
  ASSAY_RETURN_IF_ERROR(AddTo(&bytes, n));
  if (bytes.size() < n) {
    return DataLoss(path_.string(), ": found ", bytes.size(), " bytes of ",
                    what, " at byte ", at_, ", wanted ", n);
  }
  at_ += n;
  return bytes;
}

Result<std::string> ByteSource::TakeAll() {
  std::string bytes;
  ASSAY_RETURN_IF_ERROR(AddTo(&bytes, std::numeric_limits<uint64_t>::max()));
  at_ += bytes.size();
  return bytes;
}

Status ByteSource::End() {
  std::string more;
  ASSAY_RETURN_IF_ERROR(AddTo(&more, 1));
  if (more.empty()) return OkStatus();
  return DataLoss(path_.string(), ": found more behind byte ", at_,
                  ", where what the header says ends");
}

}  // namespace assay::train
