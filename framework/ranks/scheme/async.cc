// SPDX-License-Identifier: Apache-2.0

#include "framework/ranks/scheme/async.h"

#include <algorithm>
#include <span>

#include "framework/ranks/scheme/between.h"

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
      ASSAY_ASSIGN_OR_RETURN(Tensor gradient, each.value.Clone());
      given.gradients_.push_back(std::move(gradient));
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

  Status TakeGradient();
  Status Answer();

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

Status Server::TakeGradient() {
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
Status Server::Answer() {
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

}  // namespace

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

}  // namespace assay::ranks
