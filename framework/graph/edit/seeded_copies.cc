// SPDX-License-Identifier: Apache-2.0

#include "framework/graph/edit/seeded_copies.h"

#include <random>
#include <set>
#include <string>
#include <unordered_set>
#include <utility>

#include "framework/graph/reader/onnx_reader.h"

namespace assay::edit {
namespace {

/// Renames what one copy of the nodes computes.
class Copy {
 public:
  Copy(const onnx::GraphProto& graph, size_t index)
      : suffix_(".draw" + std::to_string(index)) {
    for (const onnx::NodeProto& node : graph.node()) {
      computed_.insert(node.output().begin(), node.output().end());
    }
    computed_.erase("");
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

void CopyNodes(size_t count, onnx::GraphProto* graph) {
  const onnx::GraphProto first = *graph;
  graph->clear_node();
  graph->clear_output();
  graph->clear_value_info();
  for (size_t i = 0; i < count; ++i) {
    const Copy copy(first, i);
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

struct SeededCopies::Proto {
  google::protobuf::Arena arena;
  onnx::ModelProto* model =
      google::protobuf::Arena::CreateMessage<onnx::ModelProto>(&arena);
  int n_nodes = 0;  // of a copy
};

SeededCopies::SeededCopies(std::unique_ptr<Proto> proto)
    : proto_(std::move(proto)) {}
SeededCopies::SeededCopies(SeededCopies&&) noexcept = default;
SeededCopies& SeededCopies::operator=(SeededCopies&&) noexcept = default;
SeededCopies::~SeededCopies() = default;

Result<SeededCopies> SeededCopies::Of(const Model& model, size_t count) {
  auto proto = std::make_unique<Proto>();
  ASSAY_RETURN_IF_ERROR(reader::ParseInto(model.bytes(), *proto->model));
  proto->n_nodes = proto->model->graph().node_size();
  CopyNodes(count, proto->model->mutable_graph());
  return SeededCopies(std::move(proto));
}

Result<std::shared_ptr<const Model>> SeededCopies::With(
    std::span<const int64_t> seeds) {
  onnx::GraphProto& graph = *proto_->model->mutable_graph();
  for (int i = 0; i < graph.node_size(); ++i) {
    SetSeed(seeds[static_cast<size_t>(i / proto_->n_nodes)],
            graph.mutable_node(i));
  }
  const std::string bytes = proto_->model->SerializeAsString();
  return Model::Parse(std::as_bytes(std::span(bytes)));
}

Result<std::shared_ptr<const Model>> WithSeeds(const Model& model,
                                               std::span<const int64_t> seeds) {
  ASSAY_ASSIGN_OR_RETURN(SeededCopies copies,
                         SeededCopies::Of(model, seeds.size()));
  return copies.With(seeds);
}

}  // namespace assay::edit
