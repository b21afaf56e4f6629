// SPDX-License-Identifier: Apache-2.0

#include "framework/train/graph_rule/bound_graph.h"

#include <algorithm>
#include <span>
#include <utility>

#include "framework/train/optimizer/in_place.h"

namespace assay::train {
namespace {

std::vector<std::string> NamesOf(const std::vector<Tie>& ties) {
  std::vector<std::string> names;
  for (const Tie& tie : ties) names.push_back(tie.name);
  return names;
}

}  // namespace

Result<std::unique_ptr<BoundGraph>> BoundGraph::Of(Backend& backend,
                                                   const RuleGraph& graph,
                                                   const std::vector<Tie>& read,
                                                   std::vector<Tie> written) {
  const Tensor& like = read.front().memory;
  ASSAY_ASSIGN_OR_RETURN(const auto model,
                         ModelOf(graph, {NamesOf(read), NamesOf(written)},
                                 like.dtype(), like.shape()));
  std::unique_ptr<BoundGraph> bound(new BoundGraph);
  ASSAY_ASSIGN_OR_RETURN(bound->network_, backend.Load(model, {}));
  if (bound->network_ == nullptr) {
    return Internal("the backend loaded nothing");
  }
  std::vector<Value> inputs;
  for (const Tie& tie : read) inputs.emplace_back(tie.memory);
  for (size_t i = 0; i < graph.factors.size(); ++i) {
    ASSAY_ASSIGN_OR_RETURN(
        Tensor number,
        Tensor::Allocate(like.dtype(), ShapeOfFactors(like.shape())));
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
