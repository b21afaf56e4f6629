// SPDX-License-Identifier: Apache-2.0
//
// Corpus: a folder of cases. Either one that the export wrote, with a
// manifest.json, or a plain folder in ONNX's own test layout, whose facts are
// derived from its files.
//
//   ASSAY_ASSIGN_OR_RETURN(Corpus corpus, ReadCorpus("build/corpus/onnx"));
//   for (const TestCase& test_case : corpus.cases) ...

#ifndef ASSAY_TESTING_CORPUS_H_
#define ASSAY_TESTING_CORPUS_H_

#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "framework/core/status.h"
#include "framework/testing/test_case.h"

namespace assay::inline v1 {

/// The corpora that a run takes when none is named; floors and expectations are
/// about these.
inline constexpr std::array<std::string_view, 4> kDefaultCorpora = {
    "onnx", "random", "contract", "special"};

struct Corpus {
  std::string name;
  std::string hash;                // of the manifest's models and data
  std::vector<std::string> drift;  // expected outputs that differ from pinned
  std::vector<TestCase> cases;     // by test_id
};

/// Reads the manifest when there is one, else looks for case folders below the
/// directory, at any depth: those with a model.onnx and a test_data_set_0. Data
/// loss for a broken manifest, with file and case; not found when the folder
/// does not exist or holds no case.
Result<Corpus> ReadCorpus(const std::filesystem::path& directory);

}  // namespace assay::inline v1

#endif  // ASSAY_TESTING_CORPUS_H_
