// SPDX-License-Identifier: Apache-2.0

#include "framework/ranks/threads/thread_calls.h"

#include <algorithm>
#include <span>
#include <utility>

#include "framework/core/tensor.h"
#include "framework/core/text.h"
#include "framework/ranks/collective.h"
#include "framework/ranks/endpoint.h"
#include "framework/ranks/schedule.h"

namespace assay::ranks {
namespace {

/// Short vectors by an algorithm of few messages, long ones by one of short
/// messages.
Algorithm AlgorithmFor(const Collective& what) {
  switch (what.operation) {
    case Operation::kBarrier:
      return Algorithm::kDissemination;
    case Operation::kBroadcast:
    case Operation::kReduce:
      return Algorithm::kBinomial;
    case Operation::kAllReduce:
      return what.count < what.ranks ? Algorithm::kRecursiveDoubling
                                     : Algorithm::kRing;
    case Operation::kReduceScatter:
    case Operation::kAllGather:
      return Algorithm::kRing;
    case Operation::kGather:
    case Operation::kScatter:
    case Operation::kAllToAll:
      break;
  }
  return Algorithm::kLinear;
}

Collective CollectiveOf(const CollectiveCall& call, int ranks) {
  Collective what{.operation = call.operation,
                  .algorithm = Algorithm::kLinear,
                  .ranks = ranks,
                  .count = call.count,
                  .root = call.root};
  what.algorithm = AlgorithmFor(what);
  return what;
}

/// True for a call whose numbers are combined in the order of ranks.
bool IsOrdered(const CollectiveCall& call) {
  return call.reduction == Reduction::kCompose &&
         (call.operation == Operation::kReduce ||
          call.operation == Operation::kAllReduce ||
          call.operation == Operation::kReduceScatter);
}

}  // namespace

class ThreadCall final : public Pending {
 public:
  static Result<std::unique_ptr<ThreadCall>> Of(ThreadCalls* calls,
                                                const ThreadGroup& group,
                                                Channel channel,
                                                const CollectiveCall& call) {
    auto made = std::make_unique<ThreadCall>(calls, group, channel, call);
    ASSAY_RETURN_IF_ERROR(made->Begin());
    return made;
  }

  ThreadCall(ThreadCalls* calls, const ThreadGroup& group, Channel channel,
             const CollectiveCall& call)
      : calls_(*calls), group_(group), channel_(channel), call_(call) {}
  ~ThreadCall() override { calls_.Forget(this); }

  Status Wait() override { return calls_.WaitFor(*this); }

  bool is_done() const { return is_done_; }
  const Status& status() const { return status_; }
  /// The message that the call waits for; nothing where it is done.
  Wanted wanted() const {
    return {group_.MemberOf(schedule_[at_].from), channel_};
  }

  /// Takes all steps whose messages have arrived.
  void GoOn() {
    if (is_done_) return;
    const Status status = TakeSteps();
    if (!status.ok() || at_ == schedule_.size()) End(status);
  }

  /// Takes the message that wanted() named.
  void Take(const Message& message) {
    const Status status = PutIn(message.bytes);
    if (!status.ok()) return End(status);
    ++at_;
    has_sent_ = false;
    GoOn();
  }

 private:
  Status Begin() {
    asked_ = CollectiveOf(call_, static_cast<int>(group_.members.size()));
    ASSAY_ASSIGN_OR_RETURN(result_,
                           Tensor::Allocate(call_.type, {ElementsOf(asked_)}));
    ASSAY_ASSIGN_OR_RETURN(
        const CollectiveCall own,
        OwnCallOf(asked_, call_.reduction, group_.rank, &result_));
    if (call_.in.size() != own.in.size() ||
        call_.out.size() != own.out.size()) {
      return InvalidArgument("found ", call_.in.size(), " bytes of input and ",
                             call_.out.size(), " of output for ",
                             ToString(asked_), ", wanted ", own.in.size(),
                             " and ", own.out.size());
    }
    what_ = asked_;
    buffer_ = result_;
    if (IsOrdered(call_)) {
      what_.operation = Operation::kAllGather;
      what_.algorithm = Algorithm::kRing;
      what_.count = ElementsOf(asked_);
      ASSAY_ASSIGN_OR_RETURN(buffer_,
                             Tensor::Allocate(call_.type, {ElementsOf(what_)}));
    }
    ASSAY_ASSIGN_OR_RETURN(schedule_, ScheduleOf(what_, group_.rank));
    const OwnParts parts = OwnPartsOf(what_, group_.rank);
    ASSAY_ASSIGN_OR_RETURN(const auto in, BytesOf(parts.in, &buffer_));
    std::ranges::copy(call_.in, in.begin());
    GoOn();
    return OkStatus();
  }

  /// Takes steps until one has to wait, or all are taken.
  Status TakeSteps() {
    for (; at_ < schedule_.size(); ++at_, has_sent_ = false) {
      ASSAY_RETURN_IF_ERROR(SendStep());
      if (schedule_[at_].from == kNobody) continue;
      const std::optional<Message> came =
          calls_.world_.ReceiveNow(wanted(), calls_.rank_);
      if (!came.has_value()) break;
      ASSAY_RETURN_IF_ERROR(PutIn(came->bytes));
    }
    return OkStatus();
  }

  Status SendStep() {
    const Step& step = schedule_[at_];
    if (has_sent_ || step.to == kNobody) return OkStatus();
    has_sent_ = true;
    ASSAY_ASSIGN_OR_RETURN(const auto out, BytesOf(step.out, &buffer_));
    return calls_.world_.Send(channel_, calls_.rank_, group_.MemberOf(step.to),
                              out);
  }

  Status PutIn(std::span<const std::byte> came) {
    const Step& step = schedule_[at_];
    ASSAY_ASSIGN_OR_RETURN(const auto in, BytesOf(step.in, &buffer_));
    if (came.size() != in.size()) {
      return DataLoss("found ", came.size(), " bytes from rank ", step.from,
                      " for ", ToString(what_), ", wanted ", in.size());
    }
    if (step.combines) return Combine(call_.reduction, came, step.in, &buffer_);
    std::ranges::copy(came, in.begin());
    return OkStatus();
  }

  void End(const Status& status) {
    is_done_ = true;
    status_ = status.ok() ? PutOut() : status;
    calls_.Forget(this);
  }

  Status PutOut() {
    if (IsOrdered(call_)) ASSAY_RETURN_IF_ERROR(CombineInOrder());
    ASSAY_ASSIGN_OR_RETURN(
        const auto out, BytesOf(OwnPartsOf(asked_, group_.rank).out, &result_));
    std::ranges::copy(out, call_.out.begin());
    return OkStatus();
  }

  /// Combines the inputs of all ranks, which the buffer has.
  Status CombineInOrder() {
    const int64_t block = what_.count;
    for (int rank = 0; rank < what_.ranks; ++rank) {
      ASSAY_ASSIGN_OR_RETURN(const auto theirs,
                             BytesOf({rank * block, block}, &buffer_));
      if (rank == 0) {
        std::ranges::copy(theirs, result_.mutable_data());
        continue;
      }
      ASSAY_RETURN_IF_ERROR(
          Combine(call_.reduction, theirs, {0, block}, &result_));
    }
    return OkStatus();
  }

  ThreadCalls& calls_;
  const ThreadGroup group_;
  const Channel channel_;
  const CollectiveCall call_;
  Collective asked_;
  Tensor result_;
  Collective what_;  // that carries it
  Tensor buffer_;    // its own, or the result's memory
  Schedule schedule_;
  size_t at_ = 0;
  bool has_sent_ = false;  // of the step
  bool is_done_ = false;
  Status status_;
};

Result<std::unique_ptr<Pending>> ThreadCalls::Start(
    const ThreadGroup& group, Channel channel, const CollectiveCall& call) {
  ASSAY_ASSIGN_OR_RETURN(auto made, ThreadCall::Of(this, group, channel, call));
  if (!made->is_done()) under_way_.push_back(made.get());
  return std::unique_ptr<Pending>(std::move(made));
}

Result<std::optional<Message>> ThreadCalls::GoOn(
    const std::optional<Wanted>& other) {
  // Calls that end leave the list.
  for (ThreadCall* const each : std::vector(under_way_)) each->GoOn();
  std::vector<Wanted> wanted;
  if (other.has_value()) wanted.push_back(*other);
  for (const ThreadCall* const each : under_way_) {
    wanted.push_back(each->wanted());
  }
  if (wanted.empty()) return std::optional<Message>();
  ASSAY_ASSIGN_OR_RETURN(Message came, world_.Receive(wanted, rank_));
  const auto whose = std::ranges::find_if(
      under_way_,
      [&](const ThreadCall* each) { return each->wanted().Matches(came); });
  if (whose == under_way_.end()) return std::optional(std::move(came));
  (*whose)->Take(came);
  return std::optional<Message>();
}

Result<Message> ThreadCalls::Receive(const Wanted& wanted) {
  for (;;) {
    ASSAY_ASSIGN_OR_RETURN(std::optional<Message> came, GoOn(wanted));
    if (came.has_value()) return *std::move(came);
  }
}

Status ThreadCalls::WaitFor(const ThreadCall& call) {
  while (!call.is_done()) {
    ASSAY_RETURN_IF_ERROR(GoOn(std::nullopt).status());
  }
  return call.status();
}

}  // namespace assay::ranks
