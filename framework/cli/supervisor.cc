// SPDX-License-Identifier: Apache-2.0

#include "framework/cli/supervisor.h"

#include <poll.h>

#include <atomic>
#include <csignal>
#include <memory>

#include "framework/cli/worker_session.h"

namespace assay::inline v1 {
namespace {

constexpr int kLookEveryMs = 20;

std::atomic<int> stop_signal = 0;

extern "C" void OnStop(int signal) { stop_signal = signal; }

/// Until a worker ends, or it is time to look for overdue ones.
void WaitForWorkers(const std::vector<std::unique_ptr<WorkerSession>>& active) {
  std::vector<pollfd> descriptors;
  for (const auto& session : active) {
    if (session->descriptor() >= 0) {
      descriptors.push_back({session->descriptor(), POLLIN, 0});
    }
  }
  poll(descriptors.data(), descriptors.size(), kLookEveryMs);
}

}  // namespace

void InstallStopHandlers() {
  struct sigaction action = {};
  action.sa_handler = OnStop;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

Status Supervise(const Plan& plan, const std::vector<size_t>& rows,
                 const SuperviseOptions& options, RawRecords* raw) {
  std::vector<std::string> waiting;
  for (const BackendUse& backend : plan.backends) {
    waiting.push_back(backend.instance);
  }
  std::vector<std::unique_ptr<WorkerSession>> active;
  const auto planned = static_cast<int64_t>(rows.size());
  int64_t before = 0;  // of sessions that are through
  while (!waiting.empty() || !active.empty()) {
    if (stop_signal != 0) {
      return Cancelled("stopped by ",
                       stop_signal == SIGINT ? "SIGINT" : "SIGTERM");
    }
    if (!waiting.empty() && static_cast<int>(active.size()) < options.jobs) {
      active.push_back(std::make_unique<WorkerSession>(plan, rows, options,
                                                       waiting.front(), raw));
      waiting.erase(waiting.begin());
      ASSAY_RETURN_IF_ERROR(active.back()->Start());
      continue;
    }
    int64_t done = before;
    for (auto& session : active) {
      ASSAY_RETURN_IF_ERROR(session->Step());
      done += session->finished();
    }
    if (options.progress) options.progress(done, planned);
    std::erase_if(active, [&](const auto& session) {
      if (!session->Done()) return false;
      before += session->finished();
      return true;
    });
    if (!active.empty()) WaitForWorkers(active);
  }
  return OkStatus();
}

}  // namespace assay::inline v1
