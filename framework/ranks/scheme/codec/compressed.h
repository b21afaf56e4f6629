// SPDX-License-Identifier: Apache-2.0
//
// CompressedScheme: all-reduces gradients that a codec encodes.
//
//   CompressedScheme scheme(mine, std::move(optimizer),
//                           std::make_unique<TopCodec>(0.01), {});
//   ASSAY_RETURN_IF_ERROR(scheme.Step(objective).status());

#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "framework/core/status.h"
#include "framework/ranks/endpoint.h"
#include "framework/ranks/scheme/bundle.h"
#include "framework/ranks/scheme/codec/codec.h"
#include "framework/ranks/scheme/codec/rests.h"
#include "framework/ranks/scheme/scheme.h"
#include "framework/train/optimizer/optimizer.h"

namespace assay::ranks {

/// Every rank all-gathers the encoded tensors, sums them in double in the order
/// of the ranks, divides once and rounds once: all take the same step. The
/// error of a rank's encoding is added to its next gradient (Rests), or
/// dropped.
class CompressedScheme : public OptimizerScheme {
 public:
  struct Options {
    Algorithm algorithm = Algorithm::kRing;  // of the all-gather
    bool keeps_rest = true;
  };

  CompressedScheme(Endpoint& endpoint,
                   std::unique_ptr<train::Optimizer> optimizer,
                   std::unique_ptr<Codec> codec, Options options)
      : OptimizerScheme(endpoint, std::move(optimizer)),
        codec_(std::move(codec)),
        options_(options) {}
  Result<double> Step(train::Objective& objective) override;

  /// The residual of each gradient on this rank.
  std::span<const std::vector<float>> rests() const {
    return rests_.of_gradients();
  }

 private:
  Status Exchange(std::span<float> rest, std::span<float> gradient);

  std::unique_ptr<Codec> codec_;
  const Options options_;
  Rests rests_;
};

}  // namespace assay::ranks
