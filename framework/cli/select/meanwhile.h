// SPDX-License-Identifier: Apache-2.0
//
// Work beside what the program does meanwhile.
//
//   std::future<int> half = Meanwhile([] { return 21; });
//   const int other = 21;
//   const int whole = other + half.get();

#pragma once

#include <future>
#include <type_traits>

namespace assay::select {

/// The result of `work`, from a thread of its own; where the system starts none
/// any more, `work` runs when the result is asked for.
template <class Work>
std::future<std::invoke_result_t<const Work&>> Meanwhile(const Work& work) {
  // A copy: libstdc++ moves from it for the thread that does not start.
  return std::async(std::launch::async | std::launch::deferred, work);
}

}  // namespace assay::select
