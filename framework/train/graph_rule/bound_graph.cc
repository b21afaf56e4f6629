// SPDX-License-Identifier: Apache-2.0

#include "framework/train/graph_rule/bound_graph.h"

#include <algorithm>
#include <span>
#include <utility>

#include "framework/graph/model_text.h"
#include "framework/train/in_place.h"

namespace assay::train {
namespace {

/// "float[2,3] x" of ONNX's text form.
std::string Declared(DType type, const Shape& shape, std::string_view name) {
  return StrCat(type == DType::kFloat64 ? "double" : "float",
                shape.rank() == 0 ? "" : shape.ToString(), " ", name);
}

/// The factors are of one element, and of no more axes than the parameter.
Shape ShapeOfFactors(const Tensor& parameter) {
  return parameter.shape().rank() == 0 ? Shape() : Shape{1};
}

std::string TextOf(const RuleGraph& graph, const std::vector<Tie>& read,
                   const std::vector<Tie>& written) {
  const Tensor& like = read.front().memory;
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  for (const Tie& tie : read) {
    inputs.push_back(Declared(like.dtype(), like.shape(), tie.name));
  }
  for (const Factor& factor : graph.factors) {
    inputs.push_back(Declared(like.dtype(), ShapeOfFactors(like), factor.name));
  }
  for (const Tie& tie : written) {
    outputs.push_back(
        Declared(like.dtype(), like.shape(), StrCat("next_", tie.name)));
  }
  return StrCat("rule (", Joined(inputs), ") => (", Joined(outputs), ") { ",
                graph.nodes, " }");
}

}  // namespace

Result<std::unique_ptr<BoundGraph>> BoundGraph::Of(Backend& backend,
                                                   const RuleGraph& graph,
                                                   const std::vector<Tie>& read,
                                                   std::vector<Tie> written) {
  const Tensor& like = read.front().memory;
  if (like.dtype() != DType::kFloat32 && like.dtype() != DType::kFloat64) {
    return Unsupported(Reason::kDType, "found a parameter of type ",
                       ToString(like.dtype()), ", wanted float32 or float64");
  }
  ASSAY_ASSIGN_OR_RETURN(const auto model,
                         graph::ParseModelText(TextOf(graph, read, written)));
  std::unique_ptr<BoundGraph> bound(new BoundGraph);
  ASSAY_ASSIGN_OR_RETURN(bound->network_, backend.Load(model, {}));
  if (bound->network_ == nullptr) {
    return Internal("the backend loaded nothing");
  }
  std::vector<Value> inputs;
  for (const Tie& tie : read) inputs.emplace_back(tie.memory);
  for (size_t i = 0; i < graph.factors.size(); ++i) {
    ASSAY_ASSIGN_OR_RETURN(
        Tensor number, Tensor::Allocate(like.dtype(), ShapeOfFactors(like)));
    inputs.emplace_back(bound->numbers_.emplace_back(std::move(number)));
  }
  std::vector<Value> outputs;
  for (size_t i = 0; i < written.size(); ++i) {
    ASSAY_ASSIGN_OR_RETURN(Tensor next,
                           Tensor::Allocate(like.dtype(), like.shape()));
    outputs.emplace_back(bound->next_.emplace_back(std::move(next)));
  }
  ASSAY_ASSIGN_OR_RETURN(bound->binding_,
                         bound->network_->Bind(inputs, outputs));
  if (bound->binding_ == nullptr) return Internal("the backend bound nothing");
  bound->factors_ = graph.factors;
  bound->written_ = std::move(written);
  return bound;
}

Status BoundGraph::SetFactors(const Progress& at) {
  for (size_t i = 0; i < factors_.size(); ++i) {
    const double number = factors_[i].at(at);
    ASSAY_RETURN_IF_ERROR(InPlace(&numbers_[i], numbers_[i], {},
                                  [&]<class T>(const Elements<T>& each) {
                                    each.x[0] = static_cast<T>(number);
                                  }));
  }
  return OkStatus();
}

Status BoundGraph::Run(const Progress& at) {
  ASSAY_RETURN_IF_ERROR(SetFactors(at));
  ASSAY_RETURN_IF_ERROR(network_->Forward(*binding_));
  ASSAY_RETURN_IF_ERROR(network_->Synchronize());
  for (size_t i = 0; i < written_.size(); ++i) {
    std::ranges::copy(next_[i].bytes(), written_[i].memory.mutable_data());
  }
  return OkStatus();
}

}  // namespace assay::train
