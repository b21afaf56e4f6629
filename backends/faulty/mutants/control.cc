// SPDX-License-Identifier: Apache-2.0
//
// Mutants of control flow, sequences, optionals and strings, and of indices
// that must be refused.

#include <algorithm>
#include <cmath>
#include <utility>

#include "backends/faulty/mutants.h"
#include "backends/faulty/numbers.h"
#include "backends/reference/loop/nest.h"

namespace assay::faulty {
namespace {

Status LogOfClipped(const Values& inputs, Values& outputs) {
  const auto x = Numbers(*inputs[0].tensor());
  return ChangeFloats(outputs[0], [&](int64_t i, double) {
    return std::log(std::clamp(x[static_cast<size_t>(i)], 1e-12, 1.0));
  });
}

// The log of what is clipped, as if it were probabilities already: in the
// operator's function body, where its LogSoftmax stands.
OperatorDefect LossWithoutSoftmax() {
  return Replaced(
      Ops<op::SoftmaxCrossEntropyLoss, op::LogSoftmax>(),
      []<class Op>(const Op& op, LoadContext& load,
                   const Right& right) -> Result<Kernel> {
        if constexpr (Op::kId == OperatorId::kSoftmaxCrossEntropyLoss) {
          return Unsupported(Reason::kAttribute,
                             "it runs as its function body");
        } else {
          ASSAY_ASSIGN_OR_RETURN(Kernel kernel, right(op, load));
          if (!load.node().function.starts_with("SoftmaxCrossEntropyLoss")) {
            return kernel;
          }
          return Around(std::move(kernel), load.node(), {}, LogOfClipped);
        }
      });
}

// Indices outside the axis are brought to its ends.
Status ClampIndices(const op::Gather& op, Values& inputs) {
  const Tensor* data = inputs[static_cast<size_t>(op.data.position)].tensor();
  if (data == nullptr || data->shape().rank() == 0) return OkStatus();
  ASSAY_ASSIGN_OR_RETURN(const auto view,
                         reference::AxisView::Of(data->shape(), op.axis));
  if (view.count == 0) return OkStatus();
  const auto count = static_cast<double>(view.count);
  return ChangeNumbers(
      inputs[static_cast<size_t>(op.indices.position)],
      [=](int64_t, double i) { return std::clamp(i, -count, count - 1); });
}

}  // namespace

std::vector<Mutant> ControlMutants() {
  return {
      {"if_takes_else", Filled(0, &op::If::cond)},
      {"loop_once_less",
       ChangedNumbers([](double m) { return std::max(m - 1, 0.0); },
                      &op::Loop::m)},
      {"loss_without_softmax", LossWithoutSoftmax()},
      {"gather_index_clamped", Fed(Ops<op::Gather>(), ClampIndices)},
      {"sequence_insert_position_ignored",
       Rewritten(Ops<op::SequenceInsert>(),
                 [](auto& op) { op.position.present = false; })},
      {"sequence_erase_position_ignored",
       Rewritten(Ops<op::SequenceErase>(),
                 [](auto& op) { op.position.present = false; })},
      {"sequence_at_first", Filled(0, &op::SequenceAt::position)},
      {"optional_always_has_element",
       Spoiled(Ops<op::OptionalHasElement>(),
               [](Values& outputs) {
                 return ChangeNumbers(outputs[0],
                                      [](int64_t, double) { return 1.0; });
               })},
      {"string_concat_reversed", Fed(Ops<op::StringConcat>(),
                                     [](Values& inputs) -> Status {
                                       std::swap(inputs[0], inputs[1]);
                                       return OkStatus();
                                     })},
      {"string_normalizer_stopwords_case_heeded",
       Set(1, &op::StringNormalizer::is_case_sensitive)},
      {"regex_matches_a_part",
       Rewritten(Ops<op::RegexFullMatch>(),
                 [](auto& op) {
                   if (!op.pattern.has_value()) return;
                   op.pattern = StrCat("(?s:.*)(?:", *op.pattern, ")(?s:.*)");
                 })},
  };
}

}  // namespace assay::faulty
