// SPDX-License-Identifier: Apache-2.0

#include "conformance/contract/contract.h"

#include <algorithm>
#include <array>

#include "conformance/contract/cases.h"
#include "framework/backend/exception.h"
#include "framework/graph/operator.h"
#include "framework/testing/suite/suite.h"

namespace assay::contract {
namespace {

#define ASSAY_CASE(function, name, operators, promise) \
  ContractCase{name, operators, promise, &function},
constexpr auto kCases = std::to_array({ASSAY_CONTRACT_CASES(ASSAY_CASE)});
#undef ASSAY_CASE

std::vector<std::string> OperatorsOf(const ContractCase& contract_case) {
  std::vector<std::string> names;
  std::string_view rest = contract_case.operators;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find(' '), rest.size());
    names.push_back(StrCat("ai.onnx::", rest.substr(0, end)));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return names;
}

cases::TestCase Describe(const ContractCase& contract_case) {
  cases::TestCase c;
  c.test_id = StrCat("contract/", contract_case.name);
  c.corpus = c.suite = c.kind = "contract";
  c.op = contract_case.name.substr(0, contract_case.name.find('/'));
  c.domain = "ai.onnx";
  c.opset = NewestOpset("");
  c.imports = {{c.domain, c.opset}};
  c.operators = OperatorsOf(contract_case);
  c.dtypes = {"float32"};
  c.value_kinds = {"tensor"};
  c.limit = {record::Comparator::kExact, 0, 0, "contract"};
  return c;
}

std::vector<cases::TestCase> Describe(std::span<const cases::Corpus>) {
  std::vector<cases::TestCase> cases;
  for (const ContractCase& c : kCases) cases.push_back(Describe(c));
  return cases;
}

measure::Judgement Run(const record::PlanRow& row, Backend& backend,
                       const record::RunFacts&, record::Record*) {
  const std::string_view name =
      std::string_view(row.test_id).substr(sizeof "contract/" - 1);
  for (const ContractCase& c : kCases) {
    if (c.name != name) continue;
    const Status kept = TryContract(c, backend);
    if (kept.ok()) return {record::Outcome::kPass, Reason::kNone, ""};
    const bool declined = kept.code() == StatusCode::kUnsupported;
    return {declined ? record::Outcome::kUnsupported : record::Outcome::kFail,
            declined ? kept.reason() : Reason::kValue,
            StrCat(c.promise, ": ", kept.message())};
  }
  return {record::Outcome::kError, Reason::kReader,
          "no contract case of that name"};
}

const bool kRegistered = suite::AddSuite(
    {.name = "contract", .cases = &Describe, .derives = false, .run = &Run});

}  // namespace

std::span<const ContractCase> ContractCases() { return kCases; }

Status TryContract(const ContractCase& contract_case, Backend& backend) {
  try {
    return contract_case.check(backend);
  } catch (...) {
    return backend::StatusOfException(contract_case.name);
  }
}

}  // namespace assay::contract
