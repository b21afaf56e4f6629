// SPDX-License-Identifier: Apache-2.0

#include "conformance/contract/suite.h"

#include <algorithm>
#include <span>
#include <utility>

#include "conformance/contract/cases.h"
#include "conformance/contract/contract.h"
#include "framework/graph/operator.h"

namespace assay::contract {
namespace {

constexpr char kDomain[] = "ai.onnx";

std::vector<std::string> Qualified(std::vector<std::string> operators) {
  for (std::string& name : operators) name = StrCat(kDomain, "::", name);
  return operators;
}

/// The ranks of the tensors in its models, where a claim may ask for them.
std::vector<int> RanksOf(const ContractCase& contract_case) {
  if (contract_case.check == &RunOneElement) return {0, 1, 3};
  return {1};
}

cases::TestCase Describe(const ContractCase& contract_case) {
  cases::TestCase c;
  c.test_id = StrCat("contract/", contract_case.name);
  c.corpus = c.suite = c.kind = "contract";
  c.op = contract_case.name.substr(0, contract_case.name.find('/'));
  c.domain = kDomain;
  c.opset = NewestOpset("");
  c.imports = {{c.domain, c.opset}};
  if (contract_case.duty == Duty::kMust) {
    c.operators = Qualified(contract_case.Operators());
    c.probes = Qualified(contract_case.Probes());
  }
  for (const std::vector<std::string>& names : {c.operators, c.probes}) {
    for (const std::string& name : names) {
      c.ranks[name] = RanksOf(contract_case);
    }
  }
  c.dtypes = {"float32"};
  c.value_kinds = {"tensor"};
  c.limit = {record::Comparator::kExact, 0, 0, "contract"};
  return c;
}

std::vector<cases::TestCase> Describe(std::span<const cases::Corpus>) {
  std::vector<cases::TestCase> cases;
  for (const ContractCase& c : ContractCases()) cases.push_back(Describe(c));
  return cases;
}

measure::Judgement Run(const record::PlanRow& row, Backend& backend,
                       const record::RunFacts&, record::Record*) {
  const std::string_view name =
      std::string_view(row.test_id).substr(sizeof "contract/" - 1);
  const std::span<const ContractCase> cases = ContractCases();
  const auto c = std::ranges::find(cases, name, &ContractCase::name);
  if (c == cases.end()) {
    return {record::Outcome::kError, Reason::kReader,
            "no contract case of that name"};
  }
  std::vector<std::string> probes;
  std::string_view rest = row.probes;
  while (!rest.empty()) {
    const std::string_view probe = CutFront(&rest, " ");
    probes.emplace_back(probe.substr(probe.find("::") + 2));
  }
  const Status kept = TryContract(*c, backend, std::move(probes));
  if (kept.ok()) return {record::Outcome::kPass, Reason::kNone, ""};
  const bool declined = kept.code() == StatusCode::kUnsupported;
  return {declined ? record::Outcome::kUnsupported : record::Outcome::kFail,
          declined ? kept.reason() : Reason::kValue,
          StrCat(c->promise, ": ", kept.message())};
}

const bool kContractRegistered = suite::AddSuite(ContractSuite());

}  // namespace

suite::Suite ContractSuite() {
  return {
      .name = "contract", .cases = &Describe, .derives = false, .run = &Run};
}

}  // namespace assay::contract
