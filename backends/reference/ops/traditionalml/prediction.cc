// SPDX-License-Identifier: Apache-2.0

#include "backends/reference/ops/traditionalml/prediction.h"

#include <iterator>

#include "backends/reference/families.h"
#include "framework/backend/backend.h"

namespace assay::reference {

ScalarKind RealScalarOf(const LoadContext& load, Input input, bool wide) {
  const ScalarKind kind = ScalarOf(load.dtype(input));
  if (kind == ScalarKind::kNone) return kind;
  if (load.options().exact) return ScalarKind::kVar;
  return kind == ScalarKind::kFloat && !wide ? kind : ScalarKind::kDouble;
}

Result<FeatureRows> FeatureRows::Of(const Tensor& x) {
  const Shape& shape = x.shape();
  if (shape.rank() == 1) return FeatureRows{1, shape[0]};
  if (shape.rank() == 2) return FeatureRows{shape[0], shape[1]};
  return InvalidArgument("input 0 has shape ", shape.ToString(),
                         ", wanted [N,C] or [C]");
}

Result<PostTransform> PostTransformNamed(std::string_view name) {
  ASSAY_ASSIGN_OR_RETURN(
      const size_t word,
      WordOf("post_transform", name,
             {"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"}));
  return static_cast<PostTransform>(word);
}

Result<ClassLabels> ClassLabels::Of(const std::vector<int64_t>& integers,
                                    const std::vector<std::string>& strings,
                                    std::string_view integers_name) {
  if (integers.empty() == strings.empty()) {
    return InvalidArgument("found ", integers.size(), " ", integers_name,
                           " and ", strings.size(),
                           " classlabels_strings, wanted one of the two lists");
  }
  ClassLabels labels;
  labels.integers_ = integers;
  labels.strings_ = strings;
  return labels;
}

Status ClassLabels::Write(KernelContext& run, Output output,
                          std::span<const int64_t> classes) const {
  const Shape shape{std::ssize(classes)};
  const DType dtype = are_strings() ? DType::kString : DType::kInt64;
  ASSAY_ASSIGN_OR_RETURN(Tensor * y, run.Output(output, dtype, shape));
  if (y == nullptr) return OkStatus();
  for (size_t i = 0; i < classes.size(); ++i) {
    const auto label = static_cast<size_t>(classes[i]);
    if (are_strings()) {
      y->mutable_strings()[i] = classes[i] < 0 ? "" : strings_[label];
    } else {
      y->mutable_elements<int64_t>()[i] = classes[i] < 0 ? 0 : integers_[label];
    }
  }
  return OkStatus();
}

}  // namespace assay::reference
