// SPDX-License-Identifier: Apache-2.0
//
// Instructions of a call, exactly: a program of our own runs under valgrind's
// callgrind, which counts between the entry and the exit of one function and
// writes a part of its file at each exit.
//
//     valgrind --tool=callgrind --collect-atstart=no
//       --toggle-collect=assay_counted_calls --dump-after=assay_counted_calls
//       --combine-dumps=yes --callgrind-out-file=FILE PROGRAM
//
// Each side of a pair makes k calls and 2 k calls there; the difference over k
// is a call's, without the calls' own frame.

#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "framework/core/status.h"
#include "perf/overhead/pair.h"

namespace assay::overhead {

/// Calls of the lesser count; the greater is twice as many.
inline constexpr int64_t kCountedCalls = 4;

/// Makes the calls of each pair that callgrind counts: native and framework, of
/// each the lesser number and the greater. A few calls before each are not
/// counted.
Status MakeCountedCalls(std::span<const Pair> pairs);

/// The instructions of a call of a pair.
struct Instructions {
  int64_t native = 0, framework = 0;
};

/// Reads callgrind's file of MakeCountedCalls of so many pairs. Data loss for a
/// file of another number of counts, with both numbers, and for a count that is
/// none or is not the greater where twice as many calls were made.
Result<std::vector<Instructions>> ReadInstructions(std::string_view text,
                                                   size_t pairs);

}  // namespace assay::overhead
