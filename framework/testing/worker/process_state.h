// SPDX-License-Identifier: Apache-2.0
//
// ProcessState: what a backend must leave as it found it. A look costs about
// two microseconds, so that it can follow every case.
//
//   const ProcessState before = ProcessState::Capture();
//   run_vendor_code();
//   if (std::string what = before.Restore(); !what.empty()) Report(what);
//
// Floating point and signal mask are those of the calling thread.

#pragma once

#include <sys/stat.h>

#include <array>
#include <csignal>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace assay::worker {

/// The bits that steer floating point, none of those that record what happened.
struct FloatControl {
  int rounding = 0;
  uint32_t denormals = 0;  // flush to zero, denormals are zero
  uint32_t traps = 0;      // of SSE and x87
  uint32_t precision = 0;  // of x87

  static FloatControl Capture();
  void Restore() const;
};

class ProcessState {
 public:
  /// Signals whose handling is watched.
  static constexpr std::array kSignals = {SIGSEGV, SIGABRT, SIGFPE, SIGBUS,
                                          SIGILL,  SIGTERM, SIGINT, SIGALRM,
                                          SIGCHLD, SIGPIPE};
  static constexpr int kStreams = 3;  // standard input, output, error

  /// Floating point, locale, working directory, signal mask and handlers,
  /// timers, environment, mask of new files, standard streams.
  static ProcessState Capture();

  /// Puts back what differs now and names it, as "rounding mode, locale";
  /// empty when nothing differed.
  std::string Restore() const;

 private:
  struct OpenFile {
    int copy = -1;     // another descriptor of it
    std::string path;  // where it was, if it was in a folder
    int flags = 0;
    dev_t device = 0;
    ino_t inode = 0;
    bool IsAt(int fd) const;
    /// Descriptor `fd` becomes it again, or leads nowhere from now on.
    void PutBack(int fd);
  };
  struct Streams {
    Streams();
    Streams(const Streams&) = delete;
    Streams& operator=(const Streams&) = delete;
    ~Streams();
    std::array<OpenFile, kStreams> files;
  };

  std::string RestoreFloats() const;
  bool RestoreHandlers() const;
  bool RestoreEnvironment() const;
  bool RestoreStreams() const;

  FloatControl floats_;
  std::string locale_;
  std::string directory_;
  sigset_t signals_ = {};
  std::array<struct sigaction, kSignals.size()> handlers_ = {};
  mode_t file_mask_ = 0;
  mutable std::vector<std::string> environment_;
  std::shared_ptr<Streams> streams_;
};

/// The most memory that this process has had at a time.
int64_t PeakRssKilobytes();

}  // namespace assay::worker
