// SPDX-License-Identifier: Apache-2.0
//
// What a network draws from a seed and a step.

#include <algorithm>
#include <utility>
#include <vector>

#include "conformance/contract/cases.h"
#include "conformance/contract/subject.h"

namespace assay::contract {

Status TrainingDraws(Backend& backend, const ProbeOperator&) {
  LoadOptions options;
  options.mode = Mode::kTraining;
  ASSAY_ASSIGN_OR_RETURN(const auto network,
                         Load(backend,
                              "g (float[16] x) => (float[16] y) "
                              "{ y = RandomUniformLike(x) }",
                              options));
  Draws* const draws = network->draws();
  if (draws == nullptr) return OkStatus();
  std::vector<Tensor> drawn;
  for (const auto& [seed, step] :
       {std::pair(7, 1), {7, 1}, {7, 2}, {8, 1}, {7, 1}}) {
    ASSAY_RETURN_IF_ERROR(draws->DrawFrom(static_cast<uint64_t>(seed), step));
    ASSAY_ASSIGN_OR_RETURN(
        const auto y, RunOnce(*network, {Floats(std::vector<float>(16, 1))}));
    ASSAY_ASSIGN_OR_RETURN(drawn.emplace_back(), y[0].tensor()->Clone());
  }
  const auto same = [&](size_t i) {
    return std::ranges::equal(drawn[0].bytes(), drawn[i].bytes());
  };
  if (!same(1) || !same(4)) {
    return Broken("one seed and step drew other numbers, wanted the same");
  }
  if (same(2)) return Broken("two steps drew the same numbers");
  return same(3) ? Broken("two seeds drew the same numbers") : OkStatus();
}

}  // namespace assay::contract
