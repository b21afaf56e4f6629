// SPDX-License-Identifier: Apache-2.0

#include "gradcheck/catalogue/catalogue.h"

#include <algorithm>
#include <map>
#include <set>

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

/// As ONNX's schemas are written.
std::string_view ToString(types::Differentiability flag) {
  switch (flag) {
    case types::Differentiability::kDifferentiable:
      return "Differentiable";
    case types::Differentiability::kNot:
      return "NonDifferentiable";
    case types::Differentiability::kUnknown:
      break;
  }
  return "missing";
}

std::string_view WantedFlag(const Entry& entry) {
  return ToString(entry.differentiable
                      ? types::Differentiability::kDifferentiable
                      : types::Differentiability::kNot);
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
        entries.push_back({FullName(Operators()[i]),
                           Operators()[i].versions.back(), is_input,
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
  const std::vector<Entry> entries = Catalogue();
  std::set<std::string_view> operators, wrong_operators;
  std::map<types::Differentiability, int> counts;
  std::string lines;
  for (const Entry& entry : entries) {
    operators.insert(entry.op);
    if (entry.because.empty()) continue;
    ++counts[entry.flag];
    if (wrong_operators.insert(entry.op).second) {
      lines += StrCat("\n", entry.op, ", since opset ", entry.since, "\n");
    }
    lines += StrCat("  ", entry.is_input ? "input " : "output ",
                    entry.parameter, ": ", ToString(entry.flag), ", should be ",
                    WantedFlag(entry), "\n    ", entry.because, "\n");
  }
  using enum types::Differentiability;
  return StrCat(
      "Flags of differentiability in the operator schemas of ONNX ",
      ASSAY_ONNX_VERSION, "\n\n", entries.size(), " inputs and outputs of ",
      operators.size(), " operators may be of a floating-point type.\n",
      counts[kUnknown] + counts[kNot] + counts[kDifferentiable],
      " of them, of ", wrong_operators.size(),
      " operators, should have another flag: ", counts[kUnknown],
      " have none,\n", counts[kNot], " are NonDifferentiable, ",
      counts[kDifferentiable],
      " are Differentiable.\n\n"
      "Each line below says which flag the operator's newest schema has, and "
      "which\nit should have and why. \"Linear in\" a parameter means with all "
      "else held.\n",
      lines);
}

std::vector<std::vector<std::pair<std::string, std::string>>> FlagRows() {
  std::vector<std::vector<std::pair<std::string, std::string>>> rows;
  for (const Entry& entry : Catalogue()) {
    if (entry.because.empty()) continue;
    rows.push_back({{"operator", entry.op},
                    {"since", StrCat(entry.since)},
                    {"place", entry.is_input ? "input" : "output"},
                    {"parameter", entry.parameter},
                    {"flag", std::string(ToString(entry.flag))},
                    {"should_be", std::string(WantedFlag(entry))},
                    {"because", entry.because}});
  }
  return rows;
}

}  // namespace assay::gradcheck
