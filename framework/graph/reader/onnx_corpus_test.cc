// SPDX-License-Identifier: Apache-2.0
//
// Reads every model and data file of the exported corpus, when it is there, and
// takes every node to its typed form.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "framework/graph/generated/visitor.h"
#include "framework/graph/model.h"
#include "framework/graph/operator.h"
#include "framework/testing/support/statuses_fixture.h"

namespace assay::reader {
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

/// Reads input_K.pb or output_K.pb of one data set, K being the position, and
/// returns how many there were.
int ReadFiles(const fs::path& set, const std::string& prefix,
              const Graph& graph, const std::vector<ValueId>& ids) {
  for (size_t k = 0; k < ids.size(); ++k) {
    const fs::path file = set / StrCat(prefix, "_", k, ".pb");
    const ValueType& type = graph[ids[k]].type;
    const Result<Value> value = ReadValue(file, type);
    EXPECT_TRUE(value.ok()) << value.status().ToString();
    EXPECT_TRUE(value.ok() && Accepts(type, value->Type()))
        << file << " is no " << type.ToString();
  }
  return static_cast<int>(ids.size());
}

int DataFiles(const fs::path& folder) {
  int count = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    count += entry.path().extension() == ".pb" ? 1 : 0;
  }
  return count;
}

class CorpusTest : public testing::Test {
 protected:
  void SetUp() override {
    const fs::path corpus = Corpus();
    if (corpus.empty()) GTEST_SKIP() << "no corpus: set ASSAY_CORPUS";
    folders_ = CaseFolders(corpus);
    ASSERT_EQ(folders_.size(), static_cast<size_t>(kCases));
  }

  std::vector<fs::path> folders_;
};

TEST_F(CorpusTest, EveryModelAndDataFileIsRead) {
  for (const fs::path& folder : folders_) {
    const auto model = Got(Model::Read(folder / "model.onnx"));
    const Graph& graph = model->graph();
    int read = 0;
    for (const auto& entry : fs::directory_iterator(folder)) {
      if (!entry.is_directory()) continue;
      read += ReadFiles(entry.path(), "input", graph, graph.inputs);
      read += ReadFiles(entry.path(), "output", graph, graph.outputs);
    }
    EXPECT_EQ(read, DataFiles(folder)) << folder;
  }
}

/// Accepts every operator, and so fails where a node cannot be read as one.
class AnyOperator : public Visitor<Status, int> {
 protected:
  Status Decline(OperatorId, int& nodes) override {
    ++nodes;
    return OkStatus();
  }
};

Status ReadNodes(const Graph& graph, int& nodes) {
  AnyOperator visitor;
  for (const Node& node : graph.nodes) {
    ASSAY_RETURN_IF_ERROR(Accept(node, visitor, nodes));
    for (const Attribute& attribute : node.attributes) {
      const auto* body =
          std::get_if<std::shared_ptr<const Graph>>(&attribute.held);
      if (body != nullptr) ASSAY_RETURN_IF_ERROR(ReadNodes(**body, nodes));
    }
  }
  return OkStatus();
}

Status ReadTyped(const fs::path& file, int& nodes) {
  ASSAY_ASSIGN_OR_RETURN(const auto model, Model::Read(file));
  ASSAY_ASSIGN_OR_RETURN(Graph typed, InferTypes(*model));
  ASSAY_ASSIGN_OR_RETURN(const Graph current, ToCurrentOpset(std::move(typed)));
  return ReadNodes(current, nodes);
}

TEST_F(CorpusTest, EveryNodeIsReadAsItsOperator) {
  int nodes = 0;
  std::vector<std::string> declined;
  for (const fs::path& folder : folders_) {
    const Status status = ReadTyped(folder / "model.onnx", nodes);
    if (status.ok()) continue;
    EXPECT_EQ(status.code(), StatusCode::kUnsupported) << status.ToString();
    declined.push_back(folder.filename());
  }
  EXPECT_GT(nodes, 18000);
  EXPECT_THAT(declined, testing::IsEmpty());
}

}  // namespace
}  // namespace assay::reader
