// SPDX-License-Identifier: Apache-2.0

#include "framework/file/folder_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace assay::file {

Result<FolderLock> FolderLock::Take(const std::filesystem::path& folder) {
  FolderLock lock;
  lock.descriptor_ = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (lock.descriptor_ < 0) {
    return NotFound("cannot open the folder ", folder.string(), ": ",
                    std::strerror(errno));
  }
  if (flock(lock.descriptor_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    return FailedPrecondition("another process writes to ", folder.string(),
                              ": wait for its end, or name another folder");
  }
  return lock;
}

FolderLock::~FolderLock() {
  if (descriptor_ >= 0) close(descriptor_);
}

}  // namespace assay::file
