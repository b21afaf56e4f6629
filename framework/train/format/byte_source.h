// SPDX-License-Identifier: Apache-2.0
//
// ByteSource: a file from its first byte to its last, as it is or in gzip.
//
//   ASSAY_ASSIGN_OR_RETURN(ByteSource source, ByteSource::Open(path));
//   ASSAY_ASSIGN_OR_RETURN(const std::string magic, source.Take(4, "the magic number"));
//   ASSAY_RETURN_IF_ERROR(source.End());

#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "framework/core/status.h"

struct gzFile_s;  // of zlib NOLINT(readability-identifier-naming)

namespace assay::train {

class ByteSource {
 public:
  /// Not found, with the system's reason.
  static Result<ByteSource> Open(const std::filesystem::path& path);

  /// The next `n` bytes. Data loss, with place and `what`, where there are
  /// fewer, and for broken gzip. Memory grows with what is there, and not with
  /// `n`.
  Result<std::string> Take(uint64_t n, std::string_view what);
  /// All that is left.
  Result<std::string> TakeAll();
  /// Data loss where something is left.
  Status End();

  const std::filesystem::path& path() const { return path_; }

 private:
  struct Close {
    void operator()(gzFile_s* file) const;
  };

  ByteSource(std::filesystem::path path, gzFile_s* file)
      : path_(std::move(path)), file_(file) {}

  /// Adds what there is of the next bytes, `most` of them at most.
  Status AddTo(std::string* bytes, uint64_t most);

  std::filesystem::path path_;
  std::unique_ptr<gzFile_s, Close> file_;
  uint64_t at_ = 0;
};

}  // namespace assay::train
