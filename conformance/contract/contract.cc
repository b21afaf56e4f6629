// SPDX-License-Identifier: Apache-2.0

#include "conformance/contract/contract.h"

#include <array>

#include "conformance/contract/cases.h"
#include "framework/backend/exception.h"

namespace assay::contract {
namespace {

#define ASSAY_CASE(function, name, duty, operators, promise) \
  ContractCase{name, Duty::duty, operators, promise, &function},
constexpr auto kCases = std::to_array({ASSAY_CONTRACT_CASES(ASSAY_CASE)});
#undef ASSAY_CASE

std::vector<std::string> Words(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) words.emplace_back(CutFront(&text, " "));
  return words;
}

/// With a gradient by x, where the case takes gradients and any probe has one.
Result<const ProbeOperator*> ProbeFor(const ContractCase& contract_case,
                                      Backend& backend,
                                      std::span<const std::string> probes) {
  if (contract_case.name.starts_with("gradient/")) {
    LoadOptions differentiated;
    differentiated.gradient_targets = {"x"};
    auto found = FindProbe(backend, probes, differentiated);
    if (found.ok()) return found;
  }
  return FindProbe(backend, probes, {});
}

}  // namespace

std::span<const ContractCase> ContractCases() { return kCases; }

std::vector<std::string> ContractCase::Operators() const {
  std::vector<std::string> names = Words(operators);
  std::erase_if(names,
                [](const std::string& name) { return name.ends_with('*'); });
  return names;
}

std::vector<std::string> ContractCase::Probes() const {
  for (std::string& name : Words(operators)) {
    if (!name.ends_with('*')) continue;
    name.pop_back();
    return ProbesFrom(name);
  }
  return {};
}

Status TryContract(const ContractCase& contract_case, Backend& backend,
                   std::vector<std::string> probes) {
  if (probes.empty()) probes = contract_case.Probes();
  try {
    // One that is about an operator of its own looks at no probe.
    const ProbeOperator* probe = &contract::Probes().front();
    if (!probes.empty()) {
      ASSAY_ASSIGN_OR_RETURN(probe, ProbeFor(contract_case, backend, probes));
    }
    const Status kept = contract_case.check(backend, *probe);
    if (kept.ok() || probes.empty()) return kept;
    return kept.WithContext(StrCat("probed with ", probe->op));
  } catch (...) {
    return backend::StatusOfException(contract_case.name);
  }
}

}  // namespace assay::contract
