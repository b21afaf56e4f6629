// SPDX-License-Identifier: Apache-2.0

#include "framework/file/file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <fstream>

namespace assay::file {

namespace fs = std::filesystem;

Result<std::string> ReadFile(const fs::path& file) {
  constexpr size_t kMore = 4096;
  const Descriptor opened(open(file.c_str(), O_RDONLY | O_CLOEXEC));
  const int fd = opened.get();
  struct stat info = {};
  std::string text;
  // One byte more tells that the end is there.
  if (fd >= 0 && fstat(fd, &info) == 0 && S_ISREG(info.st_mode)) {
    text.resize(static_cast<size_t>(info.st_size) + 1);
  }
  size_t have = 0;
  ssize_t got = fd < 0 ? -1 : 1;
  while (fd >= 0 && (got > 0 || (got < 0 && errno == EINTR))) {
    // It may have grown since, or not say its size, as files of /proc.
    if (have == text.size()) text.resize(have + kMore);
    got = read(fd, text.data() + have, text.size() - have);
    if (got > 0) have += static_cast<size_t>(got);
  }
  if (got < 0) {
    return NotFound("cannot read ", file.string(), ": ", std::strerror(errno));
  }
  text.resize(have);
  return text;
}

Status WriteFile(const fs::path& file, std::string_view text) {
  fs::path beside = file;
  beside += StrCat(".", getpid(), ".part");
  {
    std::ofstream out(beside, std::ios::binary);
    out.write(text.data(), static_cast<std::streamsize>(text.size()));
    out.close();
    if (!out) {
      const std::string why = std::strerror(errno);
      std::error_code ignored;
      fs::remove(beside, ignored);
      return ResourceExhausted("cannot write ", file.string(), ": ", why);
    }
  }
  std::error_code error;
  fs::rename(beside, file, error);
  if (!error) return OkStatus();
  std::error_code ignored;
  fs::remove(beside, ignored);
  return ResourceExhausted("cannot write ", file.string(), ": ",
                           error.message());
}

Status MakeDirectory(const fs::path& directory) {
  std::error_code error;
  fs::create_directories(directory, error);
  if (!error && fs::is_directory(directory, error)) return OkStatus();
  return ResourceExhausted("cannot make the folder ", directory.string(), ": ",
                           error ? error.message() : "a file has that name");
}

Result<FolderLock> FolderLock::Take(const fs::path& folder) {
  FolderLock lock;
  lock.opened_ =
      Descriptor(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (lock.opened_.get() < 0) {
    return NotFound("cannot open the folder ", folder.string(), ": ",
                    std::strerror(errno));
  }
  if (flock(lock.opened_.get(), LOCK_EX | LOCK_NB) != 0 &&
      errno == EWOULDBLOCK) {
    return FailedPrecondition("another process writes to ", folder.string(),
                              ": wait for its end, or name another folder");
  }
  return lock;
}

}  // namespace assay::file
