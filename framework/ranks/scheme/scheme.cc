// SPDX-License-Identifier: Apache-2.0

#include "framework/ranks/scheme/scheme.h"

#include "framework/ranks/scheme/between.h"
#include "framework/train/optimizer/in_place.h"

namespace assay::ranks {
namespace {

using train::Evaluation;
using train::Objective;

/// sum += weight * other, in double.
Status AddTo(std::vector<double>& sum, double weight, Tensor other) {
  return train::InPlace(&other, other, {}, [&](const auto& each) {
    for (size_t i = 0; i < sum.size(); ++i) {
      sum[i] += weight * double{each.g[i]};
    }
  });
}

Status Round(const std::vector<double>& sum, Tensor* tensor) {
  return train::InPlace(tensor, *tensor, {},
                        [&]<class T>(const train::Elements<T>& each) {
                          for (size_t i = 0; i < sum.size(); ++i) {
                            each.x[i] = static_cast<T>(sum[i]);
                          }
                        });
}

/// Replaces the rank's tensors by the weighted mean with its peers', summed in
/// double and rounded once.
Status Mix(const std::vector<Peer>& peers, std::span<Tensor> tensors,
           Endpoint& endpoint) {
  double own = 1;
  for (const Peer& peer : peers) own -= peer.weight;
  for (Tensor& value : tensors) {
    ASSAY_ASSIGN_OR_RETURN(Tensor came, value.Clone());
    std::vector<double> sum(static_cast<size_t>(value.num_elements()));
    ASSAY_RETURN_IF_ERROR(AddTo(sum, own, value));
    for (const Peer& peer : peers) {
      ASSAY_RETURN_IF_ERROR(
          endpoint.Exchange(peer.to, value.bytes(), peer.from,
                            std::span(came.mutable_data(),
                                      static_cast<size_t>(came.byte_size()))));
      ASSAY_RETURN_IF_ERROR(AddTo(sum, peer.weight, came));
    }
    ASSAY_RETURN_IF_ERROR(Round(sum, &value));
  }
  return OkStatus();
}

/// The mean of an objective over several evaluations.
class Accumulated : public Objective {
 public:
  Accumulated(Objective& inner, int64_t batches)
      : inner_(inner), batches_(batches) {}

  std::span<train::Parameter> parameters() override {
    return inner_.parameters();
  }
  Result<Evaluation> Evaluate() override {
    const double weight = 1 / static_cast<double>(batches_);
    std::vector<std::vector<double>> sums;
    Evaluation mean;
    for (int64_t batch = 0; batch < batches_; ++batch) {
      ASSAY_ASSIGN_OR_RETURN(const Evaluation evaluation, inner_.Evaluate());
      mean = {mean.loss + weight * evaluation.loss, evaluation.gradients};
      sums.resize(mean.gradients.size());
      for (size_t i = 0; i < sums.size(); ++i) {
        const Tensor& gradient = mean.gradients[i];
        sums[i].resize(static_cast<size_t>(gradient.num_elements()));
        ASSAY_RETURN_IF_ERROR(AddTo(sums[i], weight, gradient));
      }
    }
    for (size_t i = 0; i < sums.size(); ++i) {
      ASSAY_RETURN_IF_ERROR(Round(sums[i], &mean.gradients[i]));
    }
    return mean;
  }

 private:
  Objective& inner_;
  const int64_t batches_;
};

}  // namespace

Result<double> AccumulatingScheme::Step(Objective& objective) {
  Accumulated mean(objective, batches_);
  return inner_->Step(mean);
}

Result<double> AllReduceScheme::Step(Objective& objective) {
  Between together(objective, {}, [&](std::span<Tensor> gradients) {
    return MeanOfAll(gradients, travel_, endpoint_);
  });
  return optimizer_->Step(together);
}

Result<double> ServerScheme::Step(Objective& objective) {
  std::vector<Tensor> values = ValuesOf(objective);
  Between together(
      objective, [&] { return FromRoot(values, travel_, 0, endpoint_); },
      [&](std::span<Tensor> gradients) {
        return MeanAtRoot(gradients, travel_, 0, endpoint_);
      });
  if (endpoint_.rank() == 0) return optimizer_->Step(together);
  ASSAY_ASSIGN_OR_RETURN(const Evaluation evaluation, together.Evaluate());
  return evaluation.loss;
}

Status ServerScheme::Finish(Objective& objective) {
  std::vector<Tensor> values = ValuesOf(objective);
  return FromRoot(values, travel_, 0, endpoint_);
}

Result<double> AverageScheme::Step(Objective& objective) {
  ASSAY_ASSIGN_OR_RETURN(const double loss, optimizer_->Step(objective));
  if (++steps_ % period_ == 0) ASSAY_RETURN_IF_ERROR(Finish(objective));
  return loss;
}

Status AverageScheme::Finish(Objective& objective) {
  std::vector<Tensor> values = ValuesOf(objective);
  return MeanOfAll(values, travel_, endpoint_);
}

Result<double> GossipScheme::Step(Objective& objective) {
  const std::vector<Peer> peers =
      PeersOf(graph_, endpoint_.rank(), endpoint_.size(), steps_++);
  std::vector<Tensor> values = ValuesOf(objective);
  Between mixed(objective, {}, [&](std::span<Tensor>) {
    return Mix(peers, values, endpoint_);
  });
  return optimizer_->Step(mixed);
}

}  // namespace assay::ranks
