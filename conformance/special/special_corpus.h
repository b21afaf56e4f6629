// SPDX-License-Identifier: Apache-2.0
//
// The cases of text files as the corpus `special`, or as another one whose
// cases are written in the same way.
//
//   ASSAY_RETURN_IF_ERROR(
//       WriteSpecialCorpus({"cases/zeros.txt"}, "build/corpus/special"));

#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "conformance/special/case_text.h"
#include "framework/core/status.h"
#include "framework/graph/model.h"
#include "framework/testing/case/test_case.h"

namespace assay::special {

/// The cases of all files. Invalid argument for a wrong text or a name that two
/// files have, with file and line.
Result<std::vector<CaseText>> ReadCaseFiles(
    const std::vector<std::filesystem::path>& files);

/// How the cases of a corpus are made of their texts.
struct TextCorpus {
  std::string name;
  Result<cases::CaseData> (*data)(const CaseText& text) = nullptr;
  /// Fills test_id, suite, kind and what else the files of a case do not tell.
  void (*describe)(const CaseText& text, const Graph& graph,
                   cases::TestCase* test_case) = nullptr;
};

/// Writes the corpus, which takes the place of an older one there when all
/// went well.
Status WriteTextCorpus(const TextCorpus& corpus,
                       std::span<const CaseText> texts,
                       const std::filesystem::path& place);

/// The same of the corpus `special` and its files.
Status WriteSpecialCorpus(const std::vector<std::filesystem::path>& files,
                          const std::filesystem::path& place);

}  // namespace assay::special
