// SPDX-License-Identifier: Apache-2.0

#include "conformance/distributed/own/own_run.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "conformance/distributed/collective/contents.h"
#include "conformance/distributed/collective/judge.h"
#include "conformance/distributed/own/near.h"
#include "conformance/distributed/own/own_part.h"
#include "conformance/distributed/ranks/distributed_row.h"
#include "conformance/distributed/ranks/sent.h"
#include "framework/core/text.h"
#include "framework/ranks/fields.h"
#include "framework/ranks/reduction.h"
#include "framework/testing/record/run_facts.h"

namespace assay::distributed {
namespace {

using measure::Judgement;

/// When a rank came to its collectives and went on, by the clock that all ranks of a machine
/// have.
struct Stay {
  int64_t came = 0, went = 0;
};

constexpr void EachField(Stay& stay, const auto& visit) {
  visit(stay.came);
  visit(stay.went);
}

/// What a rank brought.
struct Brought {
  Stay stay;
  RankSent sent;
  std::vector<OwnTask> tasks;
};

/// For whom the others wait in a barrier.
constexpr std::chrono::milliseconds kLate(2);

/// A rank's part: its stay, what its library sent, and the buffers of its tasks, as bytes.
Result<std::string> Part(const OwnCase& test_case,
                         const ranks::Collective& what, const OwnSets& sets,
                         Endpoint& mine) {
  ASSAY_ASSIGN_OR_RETURN(std::vector<OwnTask> tasks,
                         TasksOf(test_case, what, mine.rank(), sets));
  const bool is_late = mine.rank() == mine.size() - 1;
  if (what.operation == ranks::Operation::kBarrier && is_late) {
    std::this_thread::sleep_for(kLate);
  }
  ASSAY_ASSIGN_OR_RETURN(const LibraryCount count, CountOf(mine));
  Stay stay{.came = record::SteadyMicroseconds()};
  ASSAY_RETURN_IF_ERROR(RunTasks(test_case, mine, tasks));
  stay.went = record::SteadyMicroseconds();
  ASSAY_ASSIGN_OR_RETURN(const RankSent sent,
                         SentSince(count, mine, /*asked=*/{}));
  std::string text;
  ranks::AppendFields(stay, &text);
  ranks::AppendFields(sent, &text);
  for (const OwnTask& each : tasks) AppendBytes(each.buffer.bytes(), &text);
  return text;
}

/// Of each rank. Data loss for other bytes.
Result<std::vector<Brought>> AllBrought(const OwnCase& test_case,
                                        const ranks::Collective& what,
                                        const OwnSets& sets,
                                        const std::vector<std::string>& found) {
  std::vector<Brought> all;
  for (size_t rank = 0; rank < found.size(); ++rank) {
    Brought& brought = all.emplace_back();
    ASSAY_ASSIGN_OR_RETURN(
        brought.tasks, TasksOf(test_case, what, static_cast<int>(rank), sets));
    std::string_view text = found[rank];
    bool fits = ranks::CutFields(&text, &brought.stay) &&
                ranks::CutFields(&text, &brought.sent);
    for (OwnTask& each : brought.tasks) {
      ASSAY_ASSIGN_OR_RETURN(
          const std::span<std::byte> buffer,
          ranks::BytesOf({0, each.buffer.num_elements()}, &each.buffer));
      fits = fits && CutBytes(&text, buffer);
    }
    if (!fits || !text.empty()) {
      return DataLoss("rank ", rank, " brought ", found[rank].size(),
                      " bytes of its buffers");
    }
  }
  return all;
}

/// Null where nobody left before all had come.
std::optional<Judgement> JudgeBarrier(const std::vector<Brought>& all) {
  const auto last = std::ranges::max_element(
      all, {}, [](const Brought& each) { return each.stay.came; });
  const auto first = std::ranges::min_element(
      all, {}, [](const Brought& each) { return each.stay.went; });
  if (last->stay.came <= first->stay.went) return std::nullopt;
  return Fails(kFailRanks,
               StrCat("rank ", first - all.begin(), " left the barrier ",
                      last->stay.came - first->stay.went, " us before rank ",
                      last - all.begin(), " came"));
}

/// What ranks had before, of each collective of the case.
Result<OwnSets> SetsOf(const OwnCase& test_case, int64_t seed) {
  OwnSets sets;
  for (int set = 0; set < test_case.sets(); ++set) {
    ASSAY_ASSIGN_OR_RETURN(
        OwnSet contents,
        ContentsOf(test_case.of, seed, set * test_case.of.what.ranks));
    sets.push_back(std::move(contents));
  }
  return sets;
}

/// What they have behind it: set by set, rank by rank.
std::vector<Tensor> GotOf(const OwnCase& test_case,
                          const std::vector<Brought>& all) {
  const int ranks = test_case.of.what.ranks;
  std::vector<Tensor> got(static_cast<size_t>(test_case.sets() * ranks));
  // Where a sum is taken again only the first one is judged.
  const bool is_one = test_case.of.numbers == Numbers::kDrawn;
  for (const Brought& brought : all) {
    for (const OwnTask& task :
         std::span(brought.tasks).first(is_one ? 1 : brought.tasks.size())) {
      got[static_cast<size_t>(task.set * ranks + task.rank)] = task.buffer;
    }
  }
  return got;
}

Result<std::optional<Judgement>> Judge(const OwnCase& test_case,
                                       const ranks::Collective& what,
                                       const OwnSets& sets,
                                       const std::vector<Brought>& all,
                                       DistributedRow* row) {
  const bool is_barrier = what.operation == ranks::Operation::kBarrier;
  if (is_barrier && test_case.sets() == 1) return JudgeBarrier(all);
  const std::vector<Tensor> got = GotOf(test_case, all);
  if (test_case.of.numbers == Numbers::kDrawn) {
    std::vector<std::vector<OwnTask>> ran;
    for (const Brought& each : all) ran.push_back(each.tasks);
    row->determinism = DeterminismOf(ran);
    return JudgeNear(what, sets[0], got, row);
  }
  std::vector<Wanted> wanted;
  for (const OwnSet& set : sets) {
    ASSAY_ASSIGN_OR_RETURN(std::vector<Wanted> of_set,
                           WantedOf(test_case.of, what.root, set));
    std::ranges::move(of_set, std::back_inserter(wanted));
  }
  const auto ranks = static_cast<size_t>(what.ranks);
  const auto name = [&](size_t i) {
    if (test_case.sets() == 1) return RankName(i);
    const char* const which =
        test_case.way == Way::kSplit ? " of half " : " in collective ";
    return StrCat(RankName(i % ranks), which, i / ranks);
  };
  return JudgeBits(got, wanted, name, row);
}

Result<Judgement> RunRoot(const OwnCase& test_case, int root, const RunOf& run,
                          record::Record* record) {
  ranks::Collective what = test_case.of.what;
  what.root = root;
  ASSAY_ASSIGN_OR_RETURN(const OwnSets sets, SetsOf(test_case, run.seed));
  DistributedRow row = RowOf(test_case.of, what, run, ToString(test_case.way));
  row.ranks = test_case.ranks();
  ASSAY_ASSIGN_OR_RETURN(
      const RanRanks ran,
      RunRanks(
          run.ranks, test_case.ranks(),
          [&](Endpoint& mine) { return Part(test_case, what, sets, mine); },
          run.scratch));
  if (!ran.judges) return Passes();
  row.run_us = ran.us;
  std::optional<Judgement> fault = ran.fault;
  if (!fault.has_value()) {
    ASSAY_ASSIGN_OR_RETURN(const auto all,
                           AllBrought(test_case, what, sets, ran.found));
    std::vector<RankSent> sent;
    for (const Brought& each : all) sent.push_back(each.sent);
    AddCounted(sent, &row);
    AddSimulated(sent, &row);
    ASSAY_ASSIGN_OR_RETURN(fault, Judge(test_case, what, sets, all, &row));
  }
  record->Add(row);
  return AtRoot(std::move(fault), what);
}

}  // namespace

Judgement RunCase(const OwnCase& test_case, const RunOf& run,
                  record::Record* record) {
  return RunRoots(test_case.of.roots(), record, [&](int root) {
    return RunRoot(test_case, root, run, record);
  });
}

}  // namespace assay::distributed
