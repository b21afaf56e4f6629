// SPDX-License-Identifier: Apache-2.0

#include "conformance/distributed/own/own_case.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>

#include "framework/ranks/endpoint.h"

namespace assay::distributed {
namespace {

using ranks::Operation;

constexpr std::array<std::string_view, kWays.size()> kWayNames = {
    "own",     "own_in_place", "own_started",    "own_started_in_place",
    "own_two", "own_split",    "own_split_ties", "own_split_none"};

/// A call whose input and output lie apart, in memory of their own.
class Apart {
 public:
  static Result<std::unique_ptr<Apart>> Of(const OwnTask& task,
                                           ranks::Reduction reduction) {
    Tensor buffer = task.buffer;
    ASSAY_ASSIGN_OR_RETURN(
        const CollectiveCall call,
        ranks::OwnCallOf(task.what, reduction, task.rank, &buffer));
    return std::make_unique<Apart>(call);
  }

  explicit Apart(const CollectiveCall& call)
      : within_(call),
        in_(call.in.begin(), call.in.end()),
        out_(call.out.size()),
        call_(call) {
    call_.in = in_;
    call_.out = out_.bytes();
  }

  const CollectiveCall& call() const { return call_; }

  /// Checks the memory, and copies the output into the task's buffer.
  Status Finish() const {
    if (!std::ranges::equal(in_, within_.in)) {
      return DataLoss(ToString(call_.operation), " changed its input");
    }
    if (!out_.is_whole()) {
      return DataLoss(ToString(call_.operation), " wrote beside its output");
    }
    std::ranges::copy(call_.out, within_.out.begin());
    return OkStatus();
  }

 private:
  const CollectiveCall within_;  // spans of the task's buffer
  std::vector<std::byte> in_;
  Guarded out_;
  CollectiveCall call_;
};

Status RunApart(Endpoint& mine, ranks::Reduction reduction, OwnTask& task) {
  ASSAY_ASSIGN_OR_RETURN(const auto apart, Apart::Of(task, reduction));
  ASSAY_RETURN_IF_ERROR(mine.Collect(apart->call()));
  return apart->Finish();
}

/// Makes a blocking call, or a nonblocking one and its wait.
Status Collect(Endpoint& mine, const CollectiveCall& call, bool starts) {
  if (!starts) return mine.Collect(call);
  ASSAY_ASSIGN_OR_RETURN(const auto pending, mine.Start(call));
  return pending->Wait();
}

/// The buffer has input and output apart: for this call both are in the first
/// half.
Status AllToAllInPlace(Endpoint& mine, CollectiveCall call, bool starts) {
  std::vector<std::byte> both(call.in.begin(), call.in.end());
  const std::span<std::byte> out = std::exchange(call.out, both);
  call.in = both;
  ASSAY_RETURN_IF_ERROR(Collect(mine, call, starts));
  std::ranges::copy(both, out.begin());
  return OkStatus();
}

Status RunInPlace(Endpoint& mine, ranks::Reduction reduction, OwnTask& task,
                  bool starts) {
  ASSAY_ASSIGN_OR_RETURN(
      const CollectiveCall call,
      ranks::OwnCallOf(task.what, reduction, task.rank, &task.buffer));
  if (task.what.operation == ranks::Operation::kAllToAll) {
    return AllToAllInPlace(mine, call, starts);
  }
  return Collect(mine, call, starts);
}

/// Starts all tasks, then waits for them, on every second rank in the reverse
/// order.
Status RunStarted(Endpoint& mine, ranks::Reduction reduction,
                  std::vector<OwnTask>& tasks) {
  std::vector<std::unique_ptr<Apart>> calls;
  std::vector<std::unique_ptr<Pending>> pending;
  for (const OwnTask& task : tasks) {
    ASSAY_ASSIGN_OR_RETURN(auto apart, Apart::Of(task, reduction));
    ASSAY_ASSIGN_OR_RETURN(auto begun, mine.Start(apart->call()));
    calls.push_back(std::move(apart));
    pending.push_back(std::move(begun));
  }
  if (mine.rank() % 2 == 1) std::ranges::reverse(pending);
  for (const auto& each : pending) ASSAY_RETURN_IF_ERROR(each->Wait());
  for (const auto& each : calls) ASSAY_RETURN_IF_ERROR(each->Finish());
  return OkStatus();
}

/// The arguments of a rank's split, and the rank that it gets.
struct Place {
  int color = 0, key = 0, rank = 0;
};

/// Halves are of even and of odd ranks.
Place PlaceOf(Way way, int rank, int ranks_of_half) {
  const int at = rank / 2;  // among those of its half
  Place place{rank % 2, -rank, ranks_of_half - 1 - at};
  if (way == Way::kSplitNone && place.color == 1) place.color = kNoColor;
  if (way != Way::kSplitTies) return place;
  const int pair = at / 2;
  place.key = -pair;
  place.rank = std::max(0, ranks_of_half - 2 * (pair + 1)) + at % 2;
  return place;
}

/// Runs the task on the half of the ranks that it belongs to.
Status RunSplit(Endpoint& mine, const OwnCase& test_case,
                std::vector<OwnTask>& tasks) {
  const Place place =
      PlaceOf(test_case.way, mine.rank(), test_case.of.what.ranks);
  ASSAY_ASSIGN_OR_RETURN(const auto half, mine.Split(place.color, place.key));
  if ((half == nullptr) != (place.color == kNoColor)) {
    return DataLoss("found ", half == nullptr ? "no" : "a",
                    " communicator for the color ", place.color);
  }
  if (half == nullptr) return OkStatus();
  OwnTask& task = tasks[0];
  if (half->rank() != task.rank || half->size() != task.what.ranks) {
    return DataLoss("found rank ", half->rank(), " of ", half->size(),
                    " in a half of the ranks, wanted ", task.rank, " of ",
                    task.what.ranks);
  }
  return RunApart(*half, test_case.of.reduction, task);
}

/// A buffer with the first elements of each block.
Result<Tensor> Shortened(const Tensor& buffer, const ranks::Collective& what,
                         int64_t count) {
  ranks::Collective shorter = what;
  shorter.count = count;
  ASSAY_ASSIGN_OR_RETURN(
      Tensor made,
      Tensor::Allocate(buffer.dtype(), {ranks::ElementsOf(shorter)}));
  const int64_t blocks =
      what.count == 0 ? 0 : buffer.num_elements() / what.count;
  for (int64_t i = 0; i < blocks; ++i) {
    Tensor from = buffer;
    ASSAY_ASSIGN_OR_RETURN(const auto in,
                           ranks::BytesOf({i * what.count, count}, &from));
    ASSAY_ASSIGN_OR_RETURN(const auto out,
                           ranks::BytesOf({i * count, count}, &made));
    std::ranges::copy(in, out.begin());
  }
  return made;
}

Status AddVariants(const ranks::Collective& what, int rank, const OwnSet& set,
                   std::vector<OwnTask>* tasks) {
  const auto at = static_cast<size_t>(rank);
  ASSAY_ASSIGN_OR_RETURN(Tensor again, set[at].Clone());
  ranks::Collective half = what;
  half.count = (what.count + 1) / 2;
  ASSAY_ASSIGN_OR_RETURN(Tensor shorter, Shortened(set[at], what, half.count));
  ASSAY_ASSIGN_OR_RETURN(Tensor turned, set[(at + 1) % set.size()].Clone());
  tasks->push_back({what, 0, rank, std::move(again)});
  tasks->push_back({half, 0, rank, std::move(shorter)});
  tasks->push_back({what, 0, rank, std::move(turned)});
  return OkStatus();
}

}  // namespace

std::string_view ToString(Way way) {
  return kWayNames[static_cast<size_t>(way)];
}

int OwnCase::ranks() const {
  return Splits(way) ? 2 * of.what.ranks : of.what.ranks;
}

int OwnCase::sets() const {
  return way == Way::kSplit || way == Way::kSplitTies || way == Way::kTwo ? 2
                                                                          : 1;
}

std::string OwnCase::test_id() const {
  return IdOf(of, ToString(way), ranks());
}

Result<std::vector<OwnTask>> TasksOf(const OwnCase& test_case,
                                     const ranks::Collective& what, int rank,
                                     const OwnSets& sets) {
  std::vector<OwnTask> tasks;
  const bool is_split = Splits(test_case.way);
  const int own_rank =
      is_split ? PlaceOf(test_case.way, rank, what.ranks).rank : rank;
  for (int set = 0; set < test_case.sets(); ++set) {
    if (is_split && set != rank % 2) continue;
    ASSAY_ASSIGN_OR_RETURN(
        Tensor buffer,
        sets[static_cast<size_t>(set)][static_cast<size_t>(own_rank)].Clone());
    tasks.push_back({what, set, own_rank, std::move(buffer)});
  }
  if (test_case.of.numbers == Numbers::kDrawn) {
    ASSAY_RETURN_IF_ERROR(AddVariants(what, rank, sets[0], &tasks));
  }
  return tasks;
}

Status RunTasks(const OwnCase& test_case, Endpoint& mine,
                std::vector<OwnTask>& tasks) {
  const ranks::Reduction reduction = test_case.of.reduction;
  if (Reduces(test_case.of.what.operation) && !mine.has(reduction)) {
    return Unsupported(Reason::kOperator, "the library has no ",
                       ToString(reduction));
  }
  switch (test_case.way) {
    case Way::kStarted:
    case Way::kTwo:
      return RunStarted(mine, reduction, tasks);
    case Way::kSplit:
    case Way::kSplitTies:
    case Way::kSplitNone:
      return RunSplit(mine, test_case, tasks);
    case Way::kInPlace:
    case Way::kStartedInPlace:
      return RunInPlace(mine, reduction, tasks[0],
                        test_case.way == Way::kStartedInPlace);
    case Way::kOwn:
      break;
  }
  for (OwnTask& task : tasks) {
    ASSAY_RETURN_IF_ERROR(RunApart(mine, reduction, task));
  }
  return OkStatus();
}

}  // namespace assay::distributed
