// SPDX-License-Identifier: Apache-2.0

#include "framework/ranks/threads/threads.h"

#include <algorithm>
#include <cstddef>
#include <thread>

#include "framework/ranks/threads/thread_call.h"
#include "framework/ranks/threads/thread_endpoint.h"
#include "framework/ranks/threads/world.h"

namespace assay::ranks {

std::vector<Status> RunThreads(int ranks,
                               const std::function<Status(Endpoint&)>& rank,
                               Choices* choices) {
  const int count = std::max(0, ranks);
  World world(count, choices);
  std::vector<Status> ended(static_cast<size_t>(count));
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < count; ++i) {
      threads.emplace_back([&, i] {
        world.Begin(i);
        ThreadCalls calls(&world, i);
        ThreadEndpoint endpoint(&world, &calls, i);
        Status& status = ended[static_cast<size_t>(i)];
        status = rank(endpoint);
        world.End(i, status);
      });
    }
  }
  return ended;
}

}  // namespace assay::ranks
