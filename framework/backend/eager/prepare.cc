// SPDX-License-Identifier: Apache-2.0

#include "framework/backend/eager/prepare.h"

#include <algorithm>
#include <limits>

#include "framework/backend/exception.h"
#include "framework/graph/edit/submodel.h"

namespace assay::eager {
namespace {

constexpr size_t kNobody = std::numeric_limits<size_t>::max();

class Pass {
 public:
  explicit Pass(Frame& frame)
      : frame_(frame),
        graph_(*frame.program().graph),
        steps_(frame.program().steps),
        makers_(graph_.values.size(), kNobody),
        ran_(steps_.size(), false) {
    for (size_t i = 0; i < steps_.size(); ++i) {
      for (const ValueId id : steps_[i].node->outputs) {
        if (id != kNoValue) makers_[static_cast<size_t>(id)] = i;
      }
    }
  }

  Status Run() {
    for (size_t i = 0; i < steps_.size(); ++i) {
      if (steps_[i].kernel.prepare) ASSAY_RETURN_IF_ERROR(Prepare(i));
      if (steps_[i].prepares_within) ASSAY_RETURN_IF_ERROR(Compute(i));
    }
    return OkStatus();
  }

 private:
  /// True when the value is there: nobody computes it, or its step has run.
  bool Present(ValueId id) const {
    const size_t maker = MakerOf(id);
    return maker == kNobody || ran_[maker];
  }
  size_t MakerOf(ValueId id) const { return makers_[static_cast<size_t>(id)]; }

  /// Runs a step after those that it reads from, as far as they have not run.
  Status Compute(size_t last) {
    std::vector<bool> needed(last + 1, false);
    needed[last] = !ran_[last];
    for (size_t i = last + 1; i-- > 0;) {
      if (!needed[i]) continue;
      for (const ValueId id : edit::ReadBy(*steps_[i].node)) {
        if (!Present(id)) needed[MakerOf(id)] = true;
      }
    }
    for (size_t i = 0; i <= last; ++i) {
      if (!needed[i]) continue;
      ASSAY_RETURN_IF_ERROR(frame_.RunStep(i));
      ran_[i] = true;
    }
    return OkStatus();
  }

  /// The type of a value with its extents.
  Result<ValueType> TypeOf(ValueId id) {
    if (id == kNoValue) return ValueType();
    if (Present(id)) return frame_.value(id).Type();
    const ValueType& inferred = graph_.values[static_cast<size_t>(id)].type;
    if (inferred.StaticShape().has_value()) return inferred;
    const StepContext& maker = frame_.context(MakerOf(id));
    if (maker.preparation() != nullptr) {
      const auto& outputs = maker.step().node->outputs;
      const auto at = std::ranges::find(outputs, id) - outputs.begin();
      const ValueType& declared =
          maker.preparation()->declared({static_cast<int>(at), true});
      if (declared.kind != ValueKind::kNone) return declared;
    }
    ASSAY_RETURN_IF_ERROR(Compute(MakerOf(id)));
    return frame_.value(id).Type();
  }

  Status Prepare(size_t index) {
    const Node& node = *steps_[index].node;
    std::vector<ValueType> types;
    for (const ValueId id : node.inputs) {
      ASSAY_ASSIGN_OR_RETURN(types.emplace_back(), TypeOf(id));
    }
    const auto value_of = [&](Input input) -> Result<const Tensor*> {
      const auto position = static_cast<size_t>(input.position);
      if (position >= node.inputs.size()) return nullptr;
      const ValueId id = node.inputs[position];
      if (id == kNoValue) return nullptr;
      if (!Present(id)) ASSAY_RETURN_IF_ERROR(Compute(MakerOf(id)));
      return frame_.value(id).tensor();
    };
    try {
      const Status status = frame_.context(index).Prepare(types, value_of);
      return status.ok() ? status : status.WithContext(node.Label());
    } catch (...) {
      return backend::StatusOfException(node.Label());
    }
  }

  Frame& frame_;
  const Graph& graph_;
  const std::vector<Step>& steps_;
  std::vector<size_t> makers_;  // by ValueId: the step that computes it
  std::vector<bool> ran_;       // by step
};

}  // namespace

Status PrepareAtBind(Frame& frame) {
  if (!frame.program().prepares) return OkStatus();
  const Status status = Pass(frame).Run();
  return status.code() == StatusCode::kUnsupported ? status : OkStatus();
}

}  // namespace assay::eager
