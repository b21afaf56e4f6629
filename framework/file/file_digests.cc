// SPDX-License-Identifier: Apache-2.0

#include "framework/file/file_digests.h"

#include <sys/stat.h>

#include <ctime>

#include "framework/file/digest.h"

namespace assay::file {
namespace {

constexpr int64_t kSecond = 1'000'000'000;

int64_t Nanoseconds(const timespec& time) {
  return time.tv_sec * kSecond + time.tv_nsec;
}

}  // namespace

Result<std::string> FileDigests::Of(const std::filesystem::path& file) const {
  timespec now = {};
  clock_gettime(CLOCK_REALTIME, &now);
  struct stat info = {};
  const bool is_there = stat(file.c_str(), &info) == 0;
  const int64_t changed = Nanoseconds(info.st_ctim);
  std::unique_lock lock(mutex_);
  if (!is_there || changed > Nanoseconds(now) - kSecond) {
    ++reads_;
    lock.unlock();
    return Sha256OfFile(file);
  }
  const Version version(info.st_dev, info.st_ino, info.st_size, changed);
  if (const auto found = known_.find(version); found != known_.end()) {
    const auto digest = found->second;
    lock.unlock();
    return digest.get();
  }
  std::promise<Result<std::string>> promise;
  known_.emplace(version, promise.get_future().share());
  ++reads_;
  lock.unlock();
  Result<std::string> digest = Sha256OfFile(file);
  promise.set_value(digest);
  return digest;
}

int64_t FileDigests::reads() const {
  const std::lock_guard lock(mutex_);
  return reads_;
}

}  // namespace assay::file
