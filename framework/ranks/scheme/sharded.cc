// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>

#include "framework/ranks/scheme/scheme.h"

namespace assay::ranks {
namespace {

using train::Evaluation;
using train::Objective;
using train::Parameter;

/// An objective of the parameters that one rank owns.
class Owned : public Objective {
 public:
  Owned(Objective& all, const std::vector<int>& owners, int rank) : all_(all) {
    for (size_t i = 0; i < owners.size(); ++i) {
      if (owners[i] != rank) continue;
      places_.push_back(i);
      parameters_.push_back(all.parameters()[i]);
    }
  }

  std::span<Parameter> parameters() override { return parameters_; }
  Result<Evaluation> Evaluate() override {
    ASSAY_ASSIGN_OR_RETURN(const Evaluation evaluation, all_.Evaluate());
    gradients_.clear();
    for (const size_t place : places_) {
      gradients_.push_back(evaluation.gradients[place]);
    }
    return Evaluation{evaluation.loss, gradients_};
  }

 private:
  Objective& all_;
  std::vector<size_t> places_;
  std::vector<Parameter> parameters_;
  std::vector<Tensor> gradients_;
};

using Move = Status (*)(std::span<Tensor> tensors, const Travel& travel,
                        int root, Endpoint& endpoint);

/// Moves the tensors of each owner in turn, with it as the root.
Status EachOwner(Move move, std::span<Tensor> tensors,
                 const std::vector<int>& owners, const Travel& travel,
                 Endpoint& endpoint) {
  for (int rank = 0; rank < endpoint.size(); ++rank) {
    std::vector<Tensor> of_rank;  // handles
    for (size_t i = 0; i < owners.size(); ++i) {
      if (owners[i] == rank) of_rank.push_back(tensors[i]);
    }
    ASSAY_RETURN_IF_ERROR(move(of_rank, travel, rank, endpoint));
  }
  return OkStatus();
}

/// An objective of one parameter, the rank's block of all elements.
class OwnBlock : public Objective {
 public:
  static Result<OwnBlock> Of(Objective& all, const Travel& travel,
                             Endpoint& endpoint) {
    std::vector<Tensor> values = ValuesOf(all);
    ASSAY_ASSIGN_OR_RETURN(Blocks blocks, Blocks::Of(values, endpoint));
    ASSAY_ASSIGN_OR_RETURN(Tensor own, blocks.Own());
    return OwnBlock(all, travel, endpoint, std::move(values), std::move(blocks),
                    std::move(own));
  }

  std::span<Parameter> parameters() override { return parameters_; }
  Result<Evaluation> Evaluate() override {
    blocks_.SetOwn(parameters_[0].value);
    ASSAY_RETURN_IF_ERROR(blocks_.Gather(travel_, endpoint_));
    blocks_.CopyTo(values_);
    ASSAY_ASSIGN_OR_RETURN(const Evaluation evaluation, all_.Evaluate());
    ASSAY_ASSIGN_OR_RETURN(Blocks gradients,
                           Blocks::Of(evaluation.gradients, endpoint_));
    ASSAY_RETURN_IF_ERROR(gradients.Mean(travel_, endpoint_));
    ASSAY_ASSIGN_OR_RETURN(gradients_[0], gradients.Own());
    return Evaluation{evaluation.loss, gradients_};
  }

  /// Writes the block back into the rank's own parameters.
  void Keep() {
    blocks_.SetOwn(parameters_[0].value);
    blocks_.CopyTo(values_);
  }

 private:
  OwnBlock(Objective& all, const Travel& travel, Endpoint& endpoint,
           std::vector<Tensor> values, Blocks blocks, Tensor own)
      : all_(all),
        travel_(travel),
        endpoint_(endpoint),
        values_(std::move(values)),
        blocks_(std::move(blocks)),
        parameters_{{"block", std::move(own)}},
        gradients_(1) {}

  Objective& all_;
  const Travel travel_;
  Endpoint& endpoint_;
  std::vector<Tensor> values_;  // handles
  Blocks blocks_;
  std::vector<Parameter> parameters_;
  std::vector<Tensor> gradients_;
};

}  // namespace

std::vector<int> OwnersOf(std::span<const Parameter> parameters, int ranks) {
  std::vector<size_t> order(parameters.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, std::ranges::greater(), [&](size_t i) {
    return parameters[i].value.num_elements();
  });
  std::vector<int> owners(parameters.size());
  std::vector<int64_t> elements(static_cast<size_t>(ranks));
  for (const size_t i : order) {
    const auto least = std::ranges::min_element(elements);
    owners[i] = static_cast<int>(least - elements.begin());
    *least += parameters[i].value.num_elements();
  }
  return owners;
}

Result<double> ShardedScheme::Step(Objective& objective) {
  const std::vector<int> owners =
      OwnersOf(objective.parameters(), endpoint_.size());
  Between together(
      objective, [&] { return Finish(objective); },
      [&](std::span<Tensor> gradients) {
        return EachOwner(&MeanAtRoot, gradients, owners, travel_, endpoint_);
      });
  Owned own(together, owners, endpoint_.rank());
  if (!own.parameters().empty()) return optimizer_->Step(own);
  ASSAY_ASSIGN_OR_RETURN(const Evaluation evaluation, own.Evaluate());
  return evaluation.loss;
}

Status ShardedScheme::Finish(Objective& objective) {
  std::vector<Tensor> values = ValuesOf(objective);
  return EachOwner(&FromRoot, values,
                   OwnersOf(objective.parameters(), endpoint_.size()), travel_,
                   endpoint_);
}

Result<double> ScatteredScheme::Step(Objective& objective) {
  ASSAY_ASSIGN_OR_RETURN(OwnBlock own,
                         OwnBlock::Of(objective, travel_, endpoint_));
  ASSAY_ASSIGN_OR_RETURN(const double loss, optimizer_->Step(own));
  own.Keep();
  return loss;
}

Status ScatteredScheme::Finish(Objective& objective) {
  std::vector<Tensor> values = ValuesOf(objective);
  ASSAY_ASSIGN_OR_RETURN(Blocks blocks, Blocks::Of(values, endpoint_));
  ASSAY_RETURN_IF_ERROR(blocks.Gather(travel_, endpoint_));
  blocks.CopyTo(values);
  return OkStatus();
}

}  // namespace assay::ranks
