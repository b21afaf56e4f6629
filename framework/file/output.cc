// SPDX-License-Identifier: Apache-2.0

#include "framework/file/output.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iostream>

namespace assay::file {

Status HoldStandardStreams() {
  const auto is_closed = [](int stream) { return fcntl(stream, F_GETFD) < 0; };
  const bool closed = is_closed(STDOUT_FILENO);
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    // The lowest number that is free is the stream's own.
    if (is_closed(stream) && open("/dev/null", O_RDWR) != stream) {
      return Internal("cannot open /dev/null: ", std::strerror(errno));
    }
  }
  if (!closed) return OkStatus();
  return FailedPrecondition(
      "standard output is closed, wanted it open, be it to /dev/null");
}

Status FlushOutput() {
  std::cout.flush();
  const bool flushed = std::fflush(stdout) == 0;
  if (flushed && std::cout.good() && std::ferror(stdout) == 0) {
    return OkStatus();
  }
  // An earlier write may have failed, whose reason is gone: asked again.
  const bool is_full = write(STDOUT_FILENO, "\n", 1) < 0;
  const int reason = is_full ? errno : EIO;
  if (reason == EPIPE) return OkStatus();
  return ResourceExhausted("cannot write all of standard output: ",
                           std::strerror(reason));
}

}  // namespace assay::file
