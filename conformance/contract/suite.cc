// SPDX-License-Identifier: Apache-2.0
//
// The suite contract as runs plan it. It registers itself in whatever program
// it is linked into.

#include "framework/testing/suite/suite.h"

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/contract/cases.h"
#include "conformance/contract/contract.h"
#include "framework/backend/backend.h"
#include "framework/core/text.h"
#include "framework/graph/operator.h"
#include "framework/testing/case/test_case.h"
#include "framework/testing/measure/measure.h"
#include "framework/testing/record/rows.h"

namespace assay::contract {
namespace {

struct PlannedCase {
  const ContractCase& contract_case;
  /// Operators without their domain, of which the first that loads is taken.
  std::vector<std::string> probes;
};

measure::Judgement Judge(const PlannedCase& planned, Backend& backend) {
  const Status kept =
      TryContract(planned.contract_case, backend, planned.probes);
  if (kept.ok()) return {record::Outcome::kPass, Reason::kNone, ""};
  const bool declined = kept.code() == StatusCode::kUnsupported;
  return {declined ? record::Outcome::kUnsupported : record::Outcome::kFail,
          declined ? kept.reason() : Reason::kValue,
          StrCat(planned.contract_case.promise, ": ", kept.message())};
}

constexpr char kDomain[] = "ai.onnx";
constexpr std::string_view kSuite = "contract/";

std::vector<std::string> Qualified(std::vector<std::string> operators) {
  for (std::string& name : operators) name = StrCat(kDomain, "::", name);
  return operators;
}

/// The ranks of the tensors in its models, where a claim may ask for them.
std::vector<int> RanksOf(const ContractCase& contract_case) {
  if (contract_case.check == &RunOneElement) return {0, 1, 3};
  return {1};
}

cases::TestCase Planned(const ContractCase& contract_case) {
  cases::TestCase c;
  c.test_id = StrCat(kSuite, contract_case.name);
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

/// Not found, reason reader, for a test_id that is none of this suite's.
Result<PlannedCase> CaseOf(const record::PlanRow& row) {
  std::string_view name = row.test_id;
  if (name.starts_with(kSuite)) name.remove_prefix(kSuite.size());
  const std::span<const ContractCase> cases = ContractCases();
  const auto found = std::ranges::find(cases, name, &ContractCase::name);
  if (found == cases.end()) {
    return Status(StatusCode::kNotFound, Reason::kReader,
                  "no contract case of that name");
  }
  PlannedCase planned{*found, {}};
  std::string_view rest = row.probes;
  while (!rest.empty()) {
    const std::string_view probe = CutFront(&rest, " ");
    planned.probes.emplace_back(probe.substr(probe.find("::") + 2));
  }
  return planned;
}

/// A case for each promise, under the test_id contract/NAME. It needs no
/// corpora.
std::vector<cases::TestCase> PlannedCases(std::span<const cases::Corpus>) {
  std::vector<cases::TestCase> planned;
  for (const ContractCase& c : ContractCases()) planned.push_back(Planned(c));
  return planned;
}

measure::Judgement Run(const record::PlanRow& row, Backend& backend,
                       const record::RunFacts&, record::Record*) {
  const auto planned = CaseOf(row);
  if (planned.ok()) return Judge(*planned, backend);
  const Status& status = planned.status();
  return {suite::OutcomeOf(status), status.reason(), status.message()};
}

const bool kContractRegistered = suite::AddSuite({.name = "contract",
                                                  .cases = &PlannedCases,
                                                  .derives = false,
                                                  .run = &Run});

}  // namespace
}  // namespace assay::contract
