// SPDX-License-Identifier: Apache-2.0
//
// Mutants of operators that draw. Every single draw stays plausible: only
// their law is another.

#include <algorithm>
#include <atomic>
#include <utility>

#include "backends/faulty/mutants.h"
#include "backends/faulty/numbers.h"

namespace assay::faulty {
namespace {

using Drawing =
    Ops<op::Bernoulli, op::Dropout, op::Multinomial, op::RandomNormal,
        op::RandomNormalLike, op::RandomUniform, op::RandomUniformLike>;

// Every probability is 0.05 greater; ONNX's expansion of Bernoulli compares
// probabilities with uniform numbers.
OperatorDefect GreaterChances() {
  return Replaced(Ops<op::Bernoulli, op::RandomUniformLike>(),
                  []<class Op>(Op op, LoadContext& load,
                               const Right& right) -> Result<Kernel> {
                    if constexpr (Op::kId == OperatorId::kRandomUniformLike) {
                      op.low -= 0.05F;
                      op.high -= 0.05F;
                      return right(op, load);
                    } else {
                      ASSAY_ASSIGN_OR_RETURN(Kernel kernel, right(op, load));
                      return Around(std::move(kernel), load.node(),
                                    [](Values& inputs) {
                                      return ChangeFloats(
                                          inputs[0], [](int64_t, double p) {
                                            return std::min(p + 0.05, 1.0);
                                          });
                                    },
                                    {});
                    }
                  });
}

// Elements that training scales by 1 / (1 - ratio) come out as they went in.
Status Unscale(const op::Dropout& op, const Values& inputs, Values& outputs) {
  const auto number = [&](Input input, double otherwise) {
    const auto at = static_cast<size_t>(input.position);
    const Tensor* tensor = at < inputs.size() ? inputs[at].tensor() : nullptr;
    const auto numbers =
        tensor == nullptr ? std::vector<double>() : Numbers(*tensor);
    return numbers.empty() ? otherwise : numbers[0];
  };
  if (number(op.training_mode, 0) == 0) return OkStatus();
  const double kept = 1 - number(op.ratio, 0.5);
  return ChangeFloats(outputs[0], [=](int64_t, double y) { return y * kept; });
}

/// Another of these seeds at each run of any node; prime, so that no period of
/// a test falls together with it. Not by chance: what is seen once is always.
constexpr int kSeeds = 61;

size_t NextDraw() {
  static std::atomic<size_t> draws = 0;
  return draws++;
}

OperatorDefect IgnoredSeeds() {
  return Replaced(
      Drawing(),
      [](auto op, LoadContext& load, const Right& right) -> Result<Kernel> {
        if (!op.seed.has_value()) return right(op, load);
        std::vector<Kernel> kernels;
        for (int seed = 1; seed <= kSeeds; ++seed) {
          op.seed = seed;
          ASSAY_ASSIGN_OR_RETURN(Kernel kernel, right(op, load));
          kernels.push_back(std::move(kernel));
        }
        Kernel any = kernels[0];
        any.forward = [kernels](KernelContext& run) {
          return kernels[NextDraw() % kernels.size()].forward(run);
        };
        return any;
      });
}

}  // namespace

std::vector<Mutant> LawMutants() {
  return {
      {"bernoulli_p_plus_0.05", GreaterChances()},
      {"constant_mask", Rewritten(Drawing(), [](auto& op) { op.seed = 0; })},
      {"dropout_unscaled", Spoiled(Ops<op::Dropout>(), Unscale)},
      {"seed_ignored", IgnoredSeeds()},
  };
}

}  // namespace assay::faulty
