// SPDX-License-Identifier: Apache-2.0
//
// Pair: one computation twice, by the calls of a library and by a backend on
// that library, over the same memory; and the times of both in turn.
//
//   overhead::Pair pair;
//   pair.test_id = "overhead/Relu/4";
//   pair.native = overhead::Repeated([&] { return execute(); });
//   pair.framework = overhead::Repeated([&] { return forward(); });
//   const auto row = overhead::TimePair(pair, {.ns = 2'000'000'000},
//                                       overhead::ThreadNow);

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "framework/core/status.h"
#include "framework/core/tensor.h"
#include "framework/testing/times/row.h"
#include "framework/timing/clock.h"

namespace assay::overhead {

/// Does it so many times, one behind the other.
using Calls = std::function<Status(int64_t calls)>;

/// Calls of a function that returns a Status, with nothing between them.
template <class Call>
Calls Repeated(Call call) {
  return [call = std::move(call)](int64_t calls) mutable -> Status {
    for (; calls > 0; --calls) ASSAY_RETURN_IF_ERROR(call());
    return OkStatus();
  };
}

struct Pair {
  std::string test_id, backend, settings;
  Calls native, framework;
  /// Both write this, the same bytes; undefined where none is to be compared.
  Tensor output = {};
  /// The same computation by Eigen, in memory of its own; empty: none.
  Calls eigen = nullptr;
};

/// Failed precondition where one call of each leaves other bytes in the output;
/// a failure of a call is returned as it is.
Status CheckAlike(const Pair& pair);

struct Budget {
  int64_t ns = 0;  // of a pair, without warm-up
  int64_t most_blocks = 20'000;
};

/// Nanoseconds of a processor that this thread has had
/// (CLOCK_THREAD_CPUTIME_ID): the time of calls that run in it alone, without
/// those of other programs in between.
int64_t ThreadNow();

/// The row of a pair, but for instructions. Both sides are made warm before. A
/// sample is of as many calls as take some 200 us on the faster side: long
/// beside the first call behind one of the other side, which finds its code in
/// no cache, and short beside what disturbs a machine. They are shared out
/// to all alignments of the stack: a kernel that spills vectors there takes
/// another time at each, and the two sides come to it from different depths.
Result<times::OverheadRow> TimePair(const Pair& pair, const Budget& budget,
                                    const timing::Clock& clock);

}  // namespace assay::overhead
