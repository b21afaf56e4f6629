// SPDX-License-Identifier: Apache-2.0
//
// Digests: SHA-256 where a digest is kept or compared across machines, of
// texts, of files, and of a build of the harness.

#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <tuple>

#include "framework/core/status.h"

struct evp_md_ctx_st;  // of OpenSSL

namespace assay::file {

/// The digest of bytes that come one after the other.
class Sha256Stream {
 public:
  Sha256Stream();
  void Add(std::string_view bytes);
  std::string Finish();

 private:
  struct Free {
    void operator()(evp_md_ctx_st* context) const;
  };
  std::unique_ptr<evp_md_ctx_st, Free> context_;
};

std::string Sha256(std::string_view text);

/// Not found, with the system's reason, when the file cannot be read.
Result<std::string> Sha256OfFile(const std::filesystem::path& file);

/// The digests of the files that a run stands on: programs, modules and
/// libraries, each read once. A file is known by its inode, size and time of
/// change, under whatever name. Clocks of file systems are coarse, so that a
/// file which was changed within the last second before it was read is read
/// again whenever it is asked for: any later change has another time than that
/// which is known. May be asked by several threads at once.
class FileDigests {
 public:
  /// SHA-256 of the file as it is now. Not found when it cannot be read.
  Result<std::string> Of(const std::filesystem::path& file) const;

  /// "DIGEST PATH" lines for paths, a line each, without those of files that
  /// cannot be read any more.
  std::string LinesOf(std::string_view paths) const;

  /// How many files were read.
  int64_t reads() const;

 private:
  /// Device, inode, bytes, and the nanosecond of its last change.
  using Version = std::tuple<dev_t, ino_t, off_t, int64_t>;

  mutable std::mutex mutex_;
  mutable std::map<Version, std::shared_future<Result<std::string>>> known_;
  mutable int64_t reads_ = 0;
};

/// The identity of a build of the harness, so that a finding about one build is
/// never told of another: SHA-256 over bin/assay, bin/assay-host,
/// bin/assay-worker and lib/libassay_core.so below `prefix`, in that order. Not
/// found, naming the file that cannot be read.
Result<std::string> BuildId(const std::filesystem::path& prefix,
                            const FileDigests& digests = {});

/// The same without bin/assay: the identity of what judges a case.
Result<std::string> WorkerId(const std::filesystem::path& prefix,
                             const FileDigests& digests = {});

}  // namespace assay::file
