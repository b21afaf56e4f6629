// SPDX-License-Identifier: Apache-2.0

#include "framework/graph/edit/whole_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "framework/graph/model_text.h"

namespace assay::edit {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

NamedTensors Weights() {
  const std::vector<float> w = {1, 2, 3};
  const std::vector<double> b = {4, 5};
  return {{"w", *Tensor::Of<float>({3}, w)},
          {"b", *Tensor::Of<double>({2}, b)}};
}

std::shared_ptr<const Model> Open() {
  return graph::ModelOfText(
      "g (float[3] x, double[2] b, float[3] w) => (float[3] y) "
      "{ y = Mul(x, w) }");
}

void Write(const std::filesystem::path& file, const std::string& bytes) {
  std::ofstream(file, std::ios::binary) << bytes;
}

TEST(ExternalDataTest, BeginsEachTensorAtAMultipleOf64Bytes) {
  const std::string data = ExternalData(Weights());
  ASSERT_EQ(data.size(), 64 + 2 * sizeof(double));
  EXPECT_EQ(data.substr(12, 52), std::string(52, '\0'));
}

// Kills: an offset of another tensor, an order that is not that of the tensors.
TEST(WithDataInTest, IsReadBack) {
  const std::filesystem::path folder =
      std::filesystem::path(testing::TempDir()) /
      StrCat("assay_whole_model_", getpid());
  std::filesystem::create_directories(folder);
  const auto model = Open();
  const auto bytes = WithDataIn("weights.bin", *model, Weights());
  ASSERT_TRUE(bytes.ok()) << bytes.status().ToString();
  Write(folder / "model.onnx", *bytes);
  Write(folder / "weights.bin", ExternalData(Weights()));
  const auto read = Model::Read(folder / "model.onnx");
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  const Graph& graph = (*read)->graph();
  ASSERT_EQ(graph.inputs.size(), 1U);
  const auto value = [&](const char* name) {
    return *graph.FindInitializer(graph.FindValue(name))->tensor();
  };
  EXPECT_THAT(value("w").elements<float>(), ElementsAre(1, 2, 3));
  EXPECT_THAT(value("b").elements<double>(), ElementsAre(4, 5));
  EXPECT_EQ(graph[graph.initializers[0].id].name, "w");
  EXPECT_TRUE(model->opsets().contains("test"));
  EXPECT_FALSE((*read)->opsets().contains("test"));
  const auto files = ExternalFiles(**read);
  ASSERT_TRUE(files.ok()) << files.status().ToString();
  EXPECT_THAT(*files, ElementsAre("weights.bin"));
  const auto none = ExternalFiles(*model);
  ASSERT_TRUE(none.ok()) << none.status().ToString();
  EXPECT_THAT(*none, IsEmpty());
  // And whole again.
  const auto whole = WholeModel(**read);
  std::filesystem::remove_all(folder);
  ASSERT_TRUE(whole.ok()) << whole.status().ToString();
  const auto parsed = Model::Parse(std::as_bytes(std::span(*whole)));
  ASSERT_TRUE(parsed.ok()) << parsed.status().ToString();
}

TEST(WithDataInTest, SaysWhatIsNoInput) {
  NamedTensors weights = Weights();
  weights[0].first = "y";
  EXPECT_THAT(WithDataIn("weights.bin", *Open(), weights).status().message(),
              HasSubstr("'y' is no input of the graph"));
}

}  // namespace
}  // namespace assay::edit
