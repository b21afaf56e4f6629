// SPDX-License-Identifier: Apache-2.0
//
// Counts: what calls take of their process beside time: allocations,
// instructions, memory. Counting slows the calls down, so that their times are
// not taken meanwhile.
//
//   Counter counter;
//   call();
//   const Counts counts = counter.Stop();
//   if (counts.allocations == 0) Print("no allocation");

#pragma once

#include <cstdint>
#include <optional>

#include "framework/file/file.h"

namespace assay::counts {

/// Nothing for a number that the program or the machine does not tell.
struct Counts {
  /// Calls that allocate, and the bytes they ask for, of all threads; what is
  /// mapped without malloc is in neither.
  std::optional<int64_t> allocations, allocated_bytes;
  /// Those of the thread that counts, outside of the kernel.
  std::optional<int64_t> instructions;
  /// Resident memory of the process: the most meanwhile, and at the end.
  std::optional<int64_t> peak_rss_kb, steady_rss_kb;

  bool operator==(const Counts&) const = default;
};

/// Counts from its making until Stop. One at a time in a process.
class Counter {
 public:
  Counter();
  ~Counter();
  Counter(const Counter&) = delete;
  Counter& operator=(const Counter&) = delete;

  /// Once.
  Counts Stop();

 private:
  bool counts_allocations_ = false;
  bool counts_peak_ = false;
  int64_t allocations_ = 0, bytes_ = 0;  // before
  file::Descriptor instructions_;
  std::optional<int64_t> instructions_before_;
};

/// The most memory that this process had before a Counter asked for a new
/// count; 0 where none did.
int64_t PeakRssBeforeKilobytes();

}  // namespace assay::counts
