// SPDX-License-Identifier: Apache-2.0
//
// Descriptor: of an open file or socket, which is closed with its owner.
//
//   const file::Descriptor opened(open("notes.txt", O_RDONLY | O_CLOEXEC));
//   if (opened.get() < 0) return NotFound("found no notes.txt");

#pragma once

#include <unistd.h>

#include <utility>

namespace assay::file {

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

}  // namespace assay::file
