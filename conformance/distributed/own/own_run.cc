// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <string_view>
#include <thread>
#include <utility>

#include "conformance/distributed/own/own_case.h"
#include "framework/core/text.h"
#include "framework/ranks/endpoint.h"
#include "framework/ranks/fields.h"

namespace assay::distributed {
namespace {

using measure::Judgement;

/// A sum over all ranks in long double, and the sum of magnitudes.
struct Sum {
  long double value = 0, magnitude = 0;
};

template <class T>
Sum SumAt(const OwnSet& before, size_t i) {
  Sum sum;
  for (const Tensor& each : before) {
    const long double x = each.elements<T>()[i];
    sum.value += x;
    sum.magnitude += std::abs(x);
  }
  return sum;
}

template <class T>
long double UlpOf(long double x) {
  const T magnitude = static_cast<T>(std::abs(x));
  return std::nextafter(magnitude, std::numeric_limits<T>::infinity()) -
         magnitude;
}

template <class T>
std::optional<Judgement> JudgeSums(const ranks::Collective& what,
                                   const OwnSet& before,
                                   std::span<const Tensor> got,
                                   DistributedRow* row) {
  const long double additions = what.ranks - 1;
  const long double rounding =
      additions * std::numeric_limits<T>::epsilon() / 2;
  const long double share = rounding / (1 - rounding);
  std::optional<Judgement> first;
  long double greatest = 0;
  for (size_t rank = 0; rank < got.size(); ++rank) {
    const ranks::Part part =
        ranks::OwnPartsOf(what, static_cast<int>(rank)).out;
    for (int64_t i = part.begin; i < part.begin + part.count; ++i) {
      const auto at = static_cast<size_t>(i);
      const Sum sum = SumAt<T>(before, at);
      const T found = got[rank].elements<T>()[at];
      const long double error = std::abs(found - sum.value);
      greatest = std::max(greatest, error / UlpOf<T>(sum.value));
      if (error <= share * sum.magnitude || first.has_value()) continue;
      first =
          Fails(kFailBits,
                StrCat(RankName(rank), ", element ", i, ": found ", found,
                       ", wanted ", static_cast<double>(sum.value), " within ",
                       static_cast<double>(share * sum.magnitude)));
    }
  }
  row->max_ulp = static_cast<double>(greatest);
  return first;
}

/// Null where all ranks have the same bits.
std::optional<Judgement> JudgeAgreement(std::span<const Tensor> got,
                                        DistributedRow* row) {
  row->rank_agreement = 1;
  for (size_t rank = 1; rank < got.size(); ++rank) {
    if (std::ranges::equal(got[rank].bytes(), got[0].bytes())) continue;
    row->rank_agreement = 0;
    int64_t i = 0;
    while (
        std::ranges::equal(PartOf(got[rank], {i, 1}), PartOf(got[0], {i, 1}))) {
      ++i;
    }
    return Fails(kFailBits, StrCat(RankName(rank), ", element ", i,
                                   ": found other bits than those of rank 0: ",
                                   ElementText(got[rank], i), " and ",
                                   ElementText(got[0], i)));
  }
  return std::nullopt;
}

/// True where the results of two tasks have the same bits, as far as the
/// shorter one goes.
bool AreAlike(const OwnTask& one, const OwnTask& other) {
  const ranks::Part a = ranks::OwnPartsOf(one.what, one.rank).out;
  const ranks::Part b = ranks::OwnPartsOf(other.what, other.rank).out;
  const int64_t count = std::min(a.count, b.count);
  return std::ranges::equal(PartOf(one.buffer, {a.begin, count}),
                            PartOf(other.buffer, {b.begin, count}));
}

/// When a rank entered and left its collectives, in microseconds of the
/// machine's clock.
struct Stay {
  int64_t came = 0, went = 0;
};

constexpr void EachField(Stay& stay, const auto& visit) {
  ranks::VisitEach(visit, stay.came, stay.went);
}

struct Brought {
  Stay stay;
  RankSent sent;
  std::vector<OwnTask> tasks;
};

/// The last rank enters a barrier late by this.
constexpr std::chrono::milliseconds kLate(2);

/// Runs a rank's part, and returns its stay, its library's count and its
/// buffers as bytes.
Result<std::string> RunPart(const OwnCase& test_case,
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

/// Reads what all ranks returned. Data loss for another length.
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

/// Null where no rank left before all had entered.
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

/// The ranks' contents before each collective of the case.
Result<OwnSets> SetsOf(const OwnCase& test_case, int64_t seed) {
  OwnSets sets;
  for (int set = 0; set < test_case.sets(); ++set) {
    ASSAY_ASSIGN_OR_RETURN(
        sets.emplace_back(),
        ContentsOf(test_case.of, seed, set * test_case.of.what.ranks));
  }
  return sets;
}

/// The ranks' buffers after the case: set by set, rank by rank.
std::vector<Tensor> GotOf(const OwnCase& test_case,
                          const std::vector<Brought>& all) {
  const int ranks = test_case.of.what.ranks;
  std::vector<Tensor> got(static_cast<size_t>(test_case.sets() * ranks));
  // Variants of a sum are for DeterminismOf; only the first task is judged.
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
  const bool is_of_all = test_case.sets() == 1 && !Splits(test_case.way);
  if (is_barrier && is_of_all) return JudgeBarrier(all);
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
    if (is_of_all) return RankName(i);
    const char* const which =
        Splits(test_case.way) ? " of half " : " in collective ";
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
  return RunAndJudge(
      run, row,
      [&](Endpoint& mine) { return RunPart(test_case, what, sets, mine); },
      [&](const auto& found,
          DistributedRow* judged) -> Result<std::optional<Judgement>> {
        ASSAY_ASSIGN_OR_RETURN(const auto all,
                               AllBrought(test_case, what, sets, found));
        std::vector<RankSent> sent;
        for (const Brought& each : all) sent.push_back(each.sent);
        AddCounted(sent, judged);
        AddSimulated(sent, judged);
        return Judge(test_case, what, sets, all, judged);
      },
      record, RootText(what));
}

}  // namespace

std::optional<Judgement> JudgeNear(const ranks::Collective& what,
                                   const OwnSet& before,
                                   std::span<const Tensor> got,
                                   DistributedRow* row) {
  const auto differs = got[0].dtype() == DType::kFloat32
                           ? JudgeSums<float>(what, before, got, row)
                           : JudgeSums<double>(what, before, got, row);
  if (what.operation != ranks::Operation::kAllReduce) return differs;
  const auto disagrees = JudgeAgreement(got, row);
  return differs.has_value() ? differs : disagrees;
}

std::string DeterminismOf(const std::vector<std::vector<OwnTask>>& ran) {
  std::string text;
  size_t variant = 0;
  for (const char* const name : {"run", "sizes", "order"}) {
    ++variant;
    const bool is_same = std::ranges::all_of(ran, [&](const auto& tasks) {
      return AreAlike(tasks[0], tasks[variant]);
    });
    if (is_same) text += StrCat(text.empty() ? "" : "+", name);
  }
  return text.empty() ? "none" : text;
}

Judgement RunCase(const OwnCase& test_case, const RunOf& run,
                  record::Record* record) {
  return RunRoots(test_case.of.roots(), record, [&](int root) {
    return RunRoot(test_case, root, run, record);
  });
}

}  // namespace assay::distributed
