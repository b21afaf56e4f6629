// SPDX-License-Identifier: Apache-2.0

#include "conformance/special/special_corpus.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "framework/file/file.h"
#include "framework/testing/case/corpus_files.h"
#include "framework/testing/case/operator_name.h"
#include "framework/testing/case/plain_corpus_case.h"
#include "framework/testing/case/write_corpus.h"

namespace assay::special {
namespace {

namespace fs = std::filesystem;

constexpr const char* kName = "special";

void DescribeSpecial(const CaseText& text, const Graph&, cases::TestCase* c) {
  c->test_id = StrCat(kName, "/", text.name);
  c->suite = c->kind = kName;
  c->limit = {record::Comparator::kExact, 0, 0, "exact by hand"};
  if (text.rtol > 0) {
    c->limit = {record::Comparator::kTolerance, text.rtol, 0,
                text.rtol_because};
  }
}

/// The facts of a case whose files lie in `folder`.
cases::TestCase Describe(const TextCorpus& corpus, const CaseText& text,
                         const Graph& graph, const fs::path& folder) {
  cases::TestCase c = cases::DescribeFolder(folder, 1);
  c.corpus = corpus.name;
  c.op = text.name.substr(0, text.name.find('/'));
  c.domain = "ai.onnx";
  for (const Node& node : graph.nodes) {
    if (cases::OperatorName(node.domain, node.op_type) != c.op) continue;
    c.domain = node.domain.empty() ? "ai.onnx" : node.domain;
  }
  c.opset = c.imports.at(c.domain);
  corpus.describe(text, graph, &c);
  return c;
}

Result<cases::TestCase> WriteCase(const TextCorpus& corpus,
                                  const CaseText& text, const fs::path& root) {
  ASSAY_ASSIGN_OR_RETURN(const cases::CaseData data, corpus.data(text));
  const fs::path folder = root / corpus.name / text.name;
  ASSAY_RETURN_IF_ERROR(cases::WriteCaseFiles(folder, data));
  return Describe(corpus, text, data.model->graph(), folder);
}

}  // namespace

Result<std::vector<CaseText>> ReadCaseFiles(
    const std::vector<fs::path>& files) {
  std::vector<CaseText> all;
  std::map<std::string, std::string> places;
  for (const fs::path& file : files) {
    ASSAY_ASSIGN_OR_RETURN(const std::string text, file::ReadFile(file));
    ASSAY_ASSIGN_OR_RETURN(std::vector<CaseText> cases,
                           ReadCases(text, file.string()));
    for (CaseText& c : cases) {
      const auto [first, is_new] = places.emplace(c.name, c.place);
      if (!is_new) {
        return InvalidArgument(c.place, ": found ", c.name, ", which ",
                               first->second, " has, wanted each name once");
      }
      all.push_back(std::move(c));
    }
  }
  return all;
}

Status WriteTextCorpus(const TextCorpus& corpus,
                       std::span<const CaseText> texts, const fs::path& place) {
  const fs::path partial = place.string() + ".partial";
  std::error_code error;
  fs::remove_all(partial, error);
  std::vector<cases::TestCase> cases;
  for (const CaseText& text : texts) {
    ASSAY_ASSIGN_OR_RETURN(cases::TestCase c, WriteCase(corpus, text, partial));
    cases.push_back(std::move(c));
  }
  std::ranges::sort(cases, {}, &cases::TestCase::test_id);
  ASSAY_RETURN_IF_ERROR(cases::WriteManifest(partial, corpus.name, cases));
  fs::remove_all(place, error);
  fs::rename(partial, place, error);
  if (!error) return cases::NoteMade(place, corpus.name);
  return InvalidArgument("cannot write ", place.string(), ": ",
                         error.message());
}

Status WriteSpecialCorpus(const std::vector<fs::path>& files,
                          const fs::path& place) {
  ASSAY_ASSIGN_OR_RETURN(const std::vector<CaseText> texts,
                         ReadCaseFiles(files));
  return WriteTextCorpus({kName, &DataOf, &DescribeSpecial}, texts, place);
}

}  // namespace assay::special
