// SPDX-License-Identifier: Apache-2.0
#include "backends/onednn/reverse/differentiated.h"

#include <omp.h>

#include <utility>

#include "backends/onednn/reverse/rules.h"
#include "backends/onednn/reverse/walk.h"

namespace assay::onednn {
namespace {

/// The facts of a chain that is made of memories: it asks for none.
class NoFacts final : public Facts {
 public:
  const ValueType& type(Input) const override { return none_; }
  const Tensor* fixed(Input) const override { return nullptr; }
  Result<const Tensor*> value(Input) const override { return nullptr; }

 private:
  ValueType none_;
};

}  // namespace

Asked Differentiated::AllOutputs(const std::set<int>& inputs) const {
  Asked asked{.inputs = inputs};
  for (const auto& [position, type] : tape_.outputs) {
    if (type.dtype == DType::kFloat32) asked.outputs.insert(position);
  }
  return asked;
}

Result<Chain*> Differentiated::ChainFor(const Asked& asked) {
  const auto found = backward_.find(asked);
  if (found != backward_.end()) return found->second.get();
  omp_set_num_threads(threads_);
  const NoFacts facts;
  ChainBuilder builder(engine_, facts, threads_);
  builder.DeclineFor(Reason::kGradient);
  ASSAY_ASSIGN_OR_RETURN(std::shared_ptr<Chain> chain,
                         FillChain(builder, [&](ChainBuilder& chain) {
                           return WalkBack(tape_, asked, chain);
                         }));
  return backward_.emplace(asked, std::move(chain)).first->second.get();
}

bool Differentiated::IsLast(GradientContext& run) const {
  if (last_ == nullptr) return false;
  for (const auto& [position, type] : tape_.inputs) {
    const bool is_wanted = run.wanted({position, true});
    if (is_wanted != last_asked_.inputs.contains(position)) return false;
  }
  for (const auto& [position, type] : tape_.outputs) {
    const bool has_cotangent = run.cotangent({position, true}) != nullptr;
    if (has_cotangent != last_asked_.outputs.contains(position)) return false;
  }
  return true;
}

Status Differentiated::RunBackward(GradientContext& run) {
  if (IsLast(run)) return last_->RunBackward(run);
  Asked asked;
  for (const auto& [position, type] : tape_.inputs) {
    if (run.wanted({position, true})) asked.inputs.insert(position);
  }
  for (const auto& [position, type] : tape_.outputs) {
    if (run.cotangent({position, true}) != nullptr) {
      asked.outputs.insert(position);
    }
  }
  ASSAY_ASSIGN_OR_RETURN(last_, ChainFor(asked));
  last_asked_ = std::move(asked);
  return last_->RunBackward(run);
}

Status CheckNumbers(const Tape& tape, const std::set<int>& inputs) {
  for (const int position : tape.numbers) {
    if (!inputs.contains(position)) continue;
    return NoBackward(
        StrCat("input ", position, ", whose numbers primitives are made for"));
  }
  return OkStatus();
}

}  // namespace assay::onednn
