// SPDX-License-Identifier: Apache-2.0

#include "framework/cli/supervisor.h"

#include <poll.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <deque>
#include <iterator>
#include <map>
#include <memory>

#include "framework/cli/repeat.h"
#include "framework/cli/worker_session.h"
#include "framework/testing/csv.h"
#include "framework/testing/digest.h"

namespace assay::inline v1 {
namespace {

constexpr int kLookEveryMs = 20;
constexpr size_t kWorthAWorker = 256;  // cases that outweigh a start

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

/// Cases of one backend for one session.
struct Share {
  const BackendUse* backend;
  std::vector<const PlanRow*> rows;
};

/// Deals the rows without a record, one by one, so that heavy neighbours go to
/// different workers.
std::deque<Share> Deal(const Plan& plan, const std::vector<size_t>& rows,
                       const SuperviseOptions& options, const RawRecords& raw) {
  std::map<std::string, std::vector<const PlanRow*>> left;
  for (const size_t i : rows) {
    const PlanRow& row = plan.rows[i];
    if (!raw.records.contains({row.backend, row.test_id})) {
      left[row.backend].push_back(&row);
    }
  }
  std::deque<Share> shares;
  for (auto& [instance, mine] : left) {
    if (options.shuffle) {
      std::ranges::sort(mine, {}, [&](const PlanRow* row) {
        return StableHash(StrCat(options.facts.seed, " ", row->test_id));
      });
    }
    const size_t most = options.deal ? 1 + mine.size() / kWorthAWorker : 1;
    const size_t workers =
        std::clamp<size_t>(options.jobs / left.size(), 1, most);
    std::vector<Share> dealt(workers, Share{&plan.Backend(instance), {}});
    for (size_t i = 0; i < mine.size(); ++i) {
      dealt[i % workers].rows.push_back(mine[i]);
    }
    std::move(dealt.begin(), dealt.end(), std::back_inserter(shares));
  }
  return shares;
}

/// Behind the journals INSTANCE.NUMBER.journal of a run that goes on.
int FirstFreeNumber(const std::filesystem::path& directory) {
  int64_t last = 0;
  std::error_code error;
  for (const auto& entry :
       std::filesystem::directory_iterator(directory, error)) {
    const std::string number = entry.path().stem().extension().string();
    if (entry.path().extension() != ".journal" || number.empty()) continue;
    last = std::max(last, ParseInt(number.substr(1)).value_or(0));
  }
  return static_cast<int>(last) + 1;
}

struct Crew {
  const SuperviseOptions* options;
  RawRecords* raw;
  std::function<void(int64_t done)> progress;  // may be none
};

/// Runs each share in a session, as many at a time as there are jobs.
Status RunShares(std::deque<Share> waiting, int number, const Crew& crew) {
  const SuperviseOptions& options = *crew.options;
  int64_t before = 0;  // of sessions that are through
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
    for (auto& session : active) {
      ASSAY_RETURN_IF_ERROR(session->Step());
      done += session->finished();
    }
    if (crew.progress) crew.progress(done);
    std::erase_if(active, [&](const auto& session) {
      if (!session->Done()) return false;
      before += session->finished();
      return true;
    });
    if (!active.empty()) WaitForWorkers(active);
  }
  return OkStatus();
}

}  // namespace

void InstallStopHandlers() {
  struct sigaction action = {};
  action.sa_handler = OnStop;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

Status RunRows(const BackendUse& backend, std::vector<const PlanRow*> rows,
               const SuperviseOptions& options, RawRecords* raw) {
  return RunShares({{&backend, std::move(rows)}}, /*number=*/1,
                   {&options, raw, nullptr});
}

Status Supervise(const Plan& plan, const std::vector<size_t>& rows,
                 const SuperviseOptions& options, RawRecords* raw) {
  ASSAY_RETURN_IF_ERROR(CollectFolder(options.directory, raw));
  std::deque<Share> shares = Deal(plan, rows, options, *raw);
  const auto planned = static_cast<int64_t>(rows.size());
  int64_t before = planned;  // by earlier runs
  for (const Share& share : shares) before -= std::ssize(share.rows);
  const auto progress = [&](int64_t done) {
    if (options.progress) options.progress(before + done, planned);
  };
  ASSAY_RETURN_IF_ERROR(RunShares(std::move(shares),
                                  FirstFreeNumber(options.directory),
                                  {&options, raw, progress}));
  return RepeatUnexpected(plan, rows, options, raw);
}

}  // namespace assay::inline v1
