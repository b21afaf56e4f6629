// SPDX-License-Identifier: Apache-2.0

#include "gradcheck/catalogue/catalogue.h"

#include <algorithm>
#include <map>

namespace assay::gradcheck {
namespace {

std::string FullName(const OperatorInfo& info) {
  return StrCat(info.domain.empty() ? "ai.onnx" : info.domain, "::", info.name);
}

/// Overrides are few and operators many.
using ByOperator =
    std::multimap<std::string_view, const Override*, std::less<>>;

const ByOperator& Index() {
  static const auto* index = [] {
    auto* made = new ByOperator;
    for (const Override& line : Overrides()) made->emplace(line.op, &line);
    return made;
  }();
  return *index;
}

bool MayBeFloat(const types::OperatorSignature& signature,
                const types::FormalParameter& parameter) {
  const auto& types =
      signature.variables[static_cast<size_t>(parameter.variable)].types;
  return std::ranges::any_of(types, [](std::string_view type) {
    return type.find("float32") != std::string_view::npos ||
           type.find("float64") != std::string_view::npos;
  });
}

std::string_view ToString(types::Differentiability flag) {
  switch (flag) {
    case types::Differentiability::kDifferentiable:
      return "differentiable";
    case types::Differentiability::kNot:
      return "non-differentiable";
    case types::Differentiability::kUnknown:
      break;
  }
  return "no flag";
}

}  // namespace

const Override* OverrideOf(OperatorId op,
                           const types::FormalParameter& parameter) {
  const OperatorInfo& info = Operators()[static_cast<size_t>(op)];
  const std::string name = FullName(info);
  const auto [first, last] = Index().equal_range(
      info.domain.empty() ? info.name : std::string_view(name));
  for (auto line = first; line != last; ++line) {
    if (line->second->parameter == parameter.name) return line->second;
  }
  return nullptr;
}

bool IsDifferentiable(OperatorId op, const types::FormalParameter& parameter) {
  if (const Override* line = OverrideOf(op, parameter); line != nullptr) {
    return line->differentiable;
  }
  return parameter.flag == types::Differentiability::kDifferentiable;
}

std::vector<Entry> Catalogue() {
  std::vector<Entry> entries;
  for (size_t i = 0; i < Operators().size(); ++i) {
    const auto id = static_cast<OperatorId>(i);
    const types::OperatorSignature& signature = types::SignatureOf(id);
    const auto add = [&](std::span<const types::FormalParameter> parameters,
                         bool is_input) {
      for (const types::FormalParameter& parameter : parameters) {
        if (!MayBeFloat(signature, parameter)) continue;
        const Override* const line = OverrideOf(id, parameter);
        entries.push_back({FullName(Operators()[i]), is_input,
                           std::string(parameter.name), parameter.flag,
                           IsDifferentiable(id, parameter),
                           line == nullptr ? "" : std::string(line->because)});
      }
    };
    add(signature.inputs, true);
    add(signature.outputs, false);
  }
  std::ranges::stable_sort(entries, {}, &Entry::op);
  return entries;
}

std::string FlagsText() {
  std::string text;
  for (const Entry& entry : Catalogue()) {
    if (entry.because.empty()) continue;
    text +=
        StrCat(entry.op, " ", entry.is_input ? "input " : "output ",
               entry.parameter, ": ", ToString(entry.flag), ", should be ",
               entry.differentiable ? "differentiable" : "non-differentiable",
               ": ", entry.because, "\n");
  }
  return text;
}

}  // namespace assay::gradcheck
