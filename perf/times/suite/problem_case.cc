// SPDX-License-Identifier: Apache-2.0

#include "perf/times/suite/problem_case.h"

#include <sys/resource.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "conformance/redrawn/case.h"
#include "framework/core/numbers.h"
#include "framework/core/text.h"
#include "framework/file/file.h"
#include "framework/timing/machine/conditions.h"
#include "perf/problems/inputs.h"
#include "perf/problems/known_problems.h"
#include "perf/problems/make_problem.h"
#include "perf/times/case.h"

namespace assay::times {
namespace {

using problems::Problem;

constexpr std::string_view kDomain = "ai.onnx";

/// "Gemm"; the kind of a problem that is no one operator's.
std::string OpOf(const Problem& problem, const Graph* graph) {
  if (graph != nullptr && graph->nodes.size() == 1) {
    return graph->nodes[0].op_type;
  }
  if (std::holds_alternative<problems::SparseGemm>(problem.of)) return "sparse";
  if (std::holds_alternative<problems::AllReduce>(problem.of)) {
    return "all_reduce";
  }
  return "graph";
}

void AddFacts(const problems::Made& made, cases::TestCase* c) {
  std::set<std::string> operators, types;
  const Graph& graph = made.model->graph();
  for (const Node& node : graph.nodes) {
    operators.insert(StrCat(kDomain, "::", node.op_type));
  }
  for (const ValueType& input : made.inputs) {
    const std::string type(ToString(input.dtype));
    types.insert(type);
    c->input_dtypes.push_back(type);
    if (!c->shape_sig.empty()) c->shape_sig += ";";
    c->shape_sig += input.StaticShape()->ToString();
  }
  for (const ValueId id : graph.outputs) {
    c->output_dtypes.emplace_back(ToString(graph[id].type.dtype));
  }
  c->operators.assign(operators.begin(), operators.end());
  c->dtypes.assign(types.begin(), types.end());
  c->value_kinds = {"tensor"};
}

cases::TestCase CaseOf(const Problem& problem,
                       const Result<problems::Made>& made) {
  cases::TestCase c;
  const Graph* const graph = made.ok() ? &made->model->graph() : nullptr;
  c.op = OpOf(problem, graph);
  c.test_id = StrCat(kTime, "/", c.op, "/", problem.name);
  c.corpus = c.suite = kTime;
  c.domain = kDomain;
  c.kind = "problem";
  c.opset = problems::kOpset;
  c.imports = {{std::string(kDomain), problems::kOpset}};
  c.limit = {record::Comparator::kOracle, 0, 0, "condition units"};
  c.tier = cases::Tier::kScale;
  c.drawn = true;
  if (made.ok()) AddFacts(*made, &c);
  return c;
}

/// Elements of all inputs, by which problems of a kind are compared.
double SizeOf(const Problem& problem, const Result<problems::Made>& made) {
  if (const auto* sparse = std::get_if<problems::SparseGemm>(&problem.of)) {
    const problems::Gemm& p = sparse->product;
    return static_cast<double>(p.m) * static_cast<double>(p.k + p.n);
  }
  if (const auto* sum = std::get_if<problems::AllReduce>(&problem.of)) {
    return static_cast<double>(sum->elements);
  }
  double size = 0;
  for (const ValueType& input : made->inputs) {
    const auto elements = input.StaticShape()->NumElements();
    size += elements.ok() ? static_cast<double>(*elements) : 0;
  }
  return size;
}

/// Memory that this process may take: the machine's, and that of its limit.
double MemoryBytes() {
  double bytes = std::numeric_limits<double>::infinity();
  const auto meminfo = file::ReadFile("/proc/meminfo");
  if (meminfo.ok()) {
    if (const auto there = machine::AvailableBytes(*meminfo)) {
      bytes = static_cast<double>(*there);
    }
  }
  rlimit own = {};
  if (getrlimit(RLIMIT_DATA, &own) == 0 && own.rlim_cur != RLIM_INFINITY) {
    bytes = std::min(bytes, static_cast<double>(own.rlim_cur));
  }
  return bytes;
}

/// The numbers of a set are those of the problem's name, of the seed, and its.
uint64_t KeyOf(const Problem& problem, int set, const record::RunFacts& facts) {
  return core::KeyOf(core::KeyOf(core::StableHash(problem.name), facts.seed),
                     set);
}

/// Nothing of a question's answer may change under one name: the number counts
/// the ways in which inputs were drawn and cut.
std::string NameOf(const Problem& problem, const record::PlanRow& row,
                   const record::RunFacts& facts) {
  const auto cut = CutOf(problem, 0, facts);
  const auto made =
      problems::MakeProblem(cut.has_value() ? cut->problem : problem);
  const uint64_t model = made.ok() ? core::StableHash(made->model->bytes()) : 0;
  return StrCat("problems/2 ", row.test_id, " model ", model, " seed ",
                facts.seed);
}

}  // namespace

std::vector<cases::TestCase> ProblemCases() {
  std::vector<cases::TestCase> all;
  struct Least {
    double size = std::numeric_limits<double>::infinity();
    size_t place = 0;
  };
  std::map<size_t, Least> least;  // by kind
  for (const Problem& problem : problems::KnownProblems()) {
    const auto made = problems::MakeProblem(problem);
    const double size = SizeOf(problem, made);
    Least& known = least[problem.of.index()];
    if (problem.axis.empty() && size < known.size) known = {size, all.size()};
    all.push_back(CaseOf(problem, made));
  }
  for (const auto& [kind, one] : least) all[one.place].tier = cases::Tier::kCi;
  return all;
}

const Problem* ProblemOf(std::string_view test_id) {
  return problems::ProblemNamed(test_id.substr(test_id.rfind('/') + 1));
}

problems::Limits LimitsOf(const record::RunFacts& facts, const Rates& rates) {
  return {.bytes = MemoryBytes() / kCopies,
          .seconds = facts.time_budget_s / kLeastCalls,
          .flops_per_second = rates.flops_per_second,
          .bytes_per_second = rates.bytes_per_second};
}

Result<suite::Subject> WholeOf(const Problem& problem,
                               const record::RunFacts& facts) {
  ASSAY_ASSIGN_OR_RETURN(const problems::Made made,
                         problems::MakeProblem(problem));
  suite::Subject subject{made.model, {}, {}};
  for (int set = 0; set < kJudgedSets; ++set) {
    ASSAY_ASSIGN_OR_RETURN(
        subject.inputs.emplace_back(),
        problems::DrawInputs(problem, made, KeyOf(problem, set, facts)));
  }
  return subject;
}

std::optional<problems::Cut> CutOf(const Problem& problem, int set,
                                   const record::RunFacts& facts) {
  return problems::CutOf(problem, set, KeyOf(problem, 0, facts));
}

Result<suite::Subject> PartOf(const Problem& problem,
                              const record::RunFacts& facts) {
  ASSAY_ASSIGN_OR_RETURN(const problems::Made whole,
                         problems::MakeProblem(problem));
  suite::Subject part;
  for (int set = 0; set < kJudgedSets; ++set) {
    const auto cut = CutOf(problem, set, facts);
    if (!cut.has_value()) {
      return Unsupported(Reason::kShape, problem.name,
                         " has no part that an oracle can take");
    }
    ASSAY_ASSIGN_OR_RETURN(const problems::Made made,
                           problems::MakeProblem(cut->problem));
    part.model = made.model;
    ASSAY_ASSIGN_OR_RETURN(
        part.inputs.emplace_back(),
        problems::DrawAt(problem, whole, KeyOf(problem, set, facts),
                         cut->inputs));
  }
  return part;
}

std::vector<suite::Question> PartQuestionsOf(const Problem& problem,
                                             const record::PlanRow& row,
                                             const record::RunFacts& facts) {
  // Memory is not asked for, which another process may find otherwise.
  problems::Limits limits = LimitsOf(facts);
  limits.bytes = std::numeric_limits<double>::infinity();
  const auto fate = problems::FateOf(problems::NeedsOf(problem), limits);
  if (!fate.ok() || *fate != problems::Fate::kTimed ||
      !CutOf(problem, 0, facts).has_value()) {
    return {};
  }
  return redrawn::AskedAs(NameOf(problem, row, facts), row);
}

Result<std::vector<measure::ExactAnswer>> ReadPartAnswers(
    const Problem& problem, const record::PlanRow& row,
    const record::RunFacts& facts, size_t data_set) {
  return redrawn::ReadNamed(row, data_set, NameOf(problem, row, facts));
}

}  // namespace assay::times
