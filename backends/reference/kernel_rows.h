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

std::vector<assay::Value> ValuesOf(const std::vector<Feed>& feeds);

/// A direction along one output, or input, of an exact run.
std::vector<assay::Value> Ones(int64_t count);

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
  std::string message;
  StatusCode code = StatusCode::kInvalidArgument;
};

/// The declaration of inputs, or outputs, that take such tensors: for
/// "x t" perhaps "float[x0,x1] x, int64[t0] t". Extents are left open.
std::string Declare(const std::string& names, const std::vector<Feed>& feeds);

/// Likewise, with the extents of the feeds: of the names in a list such as
/// "x, , b", each once.
std::string DeclareFully(const std::string& list,
                         const std::vector<Feed>& feeds);

std::shared_ptr<const Model> ModelOf(const std::string& graph);

/// The graph's network. Throws std::runtime_error where it is declined.
std::unique_ptr<Network> NetworkOf(const std::string& graph,
                                   const LoadOptions& options = {});

/// The outputs of the graph, the inputs being fed in order.
Result<std::vector<assay::Value>> Compute(const std::string& graph,
                                          const std::vector<Feed>& feeds,
                                          const LoadOptions& options = {});

/// Likewise. Throws std::runtime_error where there are none.
std::vector<assay::Value> OutputsOf(const std::string& graph,
                                    const std::vector<Feed>& feeds,
                                    const LoadOptions& options = {});

/// The elements of a tensor.
std::vector<double> NumbersOf(const assay::Value& value);

/// Types and shapes are equal; integers, NaN, infinities and zeros with their
/// signs exact; other floats within 4e-7 of the wanted value.
void ExpectRows(const std::vector<Row>& rows);

/// The codes are equal, and the messages hold the wanted ones.
void ExpectRefusals(const std::vector<Refusal>& rows);

}  // namespace assay::reference
