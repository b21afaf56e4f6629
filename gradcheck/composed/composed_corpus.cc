// SPDX-License-Identifier: Apache-2.0

#include "gradcheck/composed/composed_corpus.h"

#include <string>
#include <vector>

#include "conformance/special/special_corpus.h"
#include "framework/file/file.h"
#include "gradcheck/case/variant.h"
#include "gradcheck/composed/composer.h"

namespace assay::gradcheck {
namespace {

constexpr const char* kName = "composed";

void Describe(const special::CaseText& text, const Graph& graph,
              cases::TestCase* c) {
  const DType type = graph[graph.inputs[0]].type.dtype;
  c->test_id =
      StrCat("gradcheck/", text.name, Suffix({InputClass::kComposed, type}));
  c->suite = "gradcheck";
  c->kind = kName;
  // Every tenth: what is seen at night alone is seen late.
  c->tier = text.name.ends_with('6') ? cases::Tier::kCi : cases::Tier::kNightly;
  c->claim = cases::ClaimKind::kGradient;
}

}  // namespace

Status WriteComposedCorpus(int64_t count, const std::filesystem::path& text,
                           const std::filesystem::path& place) {
  std::string cases;
  for (int64_t number = 0; number < count; ++number) {
    cases += ComposedCase(number);
  }
  ASSAY_RETURN_IF_ERROR(file::WriteFile(text, cases));
  ASSAY_ASSIGN_OR_RETURN(const std::vector<special::CaseText> texts,
                         special::ReadCaseFiles({text}));
  return special::WriteTextCorpus({kName, &special::InputsOf, &Describe}, texts,
                                  place);
}

}  // namespace assay::gradcheck
