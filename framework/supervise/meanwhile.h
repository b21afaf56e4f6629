// SPDX-License-Identifier: Apache-2.0
//
// Work beside what the program does meanwhile, and work that threads share.

#pragma once

#include <algorithm>
#include <cstddef>
#include <future>
#include <system_error>
#include <thread>
#include <type_traits>
#include <vector>

namespace assay::supervise {

/// The result of `work`, from a thread of its own; where the system starts none
/// any more, `work` runs when the result is asked for.
template <class Work>
std::future<std::invoke_result_t<const Work&>> Meanwhile(const Work& work) {
  // A copy: libstdc++ moves from it for the thread that does not start.
  return std::async(std::launch::async | std::launch::deferred, work);
}

/// Runs `work`, which takes one of `n_items` after the other, on this thread
/// and on as many as the machine has, where each has some 64 items.
template <class Work>
void ShareAmongThreads(size_t n_items, const Work& work) {
  std::vector<std::jthread> threads(std::min<size_t>(
      n_items / 64, std::max(1U, std::thread::hardware_concurrency()) - 1));
  try {
    for (std::jthread& thread : threads) thread = std::jthread(work);
  } catch (const std::system_error&) {
    // As many as there can be.
  }
  work();
}

}  // namespace assay::supervise
