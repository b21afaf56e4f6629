// SPDX-License-Identifier: Apache-2.0

#include "gradcheck/text/gradient_corpus.h"

#include <algorithm>
#include <string>

#include "conformance/special/special_corpus.h"
#include "gradcheck/draw/draw.h"
#include "gradcheck/subject/variant.h"

namespace assay::gradcheck {
namespace {

/// The type of the first input that a gradient may be taken by.
DType TypeOf(const Graph& graph) {
  const auto first = std::ranges::find_if(
      graph.inputs, [&](ValueId id) { return Carries(graph[id].type.dtype); });
  return first == graph.inputs.end() ? DType::kFloat32
                                     : graph[*first].type.dtype;
}

void Describe(const special::CaseText& text, const Graph& graph,
              InputClass input_class, cases::TestCase* c) {
  c->test_id =
      StrCat("gradcheck/", text.name, Suffix({input_class, TypeOf(graph)}));
  c->suite = "gradcheck";
  c->tier = cases::Tier::kCi;
  c->claim = cases::ClaimKind::kGradient;
}

void DescribeField(const special::CaseText& text, const Graph& graph,
                   cases::TestCase* c) {
  Describe(text, graph, InputClass::kField, c);
  c->kind = "field";
}

void DescribeGraph(const special::CaseText& text, const Graph& graph,
                   cases::TestCase* c) {
  Describe(text, graph, InputClass::kOfficial, c);
  c->kind = "graph";
  c->attributes.clear();  // of a network of one node
}

}  // namespace

Status WriteGradientCorpus(std::string_view name,
                           const std::vector<std::filesystem::path>& files,
                           const std::filesystem::path& place) {
  special::TextCorpus corpus{std::string(name), &special::InputsOf,
                             &DescribeField};
  if (name == "graphs") {
    corpus.data = &special::GradientsOf;
    corpus.describe = &DescribeGraph;
  } else if (name != "field") {
    return InvalidArgument("found the corpus '", name,
                           "', wanted field or graphs");
  }
  return special::WriteTextCorpus(corpus, files, place);
}

}  // namespace assay::gradcheck
