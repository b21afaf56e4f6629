// SPDX-License-Identifier: Apache-2.0

#include "gradcheck/structure/fan_out.h"

#include <utility>
#include <vector>

#include "framework/core/text.h"
#include "framework/file/csv.h"
#include "framework/graph/edit/doubled.h"
#include "gradcheck/draw/draw.h"

namespace assay::gradcheck {
namespace {

constexpr char kUnread[] = "assay_unread";

Result<suite::Subject> Doubled(const suite::Subject& subject) {
  ASSAY_ASSIGN_OR_RETURN(auto model, edit::Doubled(*subject.model, kUnread));
  suite::Subject doubled{
      std::move(model), {subject.inputs[0]}, subject.targets};
  ASSAY_ASSIGN_OR_RETURN(
      Tensor unread,
      Tensor::Of<float>(Shape{2}, std::vector<float>{0.5F, -2.0F}));
  doubled.inputs[0].emplace_back(std::move(unread));
  doubled.targets.emplace_back(kUnread);
  return doubled;
}

std::string FaultOfUnread(const Tensor& gradient) {
  const Shape want{2};
  if (gradient.dtype() != DType::kFloat32 || gradient.shape() != want) {
    return StrCat("the gradient of an input that no node reads is ",
                  gradient.Signature(), ", wanted float32[2]");
  }
  for (const double number : NumbersOf(gradient)) {
    if (number == 0) continue;
    return StrCat("the gradient of an input that no node reads is ",
                  file::ToText(number), ", wanted 0");
  }
  return "";
}

bool Declines(const Result<Trial>& trial) {
  return trial.status().code() == StatusCode::kUnsupported;
}

}  // namespace

Result<std::string> FanOutFault(Trial& trial, const Judged& judged) {
  ASSAY_ASSIGN_OR_RETURN(suite::Subject doubled, Doubled(trial.subject()));
  auto loaded = Trial::Load(trial.backend(), doubled);
  const bool has_unread = !Declines(loaded);
  if (!has_unread) {
    doubled.targets.pop_back();
    loaded = Trial::Load(trial.backend(), doubled);
  }
  if (Declines(loaded)) return std::string();
  ASSAY_RETURN_IF_ERROR(loaded.status());
  ASSAY_RETURN_IF_ERROR(loaded->Forward());
  std::vector<Value> dy(judged.dy.begin(), judged.dy.end());
  dy.insert(dy.end(), judged.dy.begin(), judged.dy.end());
  ASSAY_ASSIGN_OR_RETURN(std::vector<Value> gradients,
                         loaded->Backward(dy, doubled.targets));
  if (has_unread) {
    const std::string fault = FaultOfUnread(*gradients.back().tensor());
    if (!fault.empty()) return fault;
    gradients.pop_back();
  }
  const Beside beside = judged.Hold(gradients, 2);
  if (beside.fault.empty()) return loaded->Damage();
  return StrCat("where each input is read by two nodes, ", beside.fault);
}

}  // namespace assay::gradcheck
