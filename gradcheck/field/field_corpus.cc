// SPDX-License-Identifier: Apache-2.0

#include "gradcheck/field/field_corpus.h"

#include <algorithm>

#include "conformance/special/special_corpus.h"
#include "gradcheck/draw/draw.h"
#include "gradcheck/subject/variant.h"

namespace assay::gradcheck {
namespace {

constexpr const char* kName = "field";
constexpr const char* kSuite = "gradcheck";

/// The type of the first input that a gradient may be taken by.
DType TypeOf(const Graph& graph) {
  const auto first = std::ranges::find_if(
      graph.inputs, [&](ValueId id) { return Carries(graph[id].type.dtype); });
  return first == graph.inputs.end() ? DType::kFloat32
                                     : graph[*first].type.dtype;
}

void Describe(const special::CaseText& text, const Graph& graph,
              cases::TestCase* c) {
  c->test_id = StrCat(kSuite, "/", text.name,
                      Suffix({InputClass::kField, TypeOf(graph)}));
  c->suite = kSuite;
  c->kind = kName;
  c->tier = cases::Tier::kCi;
  c->claim = cases::ClaimKind::kGradient;
}

}  // namespace

Status WriteFieldCorpus(const std::vector<std::filesystem::path>& files,
                        const std::filesystem::path& place) {
  return special::WriteTextCorpus({kName, &special::InputsOf, &Describe}, files,
                                  place);
}

}  // namespace assay::gradcheck
