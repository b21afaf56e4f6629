// SPDX-License-Identifier: Apache-2.0
//
// FolderLock: one process at a time writes to a folder. The kernel gives the
// lock back when its holder ends, in whatever way.
//
//   ASSAY_ASSIGN_OR_RETURN(const FolderLock lock, FolderLock::Take(folder));

#pragma once

#include <filesystem>
#include <utility>

#include "framework/core/status.h"

namespace assay::file {

class FolderLock {
 public:
  /// Failed precondition, with the folder, when another process holds it; not
  /// found when there is no such folder. A file system that knows no locks
  /// gives one to everybody.
  static Result<FolderLock> Take(const std::filesystem::path& folder);

  FolderLock() = default;
  FolderLock(FolderLock&& other) noexcept { *this = std::move(other); }
  FolderLock& operator=(FolderLock&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~FolderLock();

 private:
  int descriptor_ = -1;
};

}  // namespace assay::file
