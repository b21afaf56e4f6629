// SPDX-License-Identifier: Apache-2.0

#include "perf/problems/make_problem.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "framework/core/text.h"
#include "framework/graph/model_text.h"
#include "perf/work/work_of.h"

namespace assay::problems {
namespace {

/// The name of a type in ONNX's text form.
std::optional<std::string_view> TextName(DType type) {
  switch (type) {
    case DType::kFloat32:
      return "float";
    case DType::kFloat64:
      return "double";
    case DType::kFloat16:
      return "float16";
    case DType::kBFloat16:
      return "bfloat16";
    default:
      return std::nullopt;
  }
}

/// "$T[2,3] NAME"
std::string Typed(const Shape& shape, std::string_view name) {
  return StrCat("$T", shape.ToString(), " ", name);
}

std::string TextOf(const Gemm& p) {
  const Shape a = p.a_transposed ? Shape{p.k, p.m} : Shape{p.m, p.k};
  const Shape b = p.b_transposed ? Shape{p.n, p.k} : Shape{p.k, p.n};
  return StrCat("(", Typed(a, "a"), ", ", Typed(b, "b"), ") => (",
                Typed({p.m, p.n}, "y"),
                ") { y = Gemm<transA = ", p.a_transposed ? 1 : 0,
                ", transB = ", p.b_transposed ? 1 : 0, ">(a, b) }");
}

std::string TextOf(const Convolution& p) {
  const int64_t out_h = (p.h + 2 * p.pad_h - p.r) / p.stride_h + 1;
  const int64_t out_w = (p.w + 2 * p.pad_w - p.s) / p.stride_w + 1;
  return StrCat("(", Typed({p.n, p.c, p.h, p.w}, "x"), ", ",
                Typed({p.k, p.c / p.group, p.r, p.s}, "w"), ") => (",
                Typed({p.n, p.k, out_h, out_w}, "y"),
                ") { y = Conv<group = ", p.group, ", pads = [", p.pad_h, ", ",
                p.pad_w, ", ", p.pad_h, ", ", p.pad_w, "], strides = [",
                p.stride_h, ", ", p.stride_w, "]>(x, w) }");
}

/// cuDNN's forms: vanilla has Relu, the GRU's reset gate comes behind the
/// product, and each cell adds biases.
std::string TextOf(const Recurrent& p) {
  struct Cell {
    std::string_view op, attributes;
    int64_t gates;
  };
  static const std::map<std::string_view, Cell> cells = {
      {"vanilla", {"RNN", ", activations = [\"Relu\"]", 1}},
      {"lstm", {"LSTM", "", 4}},
      {"gru", {"GRU", ", linear_before_reset = 1", 3}}};
  const Cell& cell = cells.at(p.cell);
  const int64_t rows = cell.gates * p.hidden;
  return StrCat(
      "(", Typed({p.steps, p.batch, p.hidden}, "x"), ", ",
      Typed({1, rows, p.hidden}, "w"), ", ", Typed({1, rows, p.hidden}, "r"),
      ", ", Typed({1, 2 * rows}, "b"), ") => (",
      Typed({p.steps, 1, p.batch, p.hidden}, "y"), ") { y = ", cell.op,
      "<hidden_size = ", p.hidden, cell.attributes, ">(x, w, r, b) }");
}

std::string TextOf(const GraphText& p) { return p.text; }

Result<std::string> TextOf(const SparseGemm& p) {
  return Unsupported(Reason::kOperator,
                     "no operator of ONNX takes a matrix of which ", p.density,
                     " is there; the dense product is another problem");
}

Result<std::string> TextOf(const AllReduce& p) {
  return Unsupported(Reason::kOperator, "an all-reduce of ", p.elements,
                     " elements is a collective, no model");
}

std::string WithType(std::string_view text, std::string_view type) {
  std::string made;
  for (size_t at = text.find("$T"); at != text.npos; at = text.find("$T")) {
    made.append(text.substr(0, at)).append(type);
    text.remove_prefix(at + 2);
  }
  return made.append(text);
}

}  // namespace

Result<Made> MakeProblem(const Problem& problem, DType type) {
  const auto name = TextName(type);
  if (!name.has_value()) {
    return Unsupported(Reason::kDType, problem.name, ": ", type,
                       ", wanted float32, float64, float16 or bfloat16");
  }
  const Result<std::string> text = std::visit(
      [](const auto& of) -> Result<std::string> { return TextOf(of); },
      problem.of);
  if (!text.ok()) return text.status().WithContext(problem.name);
  auto model =
      graph::ParseModelText(StrCat("g ", WithType(*text, *name)), kOpset);
  if (!model.ok()) return model.status().WithContext(problem.place);
  Made made{*std::move(model), {}};
  const Graph& graph = made.model->graph();
  for (const ValueId id : graph.inputs) {
    if (!graph[id].type.StaticShape().has_value()) {
      return InvalidArgument(problem.place, ": input ", graph[id].name, " is ",
                             graph[id].type.ToString(),
                             ", wanted known extents");
    }
    made.inputs.push_back(graph[id].type);
  }
  return made;
}

Problem DenseOf(const Problem& problem) {
  Problem dense = problem;
  if (const auto* sparse = std::get_if<SparseGemm>(&problem.of)) {
    dense.of = sparse->product;
    dense.name += ".dense";
  }
  return dense;
}

Result<Needs> NeedsOf(const Problem& problem, DType type) {
  ASSAY_ASSIGN_OR_RETURN(const Made made, MakeProblem(problem, type));
  ASSAY_ASSIGN_OR_RETURN(const work::ModelWork work, work::WorkOf(made.model));
  if (!work.unknown.empty()) {
    return Unsupported(Reason::kOperator, problem.name, ": ",
                       work.unknown.front());
  }
  ASSAY_ASSIGN_OR_RETURN(const Graph graph, InferTypes(*made.model));
  Needs needs{0, work.work};
  for (const ValueInfo& value : graph.values) {
    const auto shape = value.type.StaticShape();
    if (!shape.has_value()) continue;
    ASSAY_ASSIGN_OR_RETURN(const int64_t count, shape->NumElements());
    needs.bytes += static_cast<double>(PackedBytes(value.type.dtype, count));
  }
  return needs;
}

}  // namespace assay::problems
