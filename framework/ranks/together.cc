// SPDX-License-Identifier: Apache-2.0

#include "framework/ranks/together.h"

#include <algorithm>
#include <cstddef>
#include <deque>
#include <string>
#include <unordered_map>
#include <utility>

#include "framework/core/numbers.h"
#include "framework/core/text.h"

namespace assay::ranks {
namespace {

using Message = std::vector<std::byte>;

/// The progress of one rank.
struct Place {
  size_t step = 0;
  bool has_begun = false;  // the step: `out` has the bytes that go out
  bool is_sent = false, is_received = false;
  Message out;
  bool is_ready = true;
};

class Ranks {
 public:
  Ranks(std::span<const Schedule> schedules, std::span<Tensor> buffers,
        const TogetherOptions& options)
      : schedules_(schedules),
        buffers_(buffers),
        options_(options),
        places_(schedules.size()),
        sent_(schedules.size()),
        drawn_(options.seed) {
    for (size_t rank = 0; rank < schedules.size(); ++rank) {
      ready_.push_back(static_cast<int>(rank));
    }
  }

  Result<std::vector<Cost>> Run() {
    if (schedules_.size() != buffers_.size()) {
      return InvalidArgument("found ", buffers_.size(), " buffers, wanted ",
                             schedules_.size());
    }
    while (!ready_.empty()) ASSAY_RETURN_IF_ERROR(GoOn(TakeReady()));
    ASSAY_RETURN_IF_ERROR(StandStill());
    ASSAY_RETURN_IF_ERROR(CheckAllReceived());
    return std::move(sent_);
  }

 private:
  const Step* StepOf(int rank) const {
    const auto place = static_cast<size_t>(rank);
    const Schedule& schedule = schedules_[place];
    const size_t at = places_[place].step;
    return at < schedule.size() ? &schedule[at] : nullptr;
  }
  int64_t Way(int from, int to) const {
    return int64_t{from} * std::ssize(schedules_) + to;
  }
  bool IsAwaited(int from, int to) const {
    const Step* const step = StepOf(to);
    return step != nullptr && step->from == from &&
           !places_[static_cast<size_t>(to)].is_received;
  }

  int TakeReady() {
    const size_t at = drawn_.Below(ready_.size());
    const int rank = std::exchange(ready_[at], ready_.back());
    ready_.pop_back();
    places_[static_cast<size_t>(rank)].is_ready = false;
    return rank;
  }

  void Wake(int rank) {
    Place& place = places_[static_cast<size_t>(rank)];
    if (std::exchange(place.is_ready, true)) return;
    ready_.push_back(rank);
  }

  /// Runs the rank until it has to wait for another one.
  Status GoOn(int rank) {
    Place& place = places_[static_cast<size_t>(rank)];
    while (const Step* const step = StepOf(rank)) {
      ASSAY_RETURN_IF_ERROR(Begin(rank, *step));
      TrySend(rank, *step);
      ASSAY_RETURN_IF_ERROR(TryReceive(rank, *step));
      if (!place.is_sent || !place.is_received) return OkStatus();
      place.has_begun = false;
      ++place.step;
    }
    return OkStatus();
  }

  Status Begin(int rank, const Step& step) {
    Place& place = places_[static_cast<size_t>(rank)];
    if (place.has_begun) return OkStatus();
    for (const int other : {step.to, step.from}) {
      if (other == kNobody || (other >= 0 && other < std::ssize(schedules_))) {
        continue;
      }
      return InvalidArgument("step ", place.step, " of rank ", rank, " names ",
                             other, ", wanted a rank below ",
                             std::ssize(schedules_));
    }
    place.has_begun = true;
    place.is_sent = step.to == kNobody;
    place.is_received = step.from == kNobody;
    if (step.from != kNobody) Wake(step.from);
    if (place.is_sent) return OkStatus();
    ASSAY_ASSIGN_OR_RETURN(
        const auto out,
        BytesOf(step.out, &buffers_[static_cast<size_t>(rank)]));
    place.out.assign(out.begin(), out.end());
    return OkStatus();
  }

  void TrySend(int rank, const Step& step) {
    Place& place = places_[static_cast<size_t>(rank)];
    if (place.is_sent) return;
    if (options_.is_synchronous && !IsAwaited(rank, step.to)) return;
    place.is_sent = true;
    if (step.to != rank) {
      Cost& sent = sent_[static_cast<size_t>(rank)];
      sent.elements += step.out.count;
      sent.messages += 1;
    }
    under_way_[Way(rank, step.to)].push_back(std::move(place.out));
    Wake(step.to);
  }

  Status TryReceive(int rank, const Step& step) {
    Place& place = places_[static_cast<size_t>(rank)];
    if (place.is_received) return OkStatus();
    const auto way = under_way_.find(Way(step.from, rank));
    if (way == under_way_.end()) return OkStatus();
    const Message came = std::move(way->second.front());
    way->second.pop_front();
    if (way->second.empty()) under_way_.erase(way);
    Tensor* const buffer = &buffers_[static_cast<size_t>(rank)];
    ASSAY_ASSIGN_OR_RETURN(const auto in, BytesOf(step.in, buffer));
    if (in.size() != came.size()) {
      return DataLoss("step ", place.step, " of rank ", rank, ": found ",
                      came.size(), " bytes from rank ", step.from, ", wanted ",
                      in.size());
    }
    place.is_received = true;
    if (step.combines) {
      return Combine(options_.reduction, came, step.in, buffer);
    }
    std::ranges::copy(came, in.begin());
    return OkStatus();
  }

  /// Names the first rank that cannot go on, and the chain of ranks that it
  /// waits for.
  Status StandStill() const {
    constexpr size_t kMostNamed = 8;
    std::vector<int> chain;
    for (int rank = 0; rank < std::ssize(schedules_) && chain.empty(); ++rank) {
      int at = rank;
      while (StepOf(at) != nullptr && std::ranges::count(chain, at) == 0) {
        chain.push_back(at);
        const Step& step = *StepOf(at);
        at = places_[static_cast<size_t>(at)].is_received ? step.to : step.from;
      }
    }
    if (chain.empty()) return OkStatus();
    const size_t named = std::min(chain.size(), kMostNamed);
    std::vector<std::string> texts;
    for (size_t i = 0; i < named; ++i) texts.push_back(WaitText(chain[i]));
    if (named < chain.size()) {
      texts.push_back(StrCat("and ", chain.size() - named, " more"));
    }
    return FailedPrecondition("ranks stand still: ", Joined(texts, "; "));
  }

  /// The wait of a rank that cannot go on.
  std::string WaitText(int rank) const {
    const Place& place = places_[static_cast<size_t>(rank)];
    const Step& step = *StepOf(rank);
    const int other = place.is_received ? step.to : step.from;
    std::string text =
        StrCat("rank ", rank, " at step ", place.step,
               place.is_received ? " sends to" : " waits for", " rank ", other);
    if (StepOf(other) == nullptr) text += ", which has ended";
    return text;
  }

  Status CheckAllReceived() const {
    if (under_way_.empty()) return OkStatus();
    const auto& [way, messages] = *std::ranges::min_element(
        under_way_, {}, [](const auto& each) { return each.first; });
    const int64_t ranks = std::ssize(schedules_);
    return DataLoss("nobody received ", messages.size(), " messages from rank ",
                    way / ranks, " to rank ", way % ranks);
  }

  std::span<const Schedule> schedules_;
  std::span<Tensor> buffers_;
  const TogetherOptions& options_;
  std::vector<Place> places_;
  std::vector<Cost> sent_;
  std::unordered_map<int64_t, std::deque<Message>> under_way_;
  std::vector<int> ready_;
  core::Numbers drawn_;
};

}  // namespace

Result<std::vector<Cost>> RunTogether(std::span<const Schedule> schedules,
                                      std::span<Tensor> buffers,
                                      const TogetherOptions& options) {
  return Ranks(schedules, buffers, options).Run();
}

}  // namespace assay::ranks
