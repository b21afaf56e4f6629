// SPDX-License-Identifier: Apache-2.0
//
// ForkedBatch: a batch of cases run in children that are forked off when the
// backend is loaded and has not run yet. A case that ends its process then
// costs a fork, not another start of a heavy library.
//
//   if (ForkedBatch::IsPossible()) {
//     ForkedBatch batch(n_cases, /*most=*/1024);
//     ASSAY_RETURN_IF_ERROR(batch.Run(journal, [&] { run_all_tests(); }));
//   }
//   // and in each test: if (!batch.Take()) return;  ...  batch.Done();
//
// A process with a second thread cannot be forked safely, so a library that
// starts its threads when it is loaded gets a worker of its own each time.

#pragma once

#include <cstdint>
#include <functional>

#include "framework/core/status.h"
#include "framework/testing/journal/journal.h"

namespace assay::worker {

class ForkedBatch {
 public:
  /// True when this process has one thread.
  static bool IsPossible();

  /// `n_cases` will be taken in all, at most `most` by one process.
  ForkedBatch(int64_t n_cases, int64_t most);
  ForkedBatch(const ForkedBatch&) = delete;
  ForkedBatch& operator=(const ForkedBatch&) = delete;
  ~ForkedBatch();

  /// Calls `run` in one child after another until all cases were taken. `run`
  /// asks for every case in the same order each time. How a child ended, other
  /// than by itself between two cases, goes into the journal. Failed
  /// precondition where children end without taking a case, resource exhausted
  /// where one cannot be made or the journal not be written.
  Status Run(journal::Journal& journal, const std::function<void()>& run);

  /// True when the next case, in the order of `run`, is this process' own.
  bool Take();
  /// Its verdict is written.
  void Done();
  /// Another process takes the rest.
  void TakeNoMore() { taken_ = most_; }

 private:
  struct Shared;  // with the children

  [[noreturn]] void BeChild(journal::Journal& journal, int parent,
                            const std::function<void()>& run);

  Shared* shared_;
  int64_t n_cases_;
  int64_t most_;
  int64_t asked_ = 0;  // by this process
  int64_t taken_ = 0;
};

}  // namespace assay::worker
