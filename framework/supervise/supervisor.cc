// SPDX-License-Identifier: Apache-2.0

#include "framework/supervise/supervisor.h"

#include <algorithm>
#include <deque>
#include <iterator>
#include <map>
#include <vector>

#include "framework/core/hash.h"
#include "framework/file/csv.h"
#include "framework/supervise/crew.h"
#include "framework/supervise/repeat.h"

namespace assay::supervise {
namespace {

constexpr size_t kWorthAWorker = 256;  // cases that outweigh a start

/// Deals the rows without a record, one by one, so that heavy neighbours go to
/// different workers.
std::deque<Share> Deal(const plan::Plan& plan, const std::vector<size_t>& rows,
                       const SuperviseOptions& options,
                       const verdict::RawRecords& raw) {
  std::map<std::string, std::vector<const record::PlanRow*>> left;
  for (const size_t i : rows) {
    const record::PlanRow& row = plan.rows[i];
    if (!raw.records.contains({row.backend, row.test_id})) {
      left[row.backend].push_back(&row);
    }
  }
  std::deque<Share> shares;
  for (auto& [instance, mine] : left) {
    if (options.shuffle) {
      std::ranges::sort(mine, {}, [&](const record::PlanRow* row) {
        return core::StableHash(StrCat(options.facts.seed, " ", row->test_id));
      });
    }
    const size_t most = options.deal ? 1 + mine.size() / kWorthAWorker : 1;
    const plan::BackendUse& backend = plan.Backend(instance);
    // A launch has as many processes as there are ranks, and one is enough for
    // all.
    const size_t workers =
        !backend.launch.launcher.empty()
            ? 1
            : std::clamp<size_t>(options.jobs / left.size(), 1, most);
    std::vector<Share> dealt(workers, Share{&backend, {}});
    for (size_t i = 0; i < mine.size(); ++i) {
      dealt[i % workers].rows.push_back(mine[i]);
    }
    std::move(dealt.begin(), dealt.end(), std::back_inserter(shares));
  }
  return shares;
}

/// What ranks of a run that was killed left behind.
void RemoveScratch(const std::filesystem::path& directory) {
  std::vector<std::filesystem::path> found;
  std::error_code error;
  for (const auto& entry :
       std::filesystem::directory_iterator(directory, error)) {
    if (entry.path().extension() == ".scratch") found.push_back(entry.path());
  }
  for (const auto& path : found) std::filesystem::remove_all(path, error);
}

/// Behind the journals INSTANCE.NUMBER.journal of a run that goes on.
int FirstFreeNumber(const std::filesystem::path& directory) {
  int64_t last = 0;
  std::error_code error;
  for (const auto& entry :
       std::filesystem::directory_iterator(directory, error)) {
    const std::string number = entry.path().stem().extension().string();
    if (entry.path().extension() != ".journal" || number.empty()) continue;
    last = std::max(last, file::ParseInt(number.substr(1)).value_or(0));
  }
  return static_cast<int>(last) + 1;
}

}  // namespace

Status Supervise(const plan::Plan& plan, const std::vector<size_t>& rows,
                 const SuperviseOptions& given, verdict::RawRecords* raw) {
  SuperviseOptions options = given;
  options.plan_digest = plan::DigestOf(plan, rows);
  ASSAY_RETURN_IF_ERROR(
      verdict::CollectFolder(options.directory, options.plan_digest, raw));
  RemoveScratch(options.directory);
  std::deque<Share> shares = Deal(plan, rows, options, *raw);
  const auto planned = static_cast<int64_t>(rows.size());
  int64_t before = planned;  // by earlier runs
  for (const Share& share : shares) before -= std::ssize(share.rows);
  const auto progress = [&](int64_t done, int64_t unexpected) {
    if (options.progress) {
      options.progress({before + done, planned, unexpected});
    }
  };
  ASSAY_RETURN_IF_ERROR(RunShares(std::move(shares),
                                  FirstFreeNumber(options.directory),
                                  {&options, raw, progress}));
  return RepeatUnexpected(plan, rows, options, raw);
}

}  // namespace assay::supervise
