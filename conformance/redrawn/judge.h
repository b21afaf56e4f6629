// SPDX-License-Identifier: Apache-2.0
//
// Judge: runs a backend on inputs drawn for the run, and holds its outputs
// against an oracle's answers: floating-point numbers within the case's
// tolerance or their condition units, whichever is more; copies of inputs,
// integers, booleans and strings exactly. JudgeUnstated does so at the inputs
// of a case that states no outputs. An output of which the oracle knows nothing
// is neither right nor wrong: it is undecided.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "framework/backend/backend.h"
#include "framework/core/value.h"
#include "framework/graph/model.h"
#include "framework/testing/case/test_case.h"
#include "framework/testing/measure/exact_answers.h"
#include "framework/testing/measure/measure.h"
#include "framework/testing/record/record.h"
#include "framework/testing/record/rows.h"

namespace assay::redrawn {

/// True where every output is a copy of elements of inputs, or chosen among
/// them.
bool OnlyCopies(const Graph& graph);

class OutputJudge {
 public:
  /// Judges the outputs of a main graph, which is kept by reference.
  OutputJudge(const Graph& graph, const cases::Limit& limit);

  /// The fault of the output of that index in words; empty where there is none.
  std::string FaultOf(size_t index, const Value& got,
                      const measure::ExactAnswer& answer);

  /// Elements and values that were judged: those that the oracle knows.
  int64_t known() const { return known_; }

  /// Why the last output was right in vain, in words: the oracle knows nothing
  /// of it, or its limits permit an error of more than 1 % of its size and its
  /// error is more than the tolerance. Empty where it was not.
  const std::string& doubt() const { return doubt_; }

 private:
  std::string FaultOfTensor(const Tensor& got,
                            const measure::ExactAnswer& answer);
  std::string FaultOfValue(const Value& got,
                           const measure::ExactAnswer& answer);

  const Graph& graph_;
  cases::Limit limit_;
  bool exact_;
  int64_t known_ = 0;
  std::string doubt_;
};

measure::Judgement Judge(const record::PlanRow& row, Backend& backend,
                         const record::RunFacts& facts, record::Record* record);

/// Every data set of a case whose files state no outputs, at its own inputs.
measure::Judgement JudgeUnstated(const record::PlanRow& row, Backend& backend,
                                 const record::RunFacts& facts,
                                 record::Record* record);

}  // namespace assay::redrawn
