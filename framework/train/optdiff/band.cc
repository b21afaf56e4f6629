// SPDX-License-Identifier: Apache-2.0

#include "framework/train/optdiff/band.h"

#include <algorithm>
#include <utility>

#include "framework/testing/limit/limit.h"
#include "framework/train/quad/quad.h"
#include "framework/train/quad/quad_optimizers.h"

namespace assay::optdiff {

using quad::Quad;
using quad::QuadTensor;

Result<Band> Band::Of(const RuleName& rule,
                      const std::vector<QuadTensor>& start, DType type,
                      draw::Draw draw) {
  Band band(limit::UnitRoundoff(type), draw);
  band.reach_.resize(start.size(), 0);
  for (int i = 0; i < kRuns; ++i) {
    ASSAY_ASSIGN_OR_RETURN(
        auto made,
        quad::MakeQuadRule(rule.optimizer, rule.settings, start.size()));
    band.runs_.push_back({std::move(made), start});
  }
  return band;
}

void Band::Step(const quad::QuadRule::StepInfo& at,
                const quad::GradientOf& gradient_of,
                std::span<const double> off) {
  for (Run& run : runs_) {
    run.rule->Prepare(at, &run.x);
    // The gradient is taken at rounded parameters, and rounded itself.
    std::vector<QuadTensor> gradients = gradient_of(Rounded(run.x));
    gradients = Rounded(std::move(gradients));
    for (size_t p = 0; p < gradients.size(); ++p) {
      const Quad each = Quad(off[p]) / quad::Root(Quad(gradients[p].size()));
      for (Quad& x : gradients[p]) x += Quad(draw_.Sign()) * each;
    }
    run.rule->Update(at, gradients, &run.x);
    run.x = Rounded(std::move(run.x));
  }
}

std::vector<QuadTensor> Band::Rounded(std::vector<QuadTensor> tensors) {
  for (QuadTensor& tensor : tensors) {
    for (Quad& x : tensor) x *= 1 + Quad(draw_.Sign() * roundoff_);
  }
  return tensors;
}

std::vector<double> Band::Reach(const std::vector<QuadTensor>& wanted) {
  for (size_t p = 0; p < wanted.size(); ++p) {
    for (const Run& run : runs_) {
      QuadTensor apart = run.x[p];
      for (size_t i = 0; i < apart.size(); ++i) apart[i] -= wanted[p][i];
      reach_[p] =
          std::max(reach_[p],
                   static_cast<double>(quad::Root(quad::SumOfSquares(apart))));
    }
  }
  return reach_;
}

}  // namespace assay::optdiff
