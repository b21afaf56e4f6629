// SPDX-License-Identifier: Apache-2.0
//
// Judge: runs a backend on inputs drawn for the run, and holds its outputs
// against an oracle's answers: floating-point numbers within the case's
// tolerance or their condition units, whichever is more; copies of inputs,
// integers, booleans and strings exactly.

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

 private:
  std::string FaultOfTensor(const Tensor& got,
                            const measure::ExactAnswer& answer);
  std::string FaultOfValue(const Value& got,
                           const measure::ExactAnswer& answer);

  const Graph& graph_;
  cases::Limit limit_;
  bool exact_;
  int64_t known_ = 0;
};

measure::Judgement Judge(const record::PlanRow& row, Backend& backend,
                         const record::RunFacts& facts, record::Record* record);

}  // namespace assay::redrawn
