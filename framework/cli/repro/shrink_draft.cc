// SPDX-License-Identifier: Apache-2.0

#include "framework/cli/repro/shrink_draft.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "framework/graph/edit/submodel.h"

namespace assay::repro {
namespace {

/// The type with the ranks of tensors and without their extents.
ValueType Loose(const ValueType& type) {
  ValueType loose = type;
  if (loose.dims.has_value()) loose.dims->assign(loose.dims->size(), Dim());
  if (type.element != nullptr) {
    loose.element = std::make_shared<const ValueType>(Loose(*type.element));
  }
  return loose;
}

const ValueType& TypeOf(const Graph& graph, ValueId id) {
  return graph[id].type;
}

int64_t ElementsIn(const Value& value) {
  const Tensor* tensor = value.tensor();
  return tensor == nullptr ? 1 : tensor->num_elements();
}

/// A run of elements of one tensor copied to another of the same type.
void CopyElements(const Tensor& from, int64_t at, int64_t count, Tensor* to,
                  int64_t to_at) {
  if (from.dtype() == DType::kString) {
    const auto strings = from.strings().subspan(static_cast<size_t>(at),
                                                static_cast<size_t>(count));
    std::ranges::copy(strings, to->mutable_strings().begin() + to_at);
    return;
  }
  const int64_t width = BitsOf(from.dtype()) / 8;
  std::memcpy(to->mutable_data() + to_at * width, from.data() + at * width,
              static_cast<size_t>(count * width));
}

}  // namespace

std::vector<size_t> Indices(size_t n) {
  std::vector<size_t> all(n);
  std::iota(all.begin(), all.end(), size_t{0});
  return all;
}

std::vector<Source> SourcesOf(const Draft& draft) {
  const Graph& graph = draft.model->graph();
  std::vector<Source> sources;
  const auto add = [&](ValueId id, bool fixed, const Value& value) {
    sources.push_back({id, graph[id].name, fixed, value});
  };
  for (size_t i = 0; i < graph.inputs.size() && i < draft.inputs.size(); ++i) {
    add(graph.inputs[i], false, draft.inputs[i]);
  }
  const auto nodes = Indices(graph.nodes.size());
  for (const ValueId id : edit::BoundaryOf(graph, nodes).initializers) {
    add(id, true, *graph.FindInitializer(id));
  }
  return sources;
}

Result<Draft> WithSources(const Draft& draft,
                          const std::vector<Source>& sources) {
  const Graph& graph = draft.model->graph();
  edit::Submodel all{Indices(graph.nodes.size()), {}, {}, {}};
  Draft changed;
  changed.targets = draft.targets;
  for (const Source& source : sources) {
    if (source.fixed) {
      all.fixed[source.id] = source.value;
      continue;
    }
    const ValueType& declared = TypeOf(graph, source.id);
    all.inputs.push_back(
        {source.id, source.value.tensor() ? source.value.Type() : declared});
    changed.inputs.push_back(source.value);
  }
  for (const ValueId id : graph.outputs) {
    all.outputs.push_back({id, Loose(TypeOf(graph, id))});
  }
  ASSAY_ASSIGN_OR_RETURN(changed.model,
                         edit::MakeSubmodel(*draft.model, graph, all));
  return changed;
}

Result<Draft> WithGraph(const Draft& draft, const Graph& graph) {
  edit::Submodel all{Indices(graph.nodes.size()), {}, {}, {}};
  for (const ValueId id : graph.inputs) {
    all.inputs.push_back({id, TypeOf(graph, id)});
  }
  for (const ValueId id : graph.outputs) {
    all.outputs.push_back({id, Loose(TypeOf(graph, id))});
  }
  Draft changed{nullptr, draft.inputs, {}, draft.targets};
  ASSAY_ASSIGN_OR_RETURN(changed.model,
                         edit::MakeSubmodel(*draft.model, graph, all));
  return changed;
}

Result<Draft> WithOutputTypes(const Draft& draft) {
  Graph graph = draft.model->graph();
  if (draft.expected.empty()) {
    ASSAY_ASSIGN_OR_RETURN(graph, InferTypes(*draft.model));
  }
  edit::Submodel all{Indices(graph.nodes.size()), {}, {}, {}};
  for (const ValueId id : graph.inputs) {
    all.inputs.push_back({id, TypeOf(graph, id)});
  }
  for (size_t i = 0; i < graph.outputs.size(); ++i) {
    const ValueId id = graph.outputs[i];
    const bool known = i < draft.expected.size() && draft.expected[i].tensor();
    all.outputs.push_back(
        {id, known ? draft.expected[i].Type() : TypeOf(graph, id)});
  }
  Draft typed = draft;
  ASSAY_ASSIGN_OR_RETURN(typed.model,
                         edit::MakeSubmodel(*draft.model, graph, all));
  return typed;
}

int64_t NodeCount(const Draft& draft) {
  return static_cast<int64_t>(draft.model->graph().nodes.size());
}

int64_t ElementCount(const std::vector<Source>& sources) {
  int64_t count = 0;
  for (const Source& source : sources) count += ElementsIn(source.value);
  return count;
}

int64_t ElementCount(const Draft& draft) {
  return ElementCount(SourcesOf(draft));
}

Result<Tensor> Slice(const Tensor& tensor, int axis, const Span& span) {
  if (tensor.dtype() != DType::kString && BitsOf(tensor.dtype()) % 8 != 0) {
    return InvalidArgument("found ", tensor.Signature(),
                           ", wanted elements of whole bytes");
  }
  Shape shape = tensor.shape();
  const int64_t extent = shape[axis];
  int64_t inner = 1;
  for (int i = axis + 1; i < shape.rank(); ++i) inner *= shape[i];
  const int64_t outer = extent == 0 ? 0 : tensor.num_elements() / extent;
  shape[axis] = span.count;
  ASSAY_ASSIGN_OR_RETURN(Tensor slice, Tensor::Allocate(tensor.dtype(), shape));
  const int64_t rows = inner == 0 ? 0 : outer / inner;
  for (int64_t row = 0; row < rows; ++row) {
    CopyElements(tensor, (row * extent + span.first) * inner,
                 span.count * inner, &slice, row * span.count * inner);
  }
  return slice;
}

}  // namespace assay::repro
