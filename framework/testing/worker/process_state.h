// SPDX-License-Identifier: Apache-2.0
//
// The effects of a backend on its process: ProcessState is the state that the
// backend must leave as it found it, Leftovers are effects that nobody can
// undo, and MappedFiles are the files that the backend brought.

#pragma once

#include <sched.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/types.h>

#include <array>
#include <csignal>
#include <cstdint>
#include <initializer_list>
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

/// A look costs about two microseconds, so that it can follow every case.
/// Floating point and signal mask are those of the calling thread.
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

/// The files that this process and others execute from, as absolute paths,
/// sorted, a line each. Mappings whose file is gone are left out.
std::string MappedFiles(std::initializer_list<pid_t> others = {});

/// How many libraries this process has loaded, gone ones among them: another
/// number says that MappedFiles may be others. A call costs less than 1 us.
uint64_t LibrariesLoaded();

/// Limits, another root folder or user, timers, threads and processes that run
/// on, descriptors. None of it changes the verdict of the case; all of it may
/// reach a later one, which therefore gets another process.
class Leftovers {
 public:
  /// As this process is now.
  Leftovers();

  /// "threads, limits": what differs now; empty when nothing does. A thread
  /// that waits on a lock, as those of a library's pool do, is none.
  std::string Found() const;

 private:
  using Limits = std::array<struct rlimit, RLIMIT_NLIMITS>;
  static Limits LimitsNow();

  Limits limits_;
  struct stat root_ = {};
  uid_t user_;
  gid_t group_;
  cpu_set_t processors_;
  int policy_;
  int filter_;  // of system calls
  int next_descriptor_;
  uint64_t n_threads_;
};

/// Keeps this process, and what it starts, on the last of its cores, and lets
/// what it starts lie at the same addresses each time: two that are timed in
/// turn differ in nothing but what they are.
void StayOnOneCore();
void StartAtSameAddresses();

}  // namespace assay::worker
