// SPDX-License-Identifier: Apache-2.0
//
// One output held against an oracle's answer, whatever kind of value it is.
//
//   OutputJudge judge(graph, {.rtol = 1e-3, .atol = 1e-7});
//   const std::string fault = judge.FaultOf(0, got, answer);
//   judge.known();  // elements that could be told right from wrong

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "framework/core/value.h"
#include "framework/graph/model.h"
#include "framework/testing/case/test_case.h"
#include "framework/testing/measure/exact_answers.h"

namespace assay::redrawn {

/// True where every output is a copy of elements of inputs, or chosen among
/// them.
bool OnlyCopies(const Graph& graph);

class OutputJudge {
 public:
  /// Of a main graph, which is kept by reference.
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

}  // namespace assay::redrawn
