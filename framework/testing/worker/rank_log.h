// SPDX-License-Identifier: Apache-2.0
//
// RankLog: a log of its own for what a rank prints. It goes with the rank where
// nothing is in it.

#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "framework/core/status.h"
#include "framework/file/file.h"

namespace assay::worker {

class RankLog {
 public:
  explicit RankLog(std::filesystem::path path) : path_(std::move(path)) {}
  RankLog(const RankLog&) = delete;
  RankLog& operator=(const RankLog&) = delete;

  ~RankLog() {
    std::error_code ignored;
    if (std::filesystem::is_empty(path_, ignored)) {
      std::filesystem::remove(path_, ignored);
    }
  }

  Status Open() const {
    const file::Descriptor log(
        open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
    if (log.get() < 0 || dup2(log.get(), STDOUT_FILENO) < 0 ||
        dup2(log.get(), STDERR_FILENO) < 0) {
      return Internal("cannot print into ", path_.string(), ": ",
                      std::strerror(errno));
    }
    return OkStatus();
  }

 private:
  std::filesystem::path path_;
};

}  // namespace assay::worker
