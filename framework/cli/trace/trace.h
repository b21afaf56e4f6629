// SPDX-License-Identifier: Apache-2.0
//
// Tracing: every value that a backend computes between the nodes of a network,
// held against the oracle node by node.
//
//   Tracer tracer(chosen, oracle, &work);
//   ASSAY_ASSIGN_OR_RETURN(const Trace trace, tracer.Run(draft));
//   if (const TracedNode* first = trace.FirstWrong()) Report(*first);
//
// A node's own error is that of what the backend computed from what is exact
// for what it was given: the backend's own inputs of that node, fed to the
// oracle for that node alone. Its inherited error is the rest: how far what is
// exact for these inputs is from what is exact for the network. Both are in
// limits of the node (framework/testing/limit), so that an own error beyond 1
// is a fault of that node, whatever its neighbours did.

#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "framework/cli/repro/capsule.h"
#include "framework/cli/repro/known_graph.h"
#include "framework/cli/repro/shrink_draft.h"
#include "framework/cli/select/chosen_case.h"
#include "framework/core/status.h"
#include "framework/supervise/trial.h"
#include "framework/testing/measure/exact_answers.h"
#include "framework/testing/record/rows.h"

namespace assay::trace {

struct TracedNode {
  size_t index = 0;  // in the graph
  std::string name;  // its own, or that of its first output
  std::string op;
  int64_t depth = 1;  // nodes on the longest way to it, itself included
  /// The worst of its outputs, in limits; infinite where nothing but the right
  /// value is allowed.
  std::optional<double> own, inherited;
  int64_t n_elements = 0;
  int64_t n_known = 0;    // that could be judged
  double least = 0;       // limit of an element, as a number
  std::string fault;      // of the node by itself; empty: it has none
  std::string undecided;  // why nothing can be said of it; empty: something can

  /// "right", "wrong" or "undecided".
  std::string_view Verdict() const;
};

struct Trace {
  std::vector<TracedNode> nodes;   // in the order of the graph
  std::vector<std::string> notes;  // on how the values were got

  /// Null where every node that could be judged is right.
  const TracedNode* FirstWrong() const;
  int64_t Count(std::string_view verdict) const;
};

class Tracer {
 public:
  /// Both outlive it.
  Tracer(const select::ChosenCase& chosen, plan::BackendUse oracle,
         supervise::WorkFolder* work);

  /// Traces one network at its inputs. Unavailable where the backend is.
  Result<Trace> Run(const repro::Draft& draft);

  /// After Run: a node as a case of its own, fed what the backend fed it and
  /// judged by the oracle, in limits. Its files go to `folder`.
  Result<repro::CapsuleContent> Alone(
      const TracedNode& node, const std::filesystem::path& folder) const;

 private:
  using Answers = std::vector<measure::ExactAnswer>;
  template <class Output>
  using Each = std::vector<Result<std::vector<Output>>>;

  record::PlanRow RowOf(std::string_view suite, size_t number) const;
  /// The outputs of models on the backend, or why there are none.
  Result<Each<Value>> RunAll(const std::vector<repro::Draft>& drafts);
  /// The oracle's answers to models, as cases of a suite.
  Result<Each<measure::ExactAnswer>> AskAll(
      std::string_view suite, const std::vector<repro::Draft>& drafts);
  Status ShowValues(Trace* trace);
  Status AskNetwork(Trace* trace);
  Status JudgeNodes(Trace* trace);
  void JudgeNode(const Result<Answers>& answers, TracedNode* node) const;
  std::string WhyUnknown(const TracedNode& node, const Status& status) const;

  const select::ChosenCase& chosen_;
  const supervise::Trial backend_, oracle_;
  supervise::WorkFolder& work_;
  std::optional<repro::KnownGraph> known_;         // what the backend computed
  std::map<ValueId, std::string> hidden_;          // why it shows no such value
  std::map<ValueId, measure::ExactAnswer> exact_;  // of the network
};

}  // namespace assay::trace
