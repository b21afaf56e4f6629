// SPDX-License-Identifier: Apache-2.0
//
// Reads every model and data file of the exported corpus, when it is there.

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "framework/graph/model.h"
#include "framework/graph/operator.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

constexpr int kCases = 2036;

std::vector<fs::path> CaseFolders(const fs::path& corpus) {
  std::vector<fs::path> folders;
  for (const auto& entry : fs::recursive_directory_iterator(corpus)) {
    if (entry.path().filename() == "model.onnx") {
      folders.push_back(entry.path().parent_path());
    }
  }
  return folders;
}

/// The corpus named by the environment; empty when it is not there.
fs::path Corpus() {
  const char* const folder = std::getenv("ASSAY_CORPUS");
  return folder != nullptr && fs::exists(folder) ? folder : fs::path();
}

/// Reads input_K.pb or output_K.pb of one data set, K being the position.
void ReadFiles(const fs::path& set, const std::string& prefix,
               const Graph& graph, const std::vector<ValueId>& ids) {
  for (size_t k = 0; k < ids.size(); ++k) {
    const fs::path file = set / StrCat(prefix, "_", k, ".pb");
    const ValueType& type = graph.values[static_cast<size_t>(ids[k])].type;
    const Result<Value> value = ReadValue(file, type);
    ASSERT_TRUE(value.ok()) << value.status().ToString();
    EXPECT_TRUE(Accepts(type, value->Type()))
        << file << ": " << type.ToString() << " against "
        << value->Type().ToString();
  }
}

TEST(Corpus, EveryModelAndDataFileIsRead) {
  const fs::path corpus = Corpus();
  if (corpus.empty()) GTEST_SKIP() << "no corpus: set ASSAY_CORPUS";
  const std::vector<fs::path> folders = CaseFolders(corpus);
  EXPECT_EQ(folders.size(), kCases);
  for (const fs::path& folder : folders) {
    const auto model = Model::Read(folder / "model.onnx");
    ASSERT_TRUE(model.ok()) << model.status().ToString();
    const Graph& graph = (*model)->graph();
    for (const auto& entry : fs::directory_iterator(folder)) {
      if (!entry.is_directory()) continue;
      ReadFiles(entry.path(), "input", graph, graph.inputs);
      ReadFiles(entry.path(), "output", graph, graph.outputs);
    }
  }
}

}  // namespace
}  // namespace assay
