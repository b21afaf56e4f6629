// SPDX-License-Identifier: Apache-2.0

#include "framework/ranks/endpoint.h"

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstring>
#include <deque>
#include <limits>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "framework/core/numbers.h"
#include "framework/core/text.h"
#include "framework/ranks/number.h"

namespace assay::ranks {
namespace {

/// minimum and maximum of IEEE 754-2019: -0 is below +0, and a NaN propagates.
template <class T>
T Extreme(T a, T b, bool is_least) {
  if constexpr (std::floating_point<T>) {
    if (std::isnan(a) || std::isnan(b)) {
      return std::numeric_limits<T>::quiet_NaN();
    }
    if (a == b) return std::signbit(a) == is_least ? a : b;
  }
  return (a < b) == is_least ? a : b;
}

/// A type whose overflow is defined.
template <class T>
struct Arithmetic : std::type_identity<T> {};
template <std::integral T>
struct Arithmetic<T> : std::make_unsigned<T> {};

template <std::integral T>
T CombinedBits(Reduction reduction, T a, T b) {
  switch (reduction) {
    case Reduction::kBitAnd:
      return static_cast<T>(a & b);
    case Reduction::kBitOr:
      return static_cast<T>(a | b);
    case Reduction::kBitXor:
      return static_cast<T>(a ^ b);
    case Reduction::kLogicalAnd:
      return a != 0 && b != 0 ? 1 : 0;
    case Reduction::kLogicalOr:
      return a != 0 || b != 0 ? 1 : 0;
    case Reduction::kLogicalXor:
      return (a != 0) != (b != 0) ? 1 : 0;
    default:
      return static_cast<T>(
          Composed(static_cast<uint64_t>(a), static_cast<uint64_t>(b)));
  }
}

template <class T>
T Combined(Reduction reduction, T a, T b) {
  using Number = typename Arithmetic<T>::type;
  switch (reduction) {
    case Reduction::kSum:
      return static_cast<T>(static_cast<Number>(a) + static_cast<Number>(b));
    case Reduction::kProduct:
      return static_cast<T>(static_cast<Number>(a) * static_cast<Number>(b));
    case Reduction::kMin:
      return Extreme(a, b, /*is_least=*/true);
    case Reduction::kMax:
      return Extreme(a, b, /*is_least=*/false);
    default:
      break;
  }
  if constexpr (std::integral<T>) {
    return CombinedBits(reduction, a, b);
  } else {
    return a;  // Combine has declined it
  }
}

/// In twice the precision, rounded once.
template <DType kType>
ShortFloat<kType> Combined(Reduction reduction, ShortFloat<kType> a,
                           ShortFloat<kType> b) {
  return ShortFloat<kType>(Combined<double>(reduction, a, b));
}

template <class T>
void CombineAs(Reduction reduction, std::span<const std::byte> came,
               std::span<std::byte> own) {
  for (size_t at = 0; at < own.size(); at += sizeof(T)) {
    T a;
    T b;
    std::memcpy(&a, own.data() + at, sizeof(T));
    std::memcpy(&b, came.data() + at, sizeof(T));
    const T both = Combined(reduction, a, b);
    std::memcpy(own.data() + at, &both, sizeof(T));
  }
}

using Message = std::vector<std::byte>;

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

Result<std::span<std::byte>> BytesOf(Part part, Tensor* tensor) {
  constexpr int kBitsOfByte = 8;
  const int bits = BitsOf(tensor->dtype());
  if (bits == 0 || bits % kBitsOfByte != 0) {
    return Unsupported(Reason::kDType, "found the type ",
                       ToString(tensor->dtype()),
                       ", wanted one of whole bytes");
  }
  if (part.begin < 0 || part.count < 0 ||
      part.begin > tensor->num_elements() - part.count) {
    return InvalidArgument("found the elements from ", part.begin, " to ",
                           part.begin + part.count, ", wanted some of the ",
                           tensor->num_elements(), " of the buffer");
  }
  const int64_t size = bits / kBitsOfByte;
  return std::span(tensor->mutable_data(),
                   static_cast<size_t>(tensor->num_elements() * size))
      .subspan(static_cast<size_t>(part.begin * size),
               static_cast<size_t>(part.count * size));
}

Status Combine(Reduction reduction, std::span<const std::byte> came, Part part,
               Tensor* tensor) {
  ASSAY_ASSIGN_OR_RETURN(const std::span<std::byte> own, BytesOf(part, tensor));
  if (came.size() != own.size()) {
    return InvalidArgument("found ", came.size(), " bytes, wanted ",
                           own.size());
  }
  if (!IsDefined(reduction, tensor->dtype())) {
    return Unsupported(Reason::kDType, "found the type ",
                       ToString(tensor->dtype()), ", wanted one that ",
                       ToString(reduction), " is defined for");
  }
  VisitNumber(tensor->dtype(),
              [&]<class T>(const T&) { CombineAs<T>(reduction, came, own); });
  return OkStatus();
}

Status RunSchedule(const Schedule& schedule, Reduction reduction,
                   Endpoint& endpoint, Tensor* buffer) {
  // The part that comes in may overlap the part that goes out.
  std::vector<std::byte> came;
  for (const Step& step : schedule) {
    const Part out_part = step.to == kNobody ? Part() : step.out;
    const Part in_part = step.from == kNobody ? Part() : step.in;
    ASSAY_ASSIGN_OR_RETURN(const auto out, BytesOf(out_part, buffer));
    ASSAY_ASSIGN_OR_RETURN(const auto in, BytesOf(in_part, buffer));
    came.resize(in.size());
    ASSAY_RETURN_IF_ERROR(endpoint.Exchange(step.to, out, step.from, came));
    if (step.combines) {
      ASSAY_RETURN_IF_ERROR(Combine(reduction, came, in_part, buffer));
    } else {
      std::ranges::copy(came, in.begin());
    }
  }
  return OkStatus();
}

Status RunCollective(const Collective& what, Reduction reduction,
                     Endpoint& endpoint, Tensor* buffer) {
  ASSAY_ASSIGN_OR_RETURN(const Schedule schedule,
                         ScheduleOf(what, endpoint.rank()));
  if (what.ranks != endpoint.size()) {
    return InvalidArgument("found a collective of ", what.ranks,
                           " ranks, wanted one of ", endpoint.size());
  }
  if (buffer->num_elements() != ElementsOf(what)) {
    return InvalidArgument("found a buffer of ", buffer->num_elements(),
                           " elements for ", ToString(what), ", wanted ",
                           ElementsOf(what));
  }
  return RunSchedule(schedule, reduction, endpoint, buffer);
}

OwnParts OwnPartsOf(const Collective& what, int rank) {
  const int64_t block = what.count;
  const Part one = {0, block};
  const Part all = {0, what.ranks * block};
  const Part own = {rank * block, block};
  const bool is_root = rank == what.root;
  switch (what.operation) {
    case Operation::kBarrier:
      break;
    case Operation::kBroadcast:
      return {is_root ? one : Part(), one};
    case Operation::kReduce:
      return {one, is_root ? one : Part()};
    case Operation::kAllReduce:
      return {one, one};
    case Operation::kGather:
      return {own, is_root ? all : Part()};
    case Operation::kScatter:
      return {is_root ? all : Part(), own};
    case Operation::kReduceScatter:
      return {all, own};
    case Operation::kAllGather:
      return {own, all};
    case Operation::kAllToAll:
      return {all, {all.count, all.count}};
  }
  return {};
}

Result<CollectiveCall> OwnCallOf(const Collective& what, Reduction reduction,
                                 int rank, Tensor* buffer) {
  if (HasRoot(what.operation) && (what.root < 0 || what.root >= what.ranks)) {
    return InvalidArgument("found the root ", what.root,
                           ", wanted a rank from 0 to ", what.ranks - 1);
  }
  if (buffer->num_elements() != ElementsOf(what)) {
    return InvalidArgument("found a buffer of ", buffer->num_elements(),
                           " elements for ", ToString(what.operation), " of ",
                           what.count, " over ", what.ranks, " ranks, wanted ",
                           ElementsOf(what));
  }
  const OwnParts parts = OwnPartsOf(what, rank);
  CollectiveCall call{.operation = what.operation,
                      .reduction = reduction,
                      .type = buffer->dtype(),
                      .count = what.count,
                      .root = what.root,
                      .in = {},
                      .out = {}};
  ASSAY_ASSIGN_OR_RETURN(call.in, BytesOf(parts.in, buffer));
  ASSAY_ASSIGN_OR_RETURN(call.out, BytesOf(parts.out, buffer));
  return call;
}

Status RunOwn(const Collective& what, Reduction reduction, Endpoint& endpoint,
              Tensor* buffer) {
  if (what.ranks != endpoint.size()) {
    return InvalidArgument("found a collective of ", what.ranks,
                           " ranks, wanted one of ", endpoint.size());
  }
  ASSAY_ASSIGN_OR_RETURN(const CollectiveCall call,
                         OwnCallOf(what, reduction, endpoint.rank(), buffer));
  return endpoint.Collect(call);
}

Result<std::vector<Cost>> RunTogether(std::span<const Schedule> schedules,
                                      std::span<Tensor> buffers,
                                      const TogetherOptions& options) {
  return Ranks(schedules, buffers, options).Run();
}

}  // namespace assay::ranks
