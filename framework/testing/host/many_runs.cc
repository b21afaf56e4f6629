// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/host/many_runs.h"

#include <time.h>

#include "framework/backend/executor.h"
#include "framework/testing/host/remote_network.h"

namespace assay::host {

std::chrono::nanoseconds ThreadTime() {
  timespec spent{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
  return std::chrono::seconds(spent.tv_sec) +
         std::chrono::nanoseconds(spent.tv_nsec);
}

Result<std::chrono::nanoseconds> RunMany(Network& network, Binding& binding,
                                         int64_t count, const SeesRun& sees) {
  if (auto* const remote = dynamic_cast<RemoteNetwork*>(&network)) {
    return remote->ForwardMany(binding, count, sees);
  }
  const auto start = ThreadTime();
  for (int64_t i = 0; i < count; ++i) {
    ASSAY_RETURN_IF_ERROR(Executor(network).Run(binding));
    if (!sees(binding.outputs())) break;
  }
  return ThreadTime() - start;
}

}  // namespace assay::host
