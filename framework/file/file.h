// SPDX-License-Identifier: Apache-2.0
//
// Whole files, read and written: a written file is there whole or not at all.
// Also open files, which close themselves, and folders with one writer.

#pragma once

#include <unistd.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "framework/core/status.h"

namespace assay::file {

/// Not found, with path and the system's reason.
Result<std::string> ReadFile(const std::filesystem::path& file);

/// Writes beside the file and renames over it. Resource exhausted, with path
/// and the system's reason; the old content then stays.
Status WriteFile(const std::filesystem::path& file, std::string_view text);

/// Creates a folder and those above it. Resource exhausted with the reason.
Status MakeDirectory(const std::filesystem::path& directory);

/// An open file or socket, which is closed with its owner.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    if (this == &other) return *this;
    if (fd_ >= 0) close(fd_);
    fd_ = other.release();
    return *this;
  }
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }

  int get() const { return fd_; }
  int release() { return std::exchange(fd_, -1); }

 private:
  int fd_ = -1;
};

/// One process at a time writes to a folder. The kernel gives the lock back
/// when its holder ends, in whatever way.
class FolderLock {
 public:
  /// Failed precondition, with the folder, when another process holds it; not
  /// found when there is no such folder. A file system that knows no locks
  /// gives one to everybody.
  static Result<FolderLock> Take(const std::filesystem::path& folder);

 private:
  Descriptor opened_;
};

}  // namespace assay::file
