// SPDX-License-Identifier: Apache-2.0
//
// For tests of kernels: a graph in ONNX's text form, what is fed, and what
// comes out.
//
//   ExpectRows({{"g (float[2] x) => (float[2] y) { y = Relu(x) }",
//                {F({2}, {-1, 2})},
//                {F({2}, {0, 2})}},
//               Of("Relu(x)", {F({2}, {-1, 2})}, {F({2}, {0, 2})})});

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backends/reference/families.h"
#include "framework/backend/eager/eager.h"

namespace assay::reference {

class RowBackend : public ReferenceBackend {
 public:
  std::string_view name() const override { return "reference"; }
  Result<Probe> Inspect() override { return Probe{}; }
};

/// A tensor by its elements; integers and booleans are written as doubles.
struct Feed {
  DType dtype;
  Shape shape;
  std::vector<double> values;

  Tensor Make() const;
};

inline Feed F(Shape shape, std::vector<double> values) {
  return {DType::kFloat32, std::move(shape), std::move(values)};
}
inline Feed D(Shape shape, std::vector<double> values) {
  return {DType::kFloat64, std::move(shape), std::move(values)};
}
inline Feed I(Shape shape, std::vector<double> values) {
  return {DType::kInt64, std::move(shape), std::move(values)};
}
inline Feed B(Shape shape, std::vector<double> values) {
  return {DType::kBool, std::move(shape), std::move(values)};
}

struct Row {
  std::string graph;
  std::vector<Feed> feeds;
  std::vector<Feed> wanted;
};

/// The row of a graph of one node, such as "Clip(x, , b)" or "v, i = TopK(x,
/// k)", whose inputs, in their order, have the types of the feeds and whose
/// outputs those of what is wanted; an only output needs no name.
Row Of(const std::string& node, std::vector<Feed> feeds,
       std::vector<Feed> wanted);

/// A graph that is declined, at Load or in the run, with the message.
struct Refusal {
  std::string graph;
  std::vector<Feed> feeds;
  StatusCode code;
  std::string message;
};

/// A refusal whose code is that of all rows.
struct Wrong {
  std::string graph;
  std::vector<Feed> feeds;
  std::string message;
};

/// The declaration of inputs, or outputs, that take such tensors: for
/// "x t" perhaps "float[x0,x1] x, int64[t0] t". Extents are left open.
std::string Declare(const std::string& names, const std::vector<Feed>& feeds);

std::shared_ptr<const Model> ModelOf(const std::string& graph);

/// The outputs of the graph, the inputs being fed in order.
Result<std::vector<assay::Value>> Compute(const std::string& graph,
                                          const std::vector<Feed>& feeds,
                                          const LoadOptions& options = {});

/// Types and shapes are equal; integers, NaN, infinities and zeros with their
/// signs exact; other floats within 4e-7 of the wanted value.
void ExpectRows(const std::vector<Row>& rows);

/// The codes are equal, and the messages hold the wanted ones.
void ExpectRefusals(const std::vector<Refusal>& rows);
void ExpectWrong(const std::vector<Wrong>& rows,
                 StatusCode code = StatusCode::kInvalidArgument);

}  // namespace assay::reference
