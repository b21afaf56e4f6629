// SPDX-License-Identifier: Apache-2.0

#include "conformance/optimizer/native_run.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string_view>

#include "framework/core/text.h"
#include "framework/file/csv.h"
#include "framework/graph/edit/model_edit.h"
#include "framework/testing/limit/limit.h"

namespace assay::optimizer {
namespace {

using file::ToText;

constexpr std::string_view kLoss = "loss";

/// The settings that are sent as numbers. Conventions are those of ONNX and are
/// not sent.
constexpr std::array<std::string_view, 8> kSent = {
    "rate",    "weight_decay", "beta1",     "beta2",
    "epsilon", "momentum",     "dampening", "rate_decay"};

/// Rounds a number to float32, since a backend may keep it so. A word stays.
std::string InFloat32(const std::string& text) {
  const auto number = file::ParseDouble(text);
  return number.has_value() ? ToText(double{static_cast<float>(*number)})
                            : text;
}

quad::SettingTexts SettingsOf(const train::Made& made) {
  quad::SettingTexts settings = made.settings;
  for (auto& [name, value] : settings) value = InFloat32(value);
  return settings;
}

std::map<std::string, double> Sent(const quad::SettingTexts& settings) {
  std::map<std::string, double> sent;
  for (const auto& [name, value] : settings) {
    if (std::ranges::count(kSent, name) == 0) continue;
    std::from_chars(value.data(), value.data() + value.size(), sent[name]);
  }
  return sent;
}

std::vector<double> InDouble(const quad::QuadTensor& x) {
  std::vector<double> numbers;
  for (const quad::Quad number : x) {
    numbers.push_back(static_cast<double>(number));
  }
  return numbers;
}

/// The judge's gradients, off by as much as those of a backend may be unseen.
std::vector<quad::QuadTensor> Unseen(
    const optdiff::JudgeNetwork::Answer& exact,
    const optdiff::JudgeNetwork::Answer& rounded, double roundoff) {
  std::vector<quad::QuadTensor> gradients;
  for (size_t p = 0; p < exact.gradients.size(); ++p) {
    const std::vector<double>& of_p = exact.gradients[p];
    const double each = optdiff::L2(rounded.gradients[p], of_p) /
                        std::sqrt(static_cast<double>(of_p.size()));
    quad::QuadTensor& gradient = gradients.emplace_back();
    for (const double g : of_p) {
      gradient.push_back(quad::Quad::Of(g, roundoff));
      gradient.back().error =
          optdiff::kSieve * std::max(each, roundoff * std::abs(g));
    }
  }
  return gradients;
}

/// A share of a tensor's greatest number for the arithmetic of a backend that
/// keeps numbers and corrections of its step in float32, or in float64, where
/// corrections subtract numbers near 1 from 1.
double OwnRoundings(DType type) {
  return type == DType::kFloat64 ? 1e-12 : 8 * limit::UnitRoundoff(type);
}

}  // namespace

Result<std::unique_ptr<NativeRun>> NativeRun::Begin(
    const optdiff::Course& course, const train::Wanted& wanted,
    Backend& backend, std::shared_ptr<optdiff::JudgeNetwork> judge,
    draw::Draw draw) {
  std::unique_ptr<NativeRun> run(new NativeRun(course, std::move(judge), draw));
  ASSAY_RETURN_IF_ERROR(run->Load(backend));
  ASSAY_RETURN_IF_ERROR(run->Configure(wanted));
  return run;
}

Status NativeRun::Load(Backend& backend) {
  std::map<std::string, Tensor> values;
  LoadOptions options;
  options.mode = assay::Mode::kTraining;
  for (const train::Parameter& parameter : course_.narrow.parameters) {
    values[parameter.name] = parameter.value;
    options.trainable.push_back(parameter.name);
  }
  x_ = quad::InQuad(course_.narrow.parameters);
  greatest_.resize(x_.size(), 0);
  ASSAY_ASSIGN_OR_RETURN(const auto model,
                         edit::WithInitializers(*course_.narrow.model, values));
  ASSAY_ASSIGN_OR_RETURN(network_, backend.Load(model, options));
  if (network_ == nullptr) return Internal("the backend loaded nothing");
  if (network_->native_step() == nullptr) {
    return Unsupported(Reason::kTraining, "the backend has no native step");
  }
  if (network_->parameters() == nullptr) {
    return Unsupported(Reason::kTraining, "the backend gives no parameters");
  }
  return OkStatus();
}

Status NativeRun::Configure(const train::Wanted& wanted) {
  const auto offered = network_->native_step()->Optimizers();
  if (std::ranges::count(offered, wanted.name) == 0) {
    return Unsupported(Reason::kTraining, "found native steps of ",
                       Joined(offered), ", wanted ", wanted.name);
  }
  ASSAY_ASSIGN_OR_RETURN(const train::Made made, train::MakeOptimizer(wanted));
  const quad::SettingTexts settings = SettingsOf(made);
  ASSAY_ASSIGN_OR_RETURN(rule_,
                         quad::MakeQuadRule(wanted.name, settings, x_.size()));
  return network_->native_step()->Configure(wanted.name, Sent(settings));
}

Status NativeRun::Put(const std::vector<Tensor>& batch) {
  if (binding_ == nullptr) {
    for (const Tensor& tensor : batch) {
      ASSAY_ASSIGN_OR_RETURN(inputs_.emplace_back(), tensor.Clone());
    }
    ASSAY_ASSIGN_OR_RETURN(binding_, network_->Bind(inputs_, {}));
    if (binding_ == nullptr) return Internal("the backend bound nothing");
  }
  for (size_t i = 0; i < batch.size(); ++i) {
    std::ranges::copy(batch[i].bytes(),
                      inputs_[i].mutable_tensor()->mutable_data());
  }
  return OkStatus();
}

Result<std::vector<train::Parameter>> NativeRun::Read() {
  std::vector<train::Parameter> parameters;
  for (const train::Parameter& parameter : course_.narrow.parameters) {
    ASSAY_ASSIGN_OR_RETURN(Tensor value,
                           network_->parameters()->Read(parameter.name));
    if (value.dtype() != parameter.value.dtype() ||
        value.shape() != parameter.value.shape()) {
      return Internal("the parameter '", parameter.name, "' is ",
                      value.Signature(), ", wanted ",
                      parameter.value.Signature());
    }
    parameters.push_back({parameter.name, std::move(value)});
  }
  return parameters;
}

Result<double> NativeRun::Loss() const {
  for (size_t i = 0; i < network_->outputs().size(); ++i) {
    if (network_->outputs()[i].name != kLoss) continue;
    const Tensor* const loss = binding_->outputs()[i].tensor();
    if (loss != nullptr && loss->num_elements() == 1) {
      return draw::NumbersOf(*loss)[0];
    }
  }
  return Internal("found no loss of one element behind the step");
}

Result<optdiff::StepFault> NativeRun::Step(int64_t step,
                                           optdiff::StepRows* rows) {
  ASSAY_ASSIGN_OR_RETURN(const optdiff::StepBatch batch, course_.batch(step));
  ASSAY_RETURN_IF_ERROR(Put(batch.narrow));
  ASSAY_ASSIGN_OR_RETURN(const auto before, Read());
  const optdiff::Place place{batch.wide, before};
  ASSAY_ASSIGN_OR_RETURN(const auto exact, judge_->At(place));
  ASSAY_RETURN_IF_ERROR(network_->native_step()->Step(*binding_, kLoss));
  ASSAY_RETURN_IF_ERROR(network_->Synchronize());
  has_run_ = true;
  ASSAY_ASSIGN_OR_RETURN(loss_, Loss());
  ASSAY_ASSIGN_OR_RETURN(const auto after, Read());
  const double roundoff = limit::UnitRoundoff(before[0].value.dtype());
  ASSAY_ASSIGN_OR_RETURN(const auto rounded,
                         judge_->Rounded(place, roundoff, &draw_));
  rule_->Prepare({.step = step}, &x_);
  rule_->Update({.step = step}, Unseen(*exact, rounded, roundoff), &x_);
  rows->Begin(step, loss_, exact->loss);
  optdiff::StepFault fault =
      FaultOfLoss(exact->loss,
                  std::max(roundoff * std::abs(exact->loss),
                           std::abs(rounded.loss - exact->loss)),
                  rows);
  if (fault.what.empty()) fault = FaultOfUpdate(after, rows);
  x_ = quad::InQuad(after);
  return fault;
}

optdiff::StepFault NativeRun::FaultOfLoss(double exact, double explained,
                                          optdiff::StepRows* rows) {
  const double off = std::abs(loss_ - exact);
  const optdiff::Distance distance = {
      .l2 = off, .linf = off, .norm = std::abs(exact), .explained = explained};
  const double limit = optdiff::kSieve * explained;
  if (rows->Add("loss", distance, off, limit)) return optdiff::StepFault();
  return optdiff::StepFault{optdiff::kFailLoss, "loss",
                            StrCat("the loss is ", ToText(loss_), ", wanted ",
                                   ToText(exact), " within ", ToText(limit))};
}

optdiff::StepFault NativeRun::FaultOfUpdate(
    const std::vector<train::Parameter>& after, optdiff::StepRows* rows) {
  for (size_t p = 0; p < after.size(); ++p) {
    for (const quad::Quad& x : x_[p]) {
      greatest_[p] = std::max(greatest_[p], quad::Size(x.value));
    }
    const double own = OwnRoundings(after[p].value.dtype()) * greatest_[p];
    for (quad::Quad& x : x_[p]) x.error += own / quad::kOrders;
    const quad::Spread spread = quad::SpreadOf(after[p].value, x_[p]);
    optdiff::Distance distance =
        optdiff::DistanceOf(after[p].value, InDouble(x_[p]));
    distance.explained = spread.explained;
    if (rows->Add(after[p].name, distance, spread.linf, spread.limit_of_linf(),
                  spread.is_decided())) {
      continue;
    }
    return {
        optdiff::kFailUpdate, after[p].name,
        StrCat(after[p].name, " is off by ", ToText(spread.off), " in element ",
               spread.nearest, " behind the backend's own step, wanted within ",
               ToText(spread.limit))};
  }
  return {};
}

}  // namespace assay::optimizer
