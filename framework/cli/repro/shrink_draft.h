// SPDX-License-Identifier: Apache-2.0
//
// Draft: a case in memory, while it is being made smaller: a model, its inputs,
// and the right outputs.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "framework/core/status.h"
#include "framework/graph/model.h"

namespace assay::repro {

struct Draft {
  std::shared_ptr<const Model> model;
  std::vector<Value> inputs;
  std::vector<Value> expected;       // empty: the oracle is to be asked
  std::vector<std::string> targets;  // of derivatives; none of a forward case
};

/// A value that a draft is given: an input, or an initializer that nodes read.
struct Source {
  ValueId id = kNoValue;
  std::string name;
  bool fixed = false;  // an initializer
  Value value;
};

std::vector<Source> SourcesOf(const Draft& draft);

/// The draft with other values and the types that follow from them; what is
/// right is then not known. An error when that is no valid model.
Result<Draft> WithSources(const Draft& draft,
                          const std::vector<Source>& sources);

/// The draft with the nodes and outputs of another graph of its values; what is
/// right is then not known. An error when that is no valid model.
Result<Draft> WithGraph(const Draft& draft, const Graph& graph);

/// The draft whose outputs are declared as what is expected of them, or as
/// follows from its inputs where that is not known.
Result<Draft> WithOutputTypes(const Draft& draft);

/// Nodes of the main graph, and elements of all tensors that it is given.
int64_t NodeCount(const Draft& draft);
int64_t ElementCount(const Draft& draft);
int64_t ElementCount(const std::vector<Source>& sources);

/// 0, 1, ... n - 1.
std::vector<size_t> Indices(size_t n);

/// `count` entries of an axis from `first` on. Invalid argument for types of
/// less than a byte.
struct Span {
  int64_t first = 0, count = 1;
};
Result<Tensor> Slice(const Tensor& tensor, int axis, const Span& span);

}  // namespace assay::repro
