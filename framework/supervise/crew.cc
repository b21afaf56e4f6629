// SPDX-License-Identifier: Apache-2.0

#include "framework/supervise/crew.h"

#include <poll.h>

#include <atomic>
#include <csignal>
#include <memory>
#include <utility>

#include "framework/supervise/worker_session.h"

namespace assay::supervise {
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

Status RunShares(std::deque<Share> waiting, int number, const Crew& crew) {
  const SuperviseOptions& options = *crew.options;
  int64_t before = 0;  // of sessions that are through
  int64_t unexpected_before = 0;
  std::vector<std::unique_ptr<WorkerSession>> active;
  while (!waiting.empty() || !active.empty()) {
    if (stop_signal != 0) {
      return Cancelled("stopped by ",
                       stop_signal == SIGINT ? "SIGINT" : "SIGTERM");
    }
    if (!waiting.empty() && static_cast<int>(active.size()) < options.jobs) {
      const Share& share = waiting.front();
      active.push_back(std::make_unique<WorkerSession>(
          *share.backend, number++, share.rows, options, crew.raw));
      waiting.pop_front();
      ASSAY_RETURN_IF_ERROR(active.back()->StartWorker());
      continue;
    }
    int64_t done = before;
    int64_t unexpected = unexpected_before;
    for (auto& session : active) {
      ASSAY_RETURN_IF_ERROR(session->Step());
      done += session->finished();
      unexpected += session->unexpected();
    }
    if (crew.progress) crew.progress(done, unexpected);
    std::erase_if(active, [&](const auto& session) {
      if (!session->Done()) return false;
      before += session->finished();
      unexpected_before += session->unexpected();
      return true;
    });
    if (!active.empty()) WaitForWorkers(active);
  }
  return OkStatus();
}

void InstallStopHandlers() {
  struct sigaction action = {};
  action.sa_handler = OnStop;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

Status RunRows(const plan::BackendUse& backend,
               std::vector<const record::PlanRow*> rows,
               const SuperviseOptions& options, verdict::RawRecords* raw) {
  return RunShares({{&backend, std::move(rows)}}, /*number=*/1,
                   {&options, raw, nullptr});
}

}  // namespace assay::supervise
