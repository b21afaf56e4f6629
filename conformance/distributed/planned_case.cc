// SPDX-License-Identifier: Apache-2.0

#include "conformance/distributed/planned_case.h"

#include <map>
#include <string>
#include <string_view>
#include <variant>

#include "conformance/distributed/collective/collective_case.h"
#include "conformance/distributed/collective/collective_run.h"
#include "conformance/distributed/network/network_case.h"
#include "conformance/distributed/network/network_run.h"
#include "conformance/distributed/own/own_case.h"
#include "conformance/distributed/own/own_run.h"
#include "conformance/distributed/scheme/mixing_case.h"
#include "conformance/distributed/scheme/scheme_case.h"
#include "conformance/distributed/scheme/scheme_run.h"
#include "framework/core/text.h"
#include "framework/testing/case/operator_name.h"

namespace assay::distributed {
namespace {

constexpr char kDomain[] = "dist";

using AnyCase =
    std::variant<CollectiveCase, OwnCase, SchemeCase, MixingCase, NetworkCase>;

std::vector<AnyCase> AllCases() {
  std::vector<AnyCase> all;
  const auto add = [&](const auto& cases) {
    all.insert(all.end(), cases.begin(), cases.end());
  };
  add(AllCollectiveCases());
  add(AllOwnCases());
  add(AllSchemeCases());
  add(AllMixingCases());
  add(AllNetworkCases());
  return all;
}

std::string IdOf(const AnyCase& any) {
  return std::visit([](const auto& each) { return each.test_id(); }, any);
}

/// What it is about, its name aside.
void Describe(const CollectiveCase& from, cases::TestCase* c) {
  c->kind = "collective";
  c->dtypes = {std::string(ToString(from.type))};
  c->shape_sig = Shape({dist::ElementsOf(from.what)}).ToString();
  c->n_ranks = from.what.ranks;
  c->tier = from.tier();
  c->drawn = from.numbers == Numbers::kDrawn;
}

void Describe(const OwnCase& from, cases::TestCase* c) {
  Describe(from.of, c);
  c->n_ranks = from.ranks();
  c->attributes = {{"way", std::string(ToString(from.way))}};
}

void Describe(const SchemeCase& from, cases::TestCase* c) {
  c->kind = "scheme";
  c->dtypes = {"float32"};
  c->n_ranks = from.ranks;
  c->tier = from.tier();
  c->attributes = {{"optimizer", from.optimizer}, {"way", from.way}};
}

void Describe(const MixingCase& from, cases::TestCase* c) {
  c->kind = "scheme";
  c->dtypes = {"float64"};
  c->n_ranks = from.ranks;
}

void Describe(const NetworkCase& from, cases::TestCase* c) {
  Describe(from.by, c);
  c->kind = "network";
  c->ranks_train = true;
  c->drawn = true;  // which samples are in a batch
  c->tier = from.tier();
  c->attributes["scheme"] = from.by.scheme;
  c->limit.source = "bits of ranks, bytes, and 1e-4 of the longest way";
}

cases::TestCase Planned(const AnyCase& any) {
  cases::TestCase c;
  c.test_id = IdOf(any);
  c.corpus = c.suite = "distributed";
  std::string_view rest = c.test_id;
  CutFront(&rest, "/");
  const std::string op(CutFront(&rest, "/"));
  c.op = cases::OperatorName(kDomain, op);
  c.domain = kDomain;
  c.opset = 1;
  c.imports = {{c.domain, c.opset}};
  c.operators = {StrCat(kDomain, "::", op)};
  c.ranks[c.operators[0]] = {cases::kNoRank};
  c.value_kinds = {"tensor"};
  c.limit = {record::Comparator::kExact, 0, 0, "bits, bytes and bounds"};
  std::visit([&](const auto& each) { Describe(each, &c); }, any);
  return c;
}

measure::Judgement Run(const CollectiveCase& test_case, const RunOf& run,
                       record::Record* record) {
  return RunCollectiveCase(test_case, run, record);
}
measure::Judgement Run(const OwnCase& test_case, const RunOf& run,
                       record::Record* record) {
  return RunOwnCase(test_case, run, record);
}
measure::Judgement Run(const SchemeCase& test_case, const RunOf& run,
                       record::Record* record) {
  return RunSchemeCase(test_case, run, record);
}
measure::Judgement Run(const MixingCase& test_case, const RunOf& run,
                       record::Record* record) {
  return RunMixingCase(test_case, run, record);
}
measure::Judgement Run(const NetworkCase& test_case, const RunOf& run,
                       record::Record* record) {
  return RunNetworkCase(test_case, run, record);
}

}  // namespace

std::vector<cases::TestCase> PlannedCases(std::span<const cases::Corpus>) {
  std::vector<cases::TestCase> planned;
  for (const AnyCase& each : AllCases()) planned.push_back(Planned(each));
  return planned;
}

measure::Judgement RunPlanned(const record::PlanRow& row, Backend& backend,
                              const record::RunFacts& facts,
                              record::Record* record) {
  static const std::map<std::string, AnyCase> all = [] {
    std::map<std::string, AnyCase> found;
    for (const AnyCase& each : AllCases()) found.emplace(IdOf(each), each);
    return found;
  }();
  const Result<Ranks*> ranks = backend.ranks({});
  if (!ranks.ok()) return Declines(ranks.status());
  if (*ranks == nullptr) {
    return {record::Outcome::kUnsupported, Reason::kOperator,
            StrCat(backend.name(), " carries no messages between ranks")};
  }
  const auto found = all.find(row.test_id);
  if (found == all.end()) {
    return {record::Outcome::kError, Reason::kReader,
            "no case of ranks has that name"};
  }
  const RunOf run = {**ranks, row.transport, facts.seed, &backend,
                     facts.scratch};
  return std::visit([&](const auto& each) { return Run(each, run, record); },
                    found->second);
}

}  // namespace assay::distributed
