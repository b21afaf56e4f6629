// SPDX-License-Identifier: Apache-2.0

#include "framework/ranks/scheme/async.h"

#include <algorithm>
#include <utility>

#include "framework/core/numbers.h"
#include "framework/train/optimizer/in_place.h"

namespace assay::ranks {
namespace {

using train::Evaluation;
using train::Objective;
using train::Parameter;

/// An objective whose gradients came in messages.
class Given : public Objective {
 public:
  static Result<Given> For(Objective& model) {
    Given given(model);
    for (const Parameter& each : model.parameters()) {
      ASSAY_ASSIGN_OR_RETURN(given.gradients_.emplace_back(),
                             each.value.Clone());
    }
    return given;
  }

  std::span<Parameter> parameters() override { return model_.parameters(); }
  Result<Evaluation> Evaluate() override { return Evaluation{0, gradients_}; }
  std::span<Tensor> gradients() { return gradients_; }

 private:
  explicit Given(Objective& model) : model_(model) {}

  Objective& model_;
  std::vector<Tensor> gradients_;
};

class Server {
 public:
  Server(Endpoint& endpoint, train::Optimizer& optimizer, Given given,
         const ServerOptions& options)
      : endpoint_(endpoint),
        optimizer_(optimizer),
        given_(std::move(given)),
        options_(options),
        clocks_(static_cast<size_t>(endpoint.size() - 1)) {}

  Result<Staleness> Serve() {
    const int64_t all = std::ssize(clocks_) * options_.steps;
    while (version_ < all) {
      ASSAY_RETURN_IF_ERROR(TakeGradient());
      ASSAY_RETURN_IF_ERROR(Answer());
    }
    return seen_;
  }

 private:
  int64_t& ClockOf(int worker) {
    return clocks_[static_cast<size_t>(worker - 1)];
  }

  Status TakeGradient() {
    ASSAY_ASSIGN_OR_RETURN(
        const int worker,
        endpoint_.ReceiveAny(message_.RoomFor(given_.gradients())));
    const ModelMessage::Header header = message_.header();
    if (header.clock != ClockOf(worker) || header.version > version_) {
      return DataLoss("found a gradient of step ", header.clock, " at version ",
                      header.version, " from rank ", worker, ", wanted step ",
                      ClockOf(worker), " at version ", version_, " or before");
    }
    message_.ReadInto(given_.gradients());
    ASSAY_RETURN_IF_ERROR(optimizer_.Step(given_).status());
    seen_.updates = std::max(seen_.updates, version_ - header.version);
    ++version_;
    ++ClockOf(worker);
    const auto [slowest, fastest] = std::ranges::minmax(clocks_);
    seen_.clock_gap = std::max(seen_.clock_gap, fastest - slowest);
    waiting_.push_back(worker);
    return OkStatus();
  }

  /// Answers the workers that are within the slack.
  Status Answer() {
    const int64_t slowest = std::ranges::min(clocks_);
    std::vector<int> late;
    for (const int worker : waiting_) {
      if (ClockOf(worker) - slowest > options_.slack) {
        late.push_back(worker);
        continue;
      }
      message_.Write({version_, ClockOf(worker)}, ValuesOf(given_));
      ASSAY_RETURN_IF_ERROR(
          endpoint_.Exchange(worker, message_.bytes(), kNobody, {}));
    }
    waiting_ = std::move(late);
    return OkStatus();
  }

  Endpoint& endpoint_;
  train::Optimizer& optimizer_;
  Given given_;
  const ServerOptions& options_;
  std::vector<int64_t> clocks_;  // of the workers
  std::vector<int> waiting_;     // workers without an answer
  ModelMessage message_;
  int64_t version_ = 0;
  Staleness seen_;
};

/// Each tensor becomes the mean of itself and of the one in `message`, in
/// double, rounded once: both ranks compute the same bits.
Status MeanWith(const ModelMessage& message, std::span<Tensor> tensors) {
  std::vector<Tensor> came;
  for (const Tensor& tensor : tensors) {
    ASSAY_ASSIGN_OR_RETURN(came.emplace_back(), tensor.Clone());
  }
  message.ReadInto(came);
  for (size_t i = 0; i < came.size(); ++i) {
    ASSAY_RETURN_IF_ERROR(train::InPlace(
        &tensors[i], came[i], {}, []<class T>(const train::Elements<T>& each) {
          for (size_t k = 0; k < each.x.size(); ++k) {
            each.x[k] =
                static_cast<T>((double{each.x[k]} + double{each.g[k]}) / 2);
          }
        }));
  }
  return OkStatus();
}

}  // namespace

void ModelMessage::Write(const Header& header,
                         std::span<const Tensor> tensors) {
  std::byte* to = RoomFor(tensors).data();
  PutFields(header, to);
  to += kFieldBytes<Header>;
  for (const Tensor& tensor : tensors) {
    to = std::ranges::copy(tensor.bytes(), to).out;
  }
}

std::span<std::byte> ModelMessage::RoomFor(std::span<const Tensor> tensors) {
  size_t size = kFieldBytes<Header>;
  for (const Tensor& tensor : tensors) size += tensor.bytes().size();
  bytes_.resize(size);
  return bytes_;
}

ModelMessage::Header ModelMessage::header() const {
  Header header;
  GetFields(bytes_.data(), &header);
  return header;
}

void ModelMessage::ReadInto(std::span<Tensor> tensors) const {
  const std::byte* from = bytes_.data() + kFieldBytes<Header>;
  for (Tensor& tensor : tensors) {
    std::copy_n(from, tensor.byte_size(), tensor.mutable_data());
    from += tensor.byte_size();
  }
}

Result<Staleness> ServeGradients(Endpoint& endpoint,
                                 train::Optimizer& optimizer,
                                 train::Objective& model,
                                 const ServerOptions& options) {
  if (endpoint.rank() != 0 || endpoint.size() < 2) {
    return InvalidArgument("found rank ", endpoint.rank(), " of ",
                           endpoint.size(), ", wanted rank 0 of 2 or more");
  }
  ASSAY_ASSIGN_OR_RETURN(Given given, Given::For(model));
  return Server(endpoint, optimizer, std::move(given), options).Serve();
}

Result<double> WorkerScheme::Step(train::Objective& objective) {
  ASSAY_ASSIGN_OR_RETURN(const Evaluation evaluation, objective.Evaluate());
  message_.Write({version_, steps_++}, evaluation.gradients);
  ASSAY_RETURN_IF_ERROR(endpoint_.Exchange(0, message_.bytes(), kNobody, {}));
  std::vector<Tensor> values = ValuesOf(objective);
  ASSAY_RETURN_IF_ERROR(
      endpoint_.Exchange(kNobody, {}, 0, message_.RoomFor(values)));
  version_ = message_.header().version;
  message_.ReadInto(values);
  return evaluation.loss;
}

int PassiveOf(uint64_t seed, int rank, int ranks, int64_t step) {
  const std::vector<Peer> beside = PeersOf(Graph::kRing, rank, ranks, step);
  core::Numbers drawn(core::KeyOf(core::KeyOf(seed, rank), step));
  return beside[drawn.Below(beside.size())].to;
}

AdPsgdScheme::AdPsgdScheme(Endpoint& endpoint,
                           std::unique_ptr<train::Optimizer> optimizer,
                           Options options)
    : OptimizerScheme(endpoint, std::move(optimizer)), options_(options) {
  const int ranks = endpoint.size();
  if (is_active() || ranks % 2 == 1) return;
  for (const Peer& peer : PeersOf(Graph::kRing, endpoint.rank(), ranks, 0)) {
    for (int64_t step = 0; step < options.steps; ++step) {
      if (PassiveOf(options.seed, peer.to, ranks, step) != endpoint.rank()) {
        continue;
      }
      to_come_[peer.to].push_back(step);
    }
  }
}

/// An active rank waits for a passive one only, and a passive rank for a
/// request that is sure to come, so that no cycle of waits exists.
Status AdPsgdScheme::Average(std::span<Tensor> values) {
  if (is_active()) return Ask(values);
  return to_come_.empty() ? OkStatus() : Answer(values);
}

Status AdPsgdScheme::Ask(std::span<Tensor> values) {
  const int passive =
      PassiveOf(options_.seed, endpoint_.rank(), endpoint_.size(), steps_);
  // The version of an active rank is its step: it averages once a step.
  sent_.Write({.version = steps_, .clock = steps_}, values);
  ASSAY_RETURN_IF_ERROR(endpoint_.Exchange(passive, sent_.bytes(), passive,
                                           came_.RoomFor(values)));
  const auto [version, clock] = came_.header();
  int64_t& oldest = oldest_[passive];
  if (clock != steps_ || version < oldest) {
    return DataLoss("found an answer to step ", clock, " at version ", version,
                    " from rank ", passive, ", wanted one to step ", steps_,
                    " at version ", oldest, " or after");
  }
  oldest = version + 1;
  return MeanWith(came_, values);
}

Status AdPsgdScheme::Answer(std::span<Tensor> values) {
  ASSAY_ASSIGN_OR_RETURN(const int active,
                         endpoint_.ReceiveAny(came_.RoomFor(values)));
  const auto [version, clock] = came_.header();
  const auto of_rank = to_come_.find(active);
  if (of_rank == to_come_.end()) {
    return DataLoss("found a request of step ", clock, " from rank ", active,
                    ", wanted none from there");
  }
  std::deque<int64_t>& steps = of_rank->second;
  if (clock != steps.front() || version != clock) {
    return DataLoss("found a request of step ", clock, " at version ", version,
                    " from rank ", active, ", wanted step ", steps.front(),
                    " at version ", steps.front());
  }
  steps.pop_front();
  if (steps.empty()) to_come_.erase(of_rank);
  sent_.Write({.version = answered_++, .clock = clock}, values);
  ASSAY_RETURN_IF_ERROR(endpoint_.Exchange(active, sent_.bytes(), kNobody, {}));
  return MeanWith(came_, values);
}

Result<double> AdPsgdScheme::Step(Objective& objective) {
  if (endpoint_.size() % 2 == 1) {
    return InvalidArgument("found ", endpoint_.size(),
                           " ranks, wanted an even number");
  }
  if (steps_ == options_.steps) {
    return InvalidArgument("found a step behind the last one, wanted ",
                           options_.steps, " steps");
  }
  std::vector<Tensor> values = ValuesOf(objective);
  Between averaged(objective, {},
                   [&](std::span<Tensor>) { return Average(values); });
  ASSAY_ASSIGN_OR_RETURN(const double loss, optimizer_->Step(averaged));
  ++steps_;
  return loss;
}

Status AdPsgdScheme::Finish(Objective& objective) {
  if (steps_ != options_.steps) {
    return InvalidArgument("found ", steps_, " steps, wanted ", options_.steps);
  }
  std::vector<Tensor> values = ValuesOf(objective);
  while (!to_come_.empty()) ASSAY_RETURN_IF_ERROR(Answer(values));
  return Meet();
}

/// A barrier by messages: passive ranks tell rank 1 that they have answered all
/// requests, and it tells everybody. No rank waits for a request any more, so
/// that no later message can be taken for one.
Status AdPsgdScheme::Meet() {
  constexpr int kTold = 1;
  if (endpoint_.rank() != kTold) {
    return endpoint_.Exchange(is_active() ? kNobody : kTold, {}, kTold, {});
  }
  for (int passive = 0; passive < endpoint_.size(); passive += 2) {
    ASSAY_RETURN_IF_ERROR(endpoint_.Exchange(kNobody, {}, passive, {}));
  }
  for (int other = 0; other < endpoint_.size(); ++other) {
    if (other == kTold) continue;
    ASSAY_RETURN_IF_ERROR(endpoint_.Exchange(other, {}, kNobody, {}));
  }
  return OkStatus();
}

}  // namespace assay::ranks
