// SPDX-License-Identifier: Apache-2.0

#include "framework/dist/threads/threads.h"

#include <algorithm>
#include <cstddef>
#include <thread>

#include "framework/dist/threads/thread_call.h"
#include "framework/dist/threads/thread_endpoint.h"
#include "framework/dist/threads/world.h"

namespace assay::dist {

std::vector<Status> RunThreads(int ranks,
                               const std::function<Status(Endpoint&)>& rank,
                               Choices* choices,
                               std::vector<std::string>* left) {
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
  if (left != nullptr && std::ranges::all_of(ended, &Status::ok)) {
    *left = world.Left();
  }
  return ended;
}

}  // namespace assay::dist
