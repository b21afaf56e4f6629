// SPDX-License-Identifier: Apache-2.0

#include "framework/cli/trace/trace.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <deque>
#include <set>
#include <span>
#include <system_error>
#include <type_traits>
#include <utility>

#include "framework/cli/repro/case_folder.h"
#include "framework/core/text.h"
#include "framework/testing/case/plain_corpus_case.h"
#include "framework/testing/limit/distance.h"
#include "framework/testing/measure/recheck.h"
#include "framework/testing/record/outcome.h"
#include "framework/testing/record/tables.h"
#include "framework/testing/suite/suite.h"

namespace assay::trace {
namespace {

namespace fs = std::filesystem;
using repro::Draft;
using repro::KnownGraph;

/// The suite that judges a case at inputs as they are given, by the oracle.
constexpr std::string_view kJudging = "redrawn";
/// A network has many values: what its limits are is not asked.
constexpr std::string_view kNetwork = "model";

/// Elements of models that are on disk at once.
constexpr int64_t kBatchElements = int64_t{16} << 20;

Status StatusOf(std::string_view who, const record::ResultRow& result) {
  const std::string words =
      StrCat(who, " says ", result.outcome,
             result.message.empty() ? "" : ": " + result.message);
  if (result.outcome == record::Outcome::kUnavailable)
    return Unavailable(words);
  if (result.outcome == record::Outcome::kUnsupported) {
    return Unsupported(Reason::kNone, words);
  }
  return Internal(words);
}

/// Takes the values that one model gives, cut at all of `ids`. Where there is
/// none, the first value that is not given by itself has no answer, nor has
/// any that is computed of it, so that no model is tried for each; and so on.
/// Values that stay in `ids` are given, but not together.
template <class Ask, class Halves, class Take>
Status AskWhole(const KnownGraph& known, const Ask& ask, const Halves& halves,
                const Take& take, std::vector<ValueId>* ids) {
  using Answers = std::decay_t<decltype(ask({}).value())>;
  Answers given;
  const auto gives = [&](size_t first, size_t count) -> Result<bool> {
    const std::span<const ValueId> some(ids->data() + first, count);
    Result<Draft> draft = known.CutAt(some);
    given.clear();
    if (!draft.ok()) {
      given.emplace_back(draft.status());
    } else {
      ASSAY_ASSIGN_OR_RETURN(given, ask({*std::move(draft)}));
    }
    return given[0].ok() && given[0]->size() == count;
  };
  while (!ids->empty()) {
    size_t most = 0;  // that are given together
    size_t few = ids->size() + 1;
    for (size_t count = ids->size(); few - most > 1; count = (most + few) / 2) {
      ASSAY_ASSIGN_OR_RETURN(const bool is_given, gives(0, count));
      (is_given ? most : few) = count;
      if (is_given && count == ids->size()) {
        for (size_t i = 0; i < count; ++i) {
          take((*ids)[i], std::move((*given[0])[i]));
        }
        ids->clear();
        return OkStatus();
      }
      if (!is_given && !given[0].ok() && !halves(given[0].status())) {
        for (const ValueId id : *ids) take(id, given[0].status());
        ids->clear();
        return OkStatus();
      }
    }
    ASSAY_ASSIGN_OR_RETURN(const bool is_given, gives(most, 1));
    if (is_given || given[0].ok()) return OkStatus();
    const ValueId first = (*ids)[most];
    const Status why = given[0].status();
    const std::set<ValueId> behind = known.Behind(first);
    std::erase_if(*ids, [&](ValueId id) {
      if (!behind.contains(id)) return false;
      take(id, id == first ? why
                           : Unsupported(why.reason(), "it is computed of '",
                                         known.graph()[first].name, "', and ",
                                         why.message()));
      return true;
    });
  }
  return OkStatus();
}

/// Asks about models that are cut at some values: of all of them or, where
/// `halves` says so of the answer, of halves, down to one. `ask` gives what a
/// list of drafts answers, `take` gets the part about each value.
template <class Ask, class Halves, class Take>
Status AskCut(const KnownGraph& known, std::vector<ValueId> ids, const Ask& ask,
              const Halves& halves, const Take& take) {
  ASSAY_RETURN_IF_ERROR(AskWhole(known, ask, halves, take, &ids));
  std::deque<std::vector<ValueId>> groups;
  const auto split = [&](const std::vector<ValueId>& group, const Status& why) {
    if (group.size() == 1 || !halves(why)) {
      for (const ValueId id : group) take(id, why);
      return;
    }
    const auto middle = group.begin() + std::ssize(group) / 2;
    groups.emplace_back(group.begin(), middle);
    groups.emplace_back(middle, group.end());
  };
  if (!ids.empty()) split(ids, Internal("they are not given together"));
  while (!groups.empty()) {
    std::vector<std::vector<ValueId>> asked;
    std::vector<Draft> drafts;
    int64_t elements = 0;
    while (!groups.empty() && elements <= kBatchElements) {
      const std::vector<ValueId> group = std::move(groups.front());
      groups.pop_front();
      Result<Draft> draft = known.CutAt(group);
      if (!draft.ok()) {
        split(group, draft.status());
        continue;
      }
      elements += repro::ElementCount(*draft);
      drafts.push_back(*std::move(draft));
      asked.push_back(group);
    }
    ASSAY_ASSIGN_OR_RETURN(auto answers, ask(drafts));
    for (size_t i = 0; i < asked.size(); ++i) {
      if (!answers[i].ok()) {
        split(asked[i], answers[i].status());
      } else if (answers[i]->size() != asked[i].size()) {
        split(asked[i], Internal("found ", answers[i]->size(),
                                 " outputs, wanted ", asked[i].size()));
      } else {
        for (size_t k = 0; k < asked[i].size(); ++k) {
          take(asked[i][k], std::move((*answers[i])[k]));
        }
      }
    }
  }
  return OkStatus();
}

std::vector<TracedNode> NodesOf(const Graph& graph) {
  std::map<ValueId, int64_t> depths;
  std::vector<TracedNode> nodes;
  for (const Node& node : graph.nodes) {
    TracedNode& traced = nodes.emplace_back();
    traced.index = nodes.size() - 1;
    traced.op = cases::OperatorName(node.domain, node.op_type);
    traced.name = node.name;
    for (const ValueId id : edit::ReadBy(node)) {
      traced.depth = std::max(traced.depth, depths[id] + 1);
    }
    for (const ValueId id : node.outputs) {
      if (id == kNoValue) continue;
      if (traced.name.empty()) traced.name = graph[id].name;
      depths[id] = traced.depth;
    }
    traced.name = record::CleanText(traced.name);
  }
  return nodes;
}

/// The distance of one value, or what is wrong with its type.
limit::Distance OwnOf(const ValueInfo& info, const Value& got,
                      const measure::ExactAnswer& answer) {
  limit::Distance own = limit::DistanceOf(got, answer);
  if (info.type.kind == ValueKind::kNone || Accepts(info.type, got.Type())) {
    return own;
  }
  own.limits = HUGE_VAL;
  own.fault = StrCat("found ", got.Type().ToString(), ", wanted ",
                     info.type.ToString());
  return own;
}

void KeepGreater(double limits, std::optional<double>* worst) {
  *worst = std::max(worst->value_or(0), limits);
}

}  // namespace

std::string_view TracedNode::Verdict() const {
  if (!fault.empty()) return "wrong";
  return undecided.empty() ? "right" : "undecided";
}

const TracedNode* Trace::FirstWrong() const {
  const auto found = std::ranges::find(nodes, "wrong", &TracedNode::Verdict);
  return found == nodes.end() ? nullptr : &*found;
}

int64_t Trace::Count(std::string_view verdict) const {
  return std::ranges::count(nodes, verdict, &TracedNode::Verdict);
}

Tracer::Tracer(const select::ChosenCase& chosen, plan::BackendUse oracle,
               supervise::WorkFolder* work)
    : chosen_(chosen),
      backend_(chosen.backend, {chosen.seed, chosen.timeout_s, chosen.digests}),
      oracle_(std::move(oracle),
              {chosen.seed, chosen.timeout_s, chosen.digests}),
      work_(*work) {}

record::PlanRow Tracer::RowOf(std::string_view suite, size_t number) const {
  std::array<char, 16> name;
  std::snprintf(name.data(), name.size(), "%06zu", number);
  record::PlanRow row = chosen_.row;
  row.test_id = StrCat(suite, "/trace/", name.data());
  row.suite = row.kind = suite;
  row.comparator = record::Comparator::kTolerance;
  row.n_data_sets = 1;
  row.vacuous.clear();
  row.expected.reset();
  row.oracle.clear();
  return row;
}

Result<Tracer::Each<Value>> Tracer::RunAll(const std::vector<Draft>& drafts) {
  repro::CaseFolder folder(work_);
  for (size_t i = 0; i < drafts.size(); ++i) {
    ASSAY_RETURN_IF_ERROR(folder.Add(RowOf(kNetwork, i), drafts[i]));
  }
  Each<Value> all;
  if (drafts.empty()) return all;
  // The outputs go to where those that are expected of a case lie.
  ASSAY_ASSIGN_OR_RETURN(
      const auto results,
      backend_.Dump(folder.rows(), work_.Next(), folder.root()));
  for (size_t i = 0; i < results.size(); ++i) {
    if (results[i].outcome != record::Outcome::kPass) {
      all.emplace_back(StatusOf("the backend", results[i]));
      continue;
    }
    Result<cases::CaseData> data =
        cases::ReadCaseData(folder.rows()[i].directory, 1);
    if (data.ok()) {
      all.emplace_back(std::move(data->sets.at(0).expected));
    } else {
      all.emplace_back(data.status());
    }
  }
  return all;
}

Result<Tracer::Each<measure::ExactAnswer>> Tracer::AskAll(
    std::string_view suite, const std::vector<Draft>& drafts) {
  repro::CaseFolder folder(work_);
  for (size_t i = 0; i < drafts.size(); ++i) {
    record::PlanRow row = RowOf(suite, i);
    row.oracle = (folder.root() / "answers" / row.test_id).string();
    ASSAY_RETURN_IF_ERROR(folder.Add(std::move(row), drafts[i]));
  }
  Each<measure::ExactAnswer> all;
  if (drafts.empty()) return all;
  ASSAY_ASSIGN_OR_RETURN(const auto results,
                         oracle_.Answer(folder.rows(), work_.Next()));
  record::RunFacts facts;
  facts.seed = chosen_.seed;
  for (size_t i = 0; i < results.size(); ++i) {
    const record::PlanRow& row = folder.rows()[i];
    if (results[i].outcome != record::Outcome::kPass) {
      all.emplace_back(StatusOf("the oracle", results[i]));
      continue;
    }
    auto lists = measure::ReadAnswers(measure::AnswersFile(row.oracle, 0));
    if (lists.ok()) {
      all.emplace_back(
          std::move((*lists)[suite::QuestionsOf(row, facts).at(0).name]));
    } else {
      all.emplace_back(lists.status());
    }
  }
  return all;
}

/// Fills known_, and hidden_ of what the backend does not show.
Status Tracer::ShowValues(Trace* trace) {
  const std::vector<ValueId>& outputs = known_->graph().outputs;
  ASSAY_ASSIGN_OR_RETURN(const Draft whole, known_->CutAt(outputs));
  ASSAY_ASSIGN_OR_RETURN(const auto as_it_is, RunAll({whole}));
  if (const Status status = as_it_is[0].status(); !status.ok()) {
    if (status.code() == StatusCode::kUnavailable) return status;
    trace->notes.push_back(
        StrCat("The whole network gives no outputs: ", status.message()));
  }
  bool is_cut = false;
  const auto ask = [&](const std::vector<Draft>& drafts) {
    return RunAll(drafts);
  };
  const auto halves = [&](const Status&) { return is_cut = true; };
  const auto take = [&](ValueId id, Result<Value> value) {
    if (value.ok() && value->present()) {
      known_->Know(id, *std::move(value));
    } else {
      hidden_[id] = value.ok() ? "it is absent" : value.status().message();
    }
  };
  ASSAY_RETURN_IF_ERROR(AskCut(*known_, known_->Inner(), ask, halves, take));
  if (is_cut) {
    trace->notes.emplace_back(
        "The backend does not show all inner values at once: they are of "
        "networks that were cut at them, which may round otherwise.");
  }
  for (size_t i = 0; as_it_is[0].ok() && i < outputs.size(); ++i) {
    const Value* const shown = known_->Find(outputs[i]);
    if (i >= as_it_is[0]->size() || shown == nullptr ||
        measure::SameBits((*as_it_is[0])[i], *shown)) {
      continue;
    }
    trace->notes.push_back(
        StrCat("The output ", known_->graph()[outputs[i]].name,
               " is another when inner values are shown: the backend may "
               "compute the network otherwise then."));
  }
  return OkStatus();
}

/// Fills exact_.
Status Tracer::AskNetwork(Trace* trace) {
  const auto ask = [&](const std::vector<Draft>& drafts) {
    return AskAll(kNetwork, drafts);
  };
  // More than declining may be asked for again: it takes as long.
  const auto halves = [](const Status& status) {
    return status.code() == StatusCode::kUnsupported;
  };
  std::string why;
  const auto take = [&](ValueId id, Result<measure::ExactAnswer> answer) {
    if (!answer.ok()) {
      why = answer.status().message();
      return;
    }
    measure::ExactAnswer& kept = exact_[id];
    kept.value = std::move(answer->value);
    kept.bound = std::move(answer->bound);
  };
  ASSAY_RETURN_IF_ERROR(AskCut(*known_, known_->Inner(), ask, halves, take));
  if (!why.empty()) {
    trace->notes.push_back(StrCat("Not every inherited error is known: ", why));
  }
  return OkStatus();
}

std::string Tracer::WhyUnknown(const TracedNode& node,
                               const Status& status) const {
  const Graph& graph = known_->graph();
  std::vector<ValueId> ids = known_->OutputsOf({node.index});
  const auto read = edit::ReadBy(graph.nodes[node.index]);
  ids.insert(ids.begin(), read.begin(), read.end());
  for (const ValueId id : ids) {
    const auto found = hidden_.find(id);
    if (found != hidden_.end()) {
      return StrCat("the value '", graph[id].name,
                    "' is not shown: ", found->second);
    }
  }
  return status.message();
}

void Tracer::JudgeNode(const Result<Answers>& answers, TracedNode* node) const {
  const std::vector<ValueId> outputs = known_->OutputsOf({node->index});
  if (!answers.ok() || answers->size() != outputs.size()) {
    node->undecided = answers.ok() ? "the oracle has other outputs"
                                   : answers.status().message();
    return;
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    const ValueInfo& info = known_->graph()[outputs[i]];
    const Value& got = *known_->Find(outputs[i]);
    const limit::Distance own = OwnOf(info, got, (*answers)[i]);
    node->n_elements += own.n_elements;
    node->n_known += own.n_known;
    node->least = std::max(node->least, own.least);
    if (!own.fault.empty() && !(own.limits <= node->own.value_or(0))) {
      node->fault = StrCat("output ", info.name, ": ", own.fault);
    }
    if (own.n_known > 0 || !own.fault.empty()) {
      KeepGreater(own.limits, &node->own);
    }
    const auto exact = exact_.find(outputs[i]);
    if (exact == exact_.end() || got.tensor() == nullptr) continue;
    const auto inherited =
        limit::InheritedOf(exact->second, (*answers)[i], got.tensor()->dtype());
    if (inherited.has_value()) KeepGreater(*inherited, &node->inherited);
  }
  if (node->own.has_value()) return;
  node->undecided = node->n_elements == 0
                        ? "its outputs are empty"
                        : "the oracle knows no limit of any element";
}

Status Tracer::JudgeNodes(Trace* trace) {
  size_t next = 0;
  while (next < trace->nodes.size()) {
    std::vector<Draft> drafts;
    std::vector<TracedNode*> asked;
    int64_t elements = 0;
    for (; next < trace->nodes.size(); ++next) {
      TracedNode& node = trace->nodes[next];
      elements += known_->ElementsGiven({next});
      if (!drafts.empty() && elements > kBatchElements) break;
      Result<Draft> alone = known_->Alone(next);
      if (alone.ok()) {
        alone->expected.clear();
        drafts.push_back(*std::move(alone));
        asked.push_back(&node);
      } else {
        node.undecided = WhyUnknown(node, alone.status());
      }
    }
    ASSAY_ASSIGN_OR_RETURN(const auto answers, AskAll(kJudging, drafts));
    for (size_t i = 0; i < asked.size(); ++i) JudgeNode(answers[i], asked[i]);
  }
  return OkStatus();
}

Result<Trace> Tracer::Run(const Draft& draft) {
  known_.emplace(draft);
  hidden_.clear();
  exact_.clear();
  Trace trace;
  trace.nodes = NodesOf(known_->graph());
  ASSAY_RETURN_IF_ERROR(ShowValues(&trace));
  ASSAY_RETURN_IF_ERROR(AskNetwork(&trace));
  ASSAY_RETURN_IF_ERROR(JudgeNodes(&trace));
  return trace;
}

Result<repro::CapsuleContent> Tracer::Alone(const TracedNode& node,
                                            const fs::path& folder) const {
  ASSAY_ASSIGN_OR_RETURN(Draft draft, known_->Alone(node.index));
  auto subject = std::make_shared<const suite::Subject>(
      suite::Subject{std::move(draft.model), {std::move(draft.inputs)}, {}});
  ASSAY_RETURN_IF_ERROR(repro::WriteSubject(folder, *subject));
  repro::CapsuleContent content{chosen_, nullptr, std::move(subject)};
  select::ChosenCase& alone = content.chosen;
  cases::TestCase& c = alone.test_case;
  const std::string& from = chosen_.test_case.test_id;
  c = cases::DescribeFolder(folder, 1).test_case;
  c.test_id = StrCat(kJudging, "/", node.op, "/",
                     cases::IdPart(from.substr(from.rfind('/') + 1)), "-",
                     cases::IdPart(node.name));
  c.suite = kJudging;
  c.tier = chosen_.test_case.tier;
  c.vacuous.clear();
  // Where all limits are known, they alone judge.
  if (node.n_known == node.n_elements) {
    c.limit = {record::Comparator::kTolerance, 0, node.least,
               "limits of the node"};
  }
  alone.in_run.reset();
  alone.row = RowOf(kJudging, 0);
  alone.row.test_id = c.test_id;
  alone.row.op = c.op;
  alone.row.comparator = c.limit.comparator;
  alone.row.rtol = c.limit.rtol;
  alone.row.atol = c.limit.atol;
  alone.row.limit_source = c.limit.source;
  content.history = {{"traced from", from},
                     {"node", StrCat(node.index + 1, " of ", known_->size(),
                                     ", ", node.op, " ", node.name)},
                     {"fault", node.fault}};
  return content;
}

}  // namespace assay::trace
