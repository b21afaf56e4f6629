// SPDX-License-Identifier: Apache-2.0

#include "framework/supervise/supervisor.h"

#include <algorithm>
#include <deque>
#include <iterator>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "framework/core/numbers.h"
#include "framework/file/csv.h"
#include "framework/file/file.h"
#include "framework/supervise/crew.h"
#include "framework/supervise/worker_session.h"
#include "framework/testing/journal/journal.h"
#include "framework/testing/verdict/repeats.h"

namespace assay::supervise {
namespace {

namespace fs = std::filesystem;

constexpr size_t kWorthAWorker = 256;  // cases that outweigh a start
constexpr size_t kOfAShare = 512;      // so that all jobs end at about one time

/// How many shares the rows of a backend make. A launch has as many processes
/// as there are ranks: one is enough for all.
size_t SharesOf(size_t n_rows, const plan::BackendUse& backend,
                const SuperviseOptions& options) {
  const auto jobs = static_cast<size_t>(options.jobs);
  if (!options.deal || jobs == 1 || !backend.launch.launcher.empty()) return 1;
  return std::max(n_rows / kOfAShare,
                  std::min(jobs, 1 + n_rows / kWorthAWorker));
}

/// Deals the rows without a record, one by one, so that heavy neighbours go to
/// different shares. A job that is through with one takes the next.
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
    const plan::BackendUse& backend = plan.Backend(instance);
    const size_t n = SharesOf(mine.size(), backend, options);
    std::vector<Share> dealt(n, Share{&backend, {}});
    for (size_t i = 0; i < mine.size(); ++i) {
      dealt[i % n].rows.push_back(mine[i]);
    }
    std::move(dealt.begin(), dealt.end(), std::back_inserter(shares));
  }
  return shares;
}

/// Removes the files that ranks of a killed run left behind.
void RemoveScratch(const fs::path& directory) {
  std::vector<fs::path> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(directory, error)) {
    if (entry.path().extension() == ".scratch") found.push_back(entry.path());
  }
  for (const auto& path : found) std::filesystem::remove_all(path, error);
}

/// Behind the journals INSTANCE.NUMBER.journal of a run that goes on.
int FirstFreeNumber(const fs::path& directory) {
  int64_t last = 0;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(directory, error)) {
    const std::string number = entry.path().stem().extension().string();
    if (entry.path().extension() != ".journal" || number.empty()) continue;
    last = std::max(last, file::ParseInt(number.substr(1)).value_or(0));
  }
  return static_cast<int>(last) + 1;
}

constexpr int kTimesAlone = 3;
constexpr int kMostTraced = 32;  // cases whose spoiler is looked for
constexpr int kMostTrials = 64;  // runs that look for one

/// True when no process ran it, since its backend had been given up.
bool WasNotRun(const record::ResultRow& row) {
  return row.worker.empty() && row.outcome == record::Outcome::kTimeout;
}

/// The rows to repeat, in the plan's order. No timeout of a backend that was
/// given up is among them, since each would cost the limit again.
std::vector<const record::PlanRow*> Candidates(const plan::Plan& plan,
                                               const std::vector<size_t>& rows,
                                               const verdict::RawRecords& raw,
                                               size_t most) {
  std::vector<const record::PlanRow*> candidates;
  std::set<std::string_view> given_up;
  for (const auto& [key, record] : raw.records) {
    if (WasNotRun(record.result)) given_up.insert(key.first);
  }
  for (const size_t i : rows) {
    const record::PlanRow& row = plan.rows[i];
    const std::pair key(row.backend, row.test_id);
    const auto found = raw.records.find(key);
    if (candidates.size() == most) break;
    if (found == raw.records.end() || raw.repeats.contains(key)) continue;
    // A module that cannot be loaded fails in the same way again.
    const auto backend = raw.backends.find(row.backend);
    if (backend != raw.backends.end() &&
        !backend->second.unavailable_reason.empty()) {
      continue;
    }
    const record::ResultRow& first = found->second.result;
    if (first.outcome == record::Outcome::kTimeout &&
        given_up.contains(row.backend)) {
      continue;
    }
    if (record::IsFailure(first.outcome) &&
        record::IsUnexpected(verdict::Finalize(row, first).outcome)) {
      candidates.push_back(&row);
    }
  }
  return candidates;
}

/// The i-th of so many parts of equal length, or all but that one.
std::vector<const record::PlanRow*> PartOf(
    const std::vector<const record::PlanRow*>& rows, size_t n_parts, size_t i,
    bool without) {
  const auto begin = static_cast<std::ptrdiff_t>(i * rows.size() / n_parts);
  const auto end = static_cast<std::ptrdiff_t>((i + 1) * rows.size() / n_parts);
  if (!without) return {rows.begin() + begin, rows.begin() + end};
  std::vector<const record::PlanRow*> rest(rows.begin(), rows.begin() + begin);
  rest.insert(rest.end(), rows.begin() + end, rows.end());
  return rest;
}

/// True when a repeat shows what the first attempt did: of a case that passes
/// alone no pass, of one that crashed a crash.
bool IsSpoiled(const record::ResultRow& first, bool passes_alone,
               const record::ResultRow& again) {
  return passes_alone ? again.outcome != record::Outcome::kPass
                      : again.outcome == first.outcome;
}

class Repeater {
 public:
  Repeater(const plan::Plan& plan, const SuperviseOptions& options,
           verdict::RawRecords* raw)
      : plan_(plan),
        options_(options),
        raw_(*raw),
        scratch_(options.directory / "repeats") {}

  using Rows = std::vector<const record::PlanRow*>;

  Status Repeat(const Rows& candidates);
  Status Insist(Rows rows);

 private:
  using Attempts =
      std::map<const record::PlanRow*, std::vector<record::ResultRow>>;

  const record::ResultRow& First(const record::PlanRow& row) const {
    return raw_.records.at({row.backend, row.test_id}).result;
  }

  /// The rows that the first attempt's worker had run before it, in order.
  Rows Before(const record::PlanRow& row) const;

  /// For workers in an empty folder.
  Result<SuperviseOptions> Fresh(int64_t attempt, int64_t cases_per_process);

  /// Runs each row in a process of its own, as attempt `attempt`.
  Status RunAlone(const Rows& rows, int64_t attempt, Attempts* attempts);

  /// The outcome of `row` in a fresh worker, behind `before`.
  Result<record::ResultRow> RunBehind(const Rows& before,
                                      const record::PlanRow& row,
                                      int64_t attempt);

  /// Brings back what was run before, fewer and fewer; says at last which.
  Status FindSpoiler(const record::PlanRow& row, bool passes_alone,
                     std::vector<record::ResultRow>* attempts);

  Status Keep(const record::PlanRow& row,
              std::vector<record::ResultRow> attempts);

  const plan::Plan& plan_;
  const SuperviseOptions& options_;
  verdict::RawRecords& raw_;
  const fs::path scratch_;
};

Repeater::Rows Repeater::Before(const record::PlanRow& row) const {
  const auto of =
      [this](const record::PlanRow& one) -> const record::ResultRow* {
    const auto found = raw_.records.find({one.backend, one.test_id});
    return found == raw_.records.end() ? nullptr : &found->second.result;
  };
  const record::ResultRow& first = *of(row);
  Rows before;
  for (const record::PlanRow& other : plan_.rows) {
    const record::ResultRow* result = &other == &row ? nullptr : of(other);
    if (other.backend == row.backend && result != nullptr &&
        result->worker == first.worker &&
        result->started_us < first.started_us) {
      before.push_back(&other);
    }
  }
  std::ranges::sort(before, {}, [&](const record::PlanRow* one) {
    return of(*one)->started_us.value_or(0);
  });
  return before;
}

Result<SuperviseOptions> Repeater::Fresh(int64_t attempt,
                                         int64_t cases_per_process) {
  std::error_code ignored;
  fs::remove_all(scratch_, ignored);
  ASSAY_RETURN_IF_ERROR(file::MakeDirectory(scratch_));
  SuperviseOptions options = options_;
  options.directory = scratch_;
  options.facts.attempt = attempt;
  options.cases_per_process = cases_per_process;
  return options;
}

Status Repeater::RunAlone(const Rows& rows, int64_t attempt,
                          Attempts* attempts) {
  if (rows.empty()) return OkStatus();
  ASSAY_ASSIGN_OR_RETURN(const SuperviseOptions options, Fresh(attempt, 1));
  // As many shares of a backend as there may be workers.
  std::map<std::string_view, std::vector<Share>> dealt;
  std::map<std::string_view, size_t> next;
  for (const record::PlanRow* row : rows) {
    std::vector<Share>& shares = dealt[row->backend];
    const size_t i = next[row->backend]++ % static_cast<size_t>(options.jobs);
    if (i == shares.size())
      shares.push_back({&plan_.Backend(row->backend), {}});
    shares[i].rows.push_back(row);
  }
  std::deque<Share> shares;
  for (auto& [backend, mine] : dealt) {
    std::ranges::move(mine, std::back_inserter(shares));
  }
  verdict::RawRecords raw;
  ASSAY_RETURN_IF_ERROR(
      RunShares(std::move(shares), /*number=*/1, {&options, &raw, nullptr}));
  for (const record::PlanRow* row : rows) {
    const auto found = raw.repeats.find({row->backend, row->test_id});
    if (found == raw.repeats.end()) {
      return Internal("the repeat of ", row->test_id, " has no verdict");
    }
    record::ResultRow& result = found->second.front();
    if (!WasNotRun(result)) (*attempts)[row].push_back(std::move(result));
  }
  return OkStatus();
}

Result<record::ResultRow> Repeater::RunBehind(const Rows& before,
                                              const record::PlanRow& row,
                                              int64_t attempt) {
  ASSAY_ASSIGN_OR_RETURN(const SuperviseOptions options,
                         Fresh(attempt, std::ssize(before) + 1));
  Rows rows = before;
  rows.push_back(&row);
  verdict::RawRecords raw;
  ASSAY_RETURN_IF_ERROR(
      RunRows(plan_.Backend(row.backend), rows, options, &raw));
  const auto found = raw.repeats.find({row.backend, row.test_id});
  if (found == raw.repeats.end()) {
    return Internal("the repeat of ", row.test_id, " has no verdict");
  }
  return found->second.front();
}

Status Repeater::FindSpoiler(const record::PlanRow& row, bool passes_alone,
                             std::vector<record::ResultRow>* attempts) {
  Rows before = Before(row);
  if (before.empty()) return OkStatus();
  const record::ResultRow& first = First(row);
  const auto attempt = static_cast<int64_t>(attempts->size()) + 2;
  ASSAY_ASSIGN_OR_RETURN(record::ResultRow shown,
                         RunBehind(before, row, attempt));
  const bool is_spoiled = IsSpoiled(first, passes_alone, shown);
  // A. Zeller, R. Hildebrandt, "Simplifying and isolating failure-inducing
  // input", 2002, section 3.2: single parts, the nearest first, then all but
  // one part, then smaller parts.
  int trials = 0;
  for (size_t n_parts = 2; is_spoiled && n_parts <= before.size();) {
    const size_t n_tries = n_parts == 2 ? 2 : 2 * n_parts;
    bool is_less = false;
    for (size_t i = 0; i < n_tries && !is_less; ++i) {
      if (trials++ == kMostTrials) break;
      const bool without = i >= n_parts;
      Rows some = PartOf(before, n_parts, n_parts - 1 - i % n_parts, without);
      ASSAY_ASSIGN_OR_RETURN(record::ResultRow again,
                             RunBehind(some, row, attempt));
      if (!IsSpoiled(first, passes_alone, again)) continue;
      is_less = true;
      shown = std::move(again);
      before = std::move(some);
      n_parts = without ? n_parts - 1 : 2;
    }
    if (trials > kMostTrials) break;
    if (is_less) continue;
    if (n_parts == before.size()) break;
    n_parts = std::min(2 * n_parts, before.size());
  }
  shown.after =
      Joined(before, " ", [](const auto* one) { return one->test_id; });
  if (!is_spoiled) shown.after = verdict::AfterText(shown.after);
  attempts->push_back(std::move(shown));
  return OkStatus();
}

/// Those that passed, until one attempt does not.
Status Repeater::Insist(Rows rows) {
  Attempts attempts;
  for (int i = 2; i <= options_.attempts && !rows.empty(); ++i) {
    ASSAY_RETURN_IF_ERROR(RunAlone(rows, i, &attempts));
    std::erase_if(rows, [&](const record::PlanRow* row) {
      const std::vector<record::ResultRow>& mine = attempts[row];
      return mine.empty() || mine.back().outcome != record::Outcome::kPass;
    });
  }
  for (auto& [row, mine] : attempts) {
    ASSAY_RETURN_IF_ERROR(Keep(*row, std::move(mine)));
  }
  return OkStatus();
}

/// Into the journal of repeats, all at once, and into what is known.
Status Repeater::Keep(const record::PlanRow& row,
                      std::vector<record::ResultRow> attempts) {
  ASSAY_ASSIGN_OR_RETURN(
      journal::Journal journal,
      journal::Journal::Open(
          options_.directory /
              StrCat(plan::FileNameOf(row.backend), ".repeats.journal"),
          options_.plan_digest));
  for (record::ResultRow& attempt : attempts) {
    record::Record record;
    record.result = std::move(attempt);
    ASSAY_RETURN_IF_ERROR(journal.Append(record));
    raw_.repeats[{row.backend, row.test_id}].push_back(record.result);
  }
  return OkStatus();
}

Status Repeater::Repeat(const Rows& candidates) {
  Rows rows;
  Rows overdue;  // each costs a time limit, so one repeat is enough
  for (const record::PlanRow* row : candidates) {
    const bool late = First(*row).outcome == record::Outcome::kTimeout;
    (late ? overdue : rows).push_back(row);
  }
  Attempts attempts;
  for (int i = 0; i < kTimesAlone; ++i) {
    ASSAY_RETURN_IF_ERROR(RunAlone(rows, i + 2, &attempts));
  }
  ASSAY_RETURN_IF_ERROR(RunAlone(overdue, 2, &attempts));
  int traced = 0;
  for (const record::PlanRow* row : candidates) {
    std::vector<record::ResultRow>& mine = attempts[row];
    const auto count = [&](record::Outcome outcome) {
      return std::ranges::count(mine, outcome, &record::ResultRow::outcome);
    };
    const bool passes_alone = count(record::Outcome::kPass) == std::ssize(mine);
    const record::Outcome first = First(*row).outcome;
    const bool differs_alone = first != record::Outcome::kTimeout &&
                               count(record::Outcome::kPass) == 0 &&
                               count(first) == 0;
    if (!mine.empty() && (passes_alone || differs_alone) &&
        traced++ < kMostTraced) {
      ASSAY_RETURN_IF_ERROR(FindSpoiler(*row, passes_alone, &mine));
    }
    ASSAY_RETURN_IF_ERROR(Keep(*row, std::move(mine)));
  }
  std::error_code ignored;
  fs::remove_all(scratch_, ignored);
  return OkStatus();
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

int64_t MostRepeated(int64_t n_cases) {
  constexpr int64_t kLeast = 32;
  constexpr int64_t kShare = 10;  // one case of so many
  return std::max(kLeast, n_cases / kShare);
}

Status RepeatUnexpected(const plan::Plan& plan, const std::vector<size_t>& rows,
                        const SuperviseOptions& options,
                        verdict::RawRecords* raw) {
  const int64_t most = options.most_repeated.has_value()
                           ? *options.most_repeated
                           : MostRepeated(std::ssize(rows));
  Repeater repeater(plan, options, raw);
  ASSAY_RETURN_IF_ERROR(
      repeater.Repeat(Candidates(plan, rows, *raw, static_cast<size_t>(most))));
  if (options.attempts < 2) return OkStatus();
  Repeater::Rows passed;
  for (const size_t i : rows) {
    const std::pair key(plan.rows[i].backend, plan.rows[i].test_id);
    const auto found = raw->records.find(key);
    if (found != raw->records.end() && !raw->repeats.contains(key) &&
        found->second.result.outcome == record::Outcome::kPass) {
      passed.push_back(&plan.rows[i]);
    }
  }
  return repeater.Insist(std::move(passed));
}

}  // namespace assay::supervise
