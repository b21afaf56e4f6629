// SPDX-License-Identifier: Apache-2.0
//
// RegexFullMatch, over RE2, whose syntax ONNX names.

#include <re2/re2.h>

#include <algorithm>
#include <memory>

#include "backends/reference/families.h"

namespace assay::reference {
namespace {

// ONNX page of RegexFullMatch-20: true where the whole element matches.
Result<Kernel> MakeRegexFullMatch(const op::RegexFullMatch& op, LoadContext&) {
  if (!op.pattern.has_value()) {
    return InvalidArgument("found no pattern, wanted one");
  }
  RE2::Options options;
  options.set_log_errors(false);
  const auto pattern = std::make_shared<const RE2>(*op.pattern, options);
  if (!pattern->ok()) {
    return InvalidArgument("pattern is '", *op.pattern,
                           "': ", pattern->error());
  }
  return Kernel{.forward = [op, pattern](KernelContext& run) -> Status {
    const Tensor& x = run.input(op.x);
    ASSAY_ASSIGN_OR_RETURN(Tensor * y,
                           run.Output(op.y, DType::kBool, x.shape()));
    std::ranges::transform(x.strings(), y->mutable_elements<bool>().begin(),
                           [&](const std::string& text) {
                             return RE2::FullMatch(text, *pattern);
                           });
    return OkStatus();
  }};
}

}  // namespace

Family PatternFamily() { return FamilyOf(MakeRegexFullMatch); }

}  // namespace assay::reference
