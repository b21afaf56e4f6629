// SPDX-License-Identifier: Apache-2.0
//
// FileDigests: the digests of the files that a run stands on: programs, modules
// and libraries, each read once.
//
//   const FileDigests digests;                        // for one run
//   ASSAY_ASSIGN_OR_RETURN(std::string core, digests.Of("libassay_core.so"));
//
// A file is known by its inode, size and time of change, under whatever name.
// Clocks of file systems are coarse, so that a file which was changed within
// the last second before it was read is read again whenever it is asked for:
// any later change has another time than that which is known.

#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <future>
#include <map>
#include <mutex>
#include <string>
#include <tuple>

#include "framework/core/status.h"

namespace assay::file {

/// May be asked by several threads at once.
class FileDigests {
 public:
  /// SHA-256 of the file as it is now. Not found when it cannot be read.
  Result<std::string> Of(const std::filesystem::path& file) const;

  /// How many files were read.
  int64_t reads() const;

 private:
  /// Device, inode, bytes, and the nanosecond of its last change.
  using Version = std::tuple<dev_t, ino_t, off_t, int64_t>;

  mutable std::mutex mutex_;
  mutable std::map<Version, std::shared_future<Result<std::string>>> known_;
  mutable int64_t reads_ = 0;
};

}  // namespace assay::file
