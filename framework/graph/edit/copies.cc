// SPDX-License-Identifier: Apache-2.0

#include "framework/graph/edit/copies.h"

#include <random>
#include <set>
#include <unordered_set>
#include <utility>

#include "framework/graph/reader/onnx_reader.h"
#include "framework/graph/types/check.h"

namespace assay::edit {
namespace {

/// Renames what one copy of the nodes computes. A body has names of its own;
/// what it reads from outside stays that of the first copy.
class Copy {
 public:
  Copy(const onnx::GraphProto& graph, std::string suffix)
      : suffix_(std::move(suffix)) {
    for (const onnx::NodeProto& node : graph.node()) {
      computed_.insert(node.output().begin(), node.output().end());
    }
    computed_.erase("");  // an output that is left out
  }

  void Rename(std::string* name) const {
    if (computed_.contains(*name)) *name += suffix_;
  }

  void Change(onnx::NodeProto* node) const {
    for (std::string& name : *node->mutable_input()) Rename(&name);
    for (std::string& name : *node->mutable_output()) Rename(&name);
    if (node->has_name()) *node->mutable_name() += suffix_;
  }

 private:
  std::set<std::string, std::less<>> computed_;
  std::string suffix_;
};

void SetSeed(int64_t seed, onnx::NodeProto* node) {
  for (onnx::AttributeProto& attribute : *node->mutable_attribute()) {
    if (attribute.name() != "seed") continue;
    if (attribute.type() == onnx::AttributeProto::FLOAT) {
      attribute.set_f(static_cast<float>(seed));
    } else {
      attribute.set_i(seed);
    }
  }
}

void SetSeed(int64_t seed, Node* node) {
  for (Attribute& attribute : node->attributes) {
    if (attribute.name != "seed") continue;
    if (std::holds_alternative<float>(attribute.held)) {
      attribute.held = static_cast<float>(seed);
    } else {
      attribute.held = seed;
    }
  }
}

void CopyNodes(size_t count, onnx::GraphProto* graph) {
  const onnx::GraphProto first = *graph;
  graph->clear_node();
  graph->clear_output();
  graph->clear_value_info();
  for (size_t i = 0; i < count; ++i) {
    const Copy copy(first, StrCat(".draw", i));
    for (const onnx::NodeProto& node : first.node()) {
      *graph->add_node() = node;
      copy.Change(&*graph->mutable_node()->rbegin());
    }
    for (const onnx::ValueInfoProto& info : first.output()) {
      *graph->add_output() = info;
      copy.Rename(graph->mutable_output()->rbegin()->mutable_name());
    }
    for (const onnx::ValueInfoProto& info : first.value_info()) {
      *graph->add_value_info() = info;
      copy.Rename(graph->mutable_value_info()->rbegin()->mutable_name());
    }
  }
}

}  // namespace

std::vector<int64_t> DrawnSeeds(int64_t count, int64_t seed) {
  std::mt19937_64 engine(static_cast<uint64_t>(seed));
  std::vector<int64_t> seeds;
  std::unordered_set<int64_t> seen;
  while (static_cast<int64_t>(seeds.size()) < count) {
    const auto next = static_cast<int64_t>(engine() >> 40U);
    if (seen.insert(next).second) seeds.push_back(next);
  }
  return seeds;
}

struct [[gnu::visibility("hidden")]] SeededCopies::Template {
  reader::ModelMessage message;
  int n_nodes = 0;                     // of a copy
  std::shared_ptr<const Model> model;  // what is read of the proto
  bool checked = false;                // under any seeds
};

SeededCopies::SeededCopies(std::unique_ptr<Template> form)
    : template_(std::move(form)) {}
SeededCopies::SeededCopies(SeededCopies&&) noexcept = default;
SeededCopies& SeededCopies::operator=(SeededCopies&&) noexcept = default;
SeededCopies::~SeededCopies() = default;

Result<SeededCopies> SeededCopies::Of(const Model& model, size_t count) {
  auto form = std::make_unique<Template>();
  ASSAY_RETURN_IF_ERROR(form->message.Read(model.bytes()));
  onnx::ModelProto& proto = form->message.proto;
  // Typed once, so that no load of the many infers again; what cannot be typed
  // here is left to the backend.
  static_cast<void>(reader::RunInference(proto));
  form->n_nodes = proto.graph().node_size();
  CopyNodes(count, proto.mutable_graph());
  ASSAY_ASSIGN_OR_RETURN(form->model, form->message.Parse());
  form->checked = types::CheckModel(*form->model).ok();
  return SeededCopies(std::move(form));
}

Result<std::shared_ptr<const Model>> SeededCopies::With(
    std::span<const int64_t> seeds) {
  onnx::GraphProto& nodes = *template_->message.proto.mutable_graph();
  Graph graph = template_->model->graph();
  for (int i = 0; i < nodes.node_size(); ++i) {
    const int64_t seed = seeds[static_cast<size_t>(i / template_->n_nodes)];
    SetSeed(seed, nodes.mutable_node(i));
    SetSeed(seed, &graph.nodes[static_cast<size_t>(i)]);
  }
  const std::string bytes = template_->message.proto.SerializeAsString();
  const auto span = std::as_bytes(std::span(bytes));
  const Model& model = *template_->model;
  return std::make_shared<const Model>(
      Model::Parts{.ir_version = model.ir_version(),
                   .opsets = model.opsets(),
                   .graph = std::move(graph),
                   .functions = model.functions(),
                   .bytes = {span.begin(), span.end()},
                   .directory = {},
                   .checked = template_->checked});
}

Result<std::shared_ptr<const Model>> WithSeeds(const Model& model,
                                               std::span<const int64_t> seeds) {
  ASSAY_ASSIGN_OR_RETURN(SeededCopies copies,
                         SeededCopies::Of(model, seeds.size()));
  return copies.With(seeds);
}

Result<std::shared_ptr<const Model>> Doubled(const Model& model,
                                             const std::string& unread) {
  if (model.graph().FindValue(unread) != kNoValue) {
    return InvalidArgument("the graph has a value '", unread, "' already");
  }
  reader::ModelMessage message;
  ASSAY_RETURN_IF_ERROR(message.Read(model.bytes()));
  onnx::GraphProto* graph = message.proto.mutable_graph();
  const Copy again(*graph, "/again");
  for (int i = 0, count = graph->node_size(); i < count; ++i) {
    onnx::NodeProto* node = graph->add_node();
    *node = graph->node(i);
    again.Change(node);
  }
  for (int i = 0, count = graph->output_size(); i < count; ++i) {
    onnx::ValueInfoProto* output = graph->add_output();
    *output = graph->output(i);
    again.Rename(output->mutable_name());
  }
  onnx::ValueInfoProto* input = graph->add_input();
  input->set_name(unread);
  auto* type = input->mutable_type()->mutable_tensor_type();
  type->set_elem_type(onnx::TensorProto::FLOAT);
  type->mutable_shape()->add_dim()->set_dim_value(2);
  return message.Parse(model.directory());
}

}  // namespace assay::edit
