// SPDX-License-Identifier: Apache-2.0

#include "framework/graph/edit/seeded_copies.h"

#include <random>
#include <set>
#include <string>
#include <unordered_set>

#include "framework/graph/reader/onnx_reader.h"

namespace assay {
namespace reader {
namespace {

/// Renames what one copy of the nodes computes, and gives it its seed.
class Copy {
 public:
  Copy(const onnx::GraphProto& graph, size_t index, int64_t seed)
      : suffix_(".draw" + std::to_string(index)), seed_(seed) {
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
    for (onnx::AttributeProto& attribute : *node->mutable_attribute()) {
      if (attribute.name() != "seed") continue;
      if (attribute.type() == onnx::AttributeProto::FLOAT) {
        attribute.set_f(static_cast<float>(seed_));
      } else {
        attribute.set_i(seed_);
      }
    }
  }

 private:
  std::set<std::string, std::less<>> computed_;
  std::string suffix_;
  int64_t seed_;
};

void CopyNodes(std::span<const int64_t> seeds, onnx::GraphProto* graph) {
  const onnx::GraphProto first = *graph;
  graph->clear_node();
  graph->clear_output();
  graph->clear_value_info();
  for (size_t i = 0; i < seeds.size(); ++i) {
    const Copy copy(first, i, seeds[i]);
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
}  // namespace reader

inline namespace v1 {

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

Result<std::shared_ptr<const Model>> WithSeeds(const Model& model,
                                               std::span<const int64_t> seeds) {
  onnx::ModelProto proto;
  ASSAY_RETURN_IF_ERROR(reader::ParseInto(model.bytes(), proto));
  reader::CopyNodes(seeds, proto.mutable_graph());
  const std::string bytes = proto.SerializeAsString();
  return Model::Parse(std::as_bytes(std::span(bytes)));
}

}  // namespace v1
}  // namespace assay
