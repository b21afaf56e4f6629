// SPDX-License-Identifier: Apache-2.0

#include "conformance/distributed/planned_case.h"

#include <string>
#include <string_view>
#include <variant>

#include "conformance/distributed/case.h"
#include "conformance/distributed/collective/collective_run.h"
#include "conformance/distributed/neighbor/neighbor_run.h"
#include "conformance/distributed/network/network_run.h"
#include "conformance/distributed/own/own_run.h"
#include "conformance/distributed/scheme/mixing_run.h"
#include "conformance/distributed/scheme/scheme_run.h"
#include "framework/core/text.h"
#include "framework/testing/case/operator_name.h"

namespace assay::distributed {
namespace {

constexpr char kDomain[] = "dist";

/// What it is about, its name aside.
void Describe(const CollectiveCase& from, cases::TestCase* c) {
  c->kind = "collective";
  c->dtypes = {std::string(ToString(from.type))};
  c->shape_sig = Shape({ranks::ElementsOf(from.what)}).ToString();
  c->n_ranks = from.what.ranks;
  c->tier = from.tier();
  c->drawn = from.numbers == Numbers::kDrawn;
}

void Describe(const OwnCase& from, cases::TestCase* c) {
  Describe(from.of, c);
  c->n_ranks = from.ranks();
  c->attributes = {{"way", std::string(ToString(from.way))}};
}

void Describe(const NeighborCase& from, cases::TestCase* c) {
  c->kind = "collective";
  c->dtypes = {"int64"};
  c->shape_sig = Shape({from.count}).ToString();
  c->n_ranks = from.ranks;
  c->attributes = {{"topology", std::string(ToString(from.topology))},
                   {"way", "own"}};
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

}  // namespace

std::vector<cases::TestCase> PlannedCases(std::span<const cases::Corpus>) {
  std::vector<cases::TestCase> planned;
  for (const AnyCase& each : AllCases()) planned.push_back(Planned(each));
  return planned;
}

suite::Sizing CaseSizing() {
  return {
      .named = [](std::string_view test_id) -> std::optional<suite::SizedCase> {
        const std::optional<AnyCase> found = CaseNamed(test_id);
        if (!found.has_value()) return std::nullopt;
        return suite::SizedCase{
            Planned(*found), ExtentsOf(*found),
            [any = *found](std::span<const int64_t> values) {
              return Planned(Resized(any, values));
            }};
      },
      .right = [](const cases::TestCase& test_case) -> std::string {
        return test_case.ranks_train ? "reference+ranks=threads" : "threads";
      }};
}

measure::Judgement RunPlanned(const record::PlanRow& row, Ranks& ranks,
                              Backend* networks, const record::RunFacts& facts,
                              record::Record* record) {
  const std::optional<AnyCase> found = CaseNamed(row.test_id);
  if (!found.has_value()) {
    return {record::Outcome::kError, Reason::kReader,
            "no case of ranks has that name"};
  }
  if (std::holds_alternative<NetworkCase>(*found) && networks == nullptr) {
    return {record::Outcome::kUnsupported, Reason::kOperator,
            "there is no backend whose networks ranks could train"};
  }
  const RunOf run = {ranks, row.transport, facts.seed, networks, facts.scratch};
  return std::visit(
      [&](const auto& each) { return RunCase(each, run, record); }, *found);
}

}  // namespace assay::distributed
