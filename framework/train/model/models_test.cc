// SPDX-License-Identifier: Apache-2.0

#include "framework/train/model/models.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "framework/file/digest.h"
#include "framework/file/file.h"
#include "framework/file/scratch_folder.h"
#include "framework/graph/model_text.h"
#include "framework/graph/types/check.h"
#include "framework/testing/support/statuses_fixture.h"
#include "framework/train/model/model_file.h"

namespace assay::train {
namespace {

using ::testing::SizeIs;

int64_t Count(const std::vector<Parameter>& parameters) {
  int64_t count = 0;
  for (const Parameter& each : parameters) count += each.value.num_elements();
  return count;
}

TEST(ModelsTest, HaveTheirParameters) {
  struct Row {
    std::string_view name;
    int64_t parameters;
  };
  for (const Row& row : {
           Row{"mlp", 784 * 128 + 128 + 128 * 10 + 10},
           // LeCun 1998 with 16 maps that all see all 6: the sum of the layers.
           Row{"lenet5", 156 + 2416 + 48120 + 10164 + 850},
           Row{"small_cnn", 80 + 1168 + 7850},
           // Two numbers a channel of each normalization. He et al. 2015, table
           // 6, has 0.27 million for 20 layers.
           Row{"resnet8", 144 + 32 + 2 * (2304 + 32) + 4608 + 9216 + 2 * 64 +
                              18432 + 36864 + 2 * 128 + 650},
           Row{"resnet20", 144 + 32 + 6 * (2304 + 32) + 4608 + 5 * 9216 +
                               6 * 64 + 18432 + 5 * 36864 + 6 * 128 + 650},
           // Four gates of 28 + 64 inputs and two biases.
           Row{"lstm", 4 * 64 * (28 + 64 + 2) + 650},
           // The rows and their places; three and one projections; 4 times as
           // wide and back; three normalizations.
           Row{"transformer", 29 * 64 + 28 * 64 + 4 * 65 * 64 + 65 * 256 +
                                  257 * 64 + 3 * 128 + 650},
       }) {
    const auto made = MakeModel(row.name, {});
    ASSERT_TRUE(made.ok()) << row.name << ": " << made.status().ToString();
    EXPECT_EQ(Count(made->parameters), row.parameters) << row.name;
    const Graph& graph = made->model->graph();
    ASSERT_EQ(graph.inputs.size(), made->parameters.size() + 1);
    EXPECT_EQ(graph[graph.inputs[0]].name, "x");
    for (size_t i = 0; i < made->parameters.size(); ++i) {
      EXPECT_EQ(graph[graph.inputs[i + 1]].name, made->parameters[i].name);
    }
  }
  EXPECT_EQ(ModelNames().size(), 7U);
}

// Kills: weights that are not of the seed, two parameters with the same
// numbers, a range that is not that of the fans.
TEST(ModelsTest, BeginWithWeightsOfTheSeed) {
  const auto one = MakeModel("lenet5", {.seed = 1});
  const auto same = MakeModel("lenet5", {.seed = 1});
  const auto other = MakeModel("lenet5", {.seed = 2});
  const auto weights = [](const Result<NewModel>& made, size_t i) {
    return made->parameters[i].value.elements<float>();
  };
  EXPECT_TRUE(std::ranges::equal(weights(one, 0), weights(same, 0)));
  EXPECT_FALSE(std::ranges::equal(weights(one, 0), weights(other, 0)));
  EXPECT_FALSE(std::ranges::equal(weights(one, 4).first(100),
                                  weights(one, 6).first(100)));
  for (const float bias : weights(one, 1)) EXPECT_EQ(bias, 0);
  // The bound of layer3's weights, 120 outputs from 400 inputs.
  const double reach = std::sqrt(6.0 / 520);
  double sum = 0;
  double greatest = 0;
  for (const float weight : weights(one, 4)) {
    sum += static_cast<double>(weight) * weight;
    greatest = std::max<double>(greatest, std::abs(weight));
  }
  EXPECT_LE(greatest, reach);
  EXPECT_GE(greatest, 0.999 * reach);
  EXPECT_NEAR(sum / 48000, reach * reach / 3, reach * reach / 100);
}

// Kills: a model of 28 x 28 pixels and ten classes alone.
TEST(ModelsTest, TakeTheShapeOfTheImages) {
  for (const std::string_view name : ModelNames()) {
    const auto made = MakeModel(name, {.image = {3, 32, 30}, .classes = 100});
    ASSERT_TRUE(made.ok()) << name << ": " << made.status().ToString();
    const auto graph = InferTypes(*made->model);
    ASSERT_TRUE(graph.ok()) << name << ": " << graph.status().ToString();
    EXPECT_EQ((*graph)[graph->inputs[0]].type.ToString(), "float32[N,3,32,30]");
    EXPECT_EQ((*graph)[graph->outputs[0]].type.ToString(), "float32[N,100]");
    EXPECT_EQ(types::CheckModel(*made->model).ToString(), "OK") << name;
  }
  EXPECT_THAT(
      MakeModel("lenet5", {.image = {1, 28, 8}}),
      Says("found images of 1 x 28 x 8 and 10 classes, wanted for lenet5 "
           "a channel, 12 x 12"));
}

TEST(ModelsTest, AreForADataset) {
  const auto dataset =
      Dataset::Of(*Tensor::Allocate(DType::kFloat32, {5, 3, 8, 6}),
                  *Tensor::Allocate(DType::kInt64, {5}), 4);
  const auto options = Got(OptionsFor(*dataset, 9));
  EXPECT_EQ(options.seed, 9U);
  EXPECT_EQ(options.image, (std::array<int64_t, 3>{3, 8, 6}));
  EXPECT_EQ(options.classes, 4);
  const auto flat = Dataset::Of(*Tensor::Allocate(DType::kFloat32, {5, 3}),
                                *Tensor::Allocate(DType::kInt64, {5}), 4);
  EXPECT_THAT(OptionsFor(*flat, 9),
              Says("found samples in float32[5,3], wanted them of chan"));
}

// Kills: parameters that are statistics, masks that are none.
TEST(ModelsTest, HaveATrainingForm) {
  struct Row {
    std::string_view name;
    size_t statistics, masks;
  };
  for (const Row& row : {Row{"mlp", 0, 0}, Row{"resnet8", 14, 0},
                         Row{"resnet20", 38, 0}, Row{"transformer", 0, 2}}) {
    const auto made = Got(MakeModel(row.name, {}));
    const auto trainee = Got(TraineeOf(made, {}, 1));
    EXPECT_EQ(trainee.statistics.size(), row.statistics) << row.name;
    EXPECT_EQ(trainee.masks.size(), row.masks) << row.name;
    EXPECT_EQ(trainee.parameters.size(), made.parameters.size());
    EXPECT_EQ(trainee.inference != nullptr, row.statistics + row.masks > 0);
  }
}

TEST(ModelsTest, AreOfTwoTypes) {
  const auto wide = Got(MakeModel("mlp", {.type = DType::kFloat64}));
  EXPECT_EQ(wide.parameters[0].value.dtype(), DType::kFloat64);
  EXPECT_THAT(MakeModel("mlp", {.type = DType::kFloat16}),
              Says("found a model of float16, wanted float32 or float64"));
  EXPECT_THAT(MakeModel("lenet", {}),
              Says("found the model 'lenet', wanted mlp, lenet5, small"));
}

namespace fs = std::filesystem;

class ModelFileTest : public ::testing::Test {
 protected:
  NewModel Made(std::string_view name, uint64_t seed = 3) const {
    return *MakeModel(name, {.seed = seed, .image = {1, 8, 8}});
  }
  void Write(const char* file, const NewModel& made) const {
    const Status written = WriteModelFile(folder_.path() / file, made);
    EXPECT_TRUE(written.ok()) << written.ToString();
  }
  std::vector<fs::path> Weights() const {
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(folder_.path())) {
      if (entry.path().extension() == ".bin") files.push_back(entry.path());
    }
    return files;
  }

  file::ScratchFolder folder_;
};

// Kills: parameters in another order, statistics among them, numbers of another
// parameter.
// Kills: a model with nothing to train that reaches a backend, a second Softmax
// that nobody speaks of.
TEST(NewModelTest, SaysWhatCannotLearn) {
  const auto that_ends_in = [](const char* last) {
    return graph::ModelOfText(
        StrCat("g (float[N,2] x) => (float[N,2] y) <float[2,2] w = {1, 2, 3, "
               "4}> { h = MatMul(x, w) y = ",
               last, "(h) }"));
  };
  EXPECT_EQ(SoftmaxAtEnd(*that_ends_in("Softmax")), "y");
  EXPECT_EQ(SoftmaxAtEnd(*that_ends_in("LogSoftmax")), "");
  EXPECT_THAT(
      NewModelOf(*graph::ModelOfText(
          "g (float[N,2] x) => (float[N,2] y) { y = Softmax(x) }")),
      IsStatus(StatusCode::kInvalidArgument, "found no weights to train"));
}

TEST_F(ModelFileTest, GivesBackWhatWasWritten) {
  for (const std::string_view name :
       {"mlp", "resnet8", "lstm", "transformer"}) {
    const NewModel made = Made(name);
    Write("model.onnx", made);
    const auto read = ReadModelFile(folder_.path() / "model.onnx");
    ASSERT_TRUE(read.ok()) << name << ": " << read.status().ToString();
    ASSERT_EQ(read->parameters.size(), made.parameters.size()) << name;
    for (size_t p = 0; p < made.parameters.size(); ++p) {
      EXPECT_EQ(read->parameters[p].name, made.parameters[p].name);
      EXPECT_EQ(read->parameters[p].value.Signature(),
                made.parameters[p].value.Signature());
      EXPECT_TRUE(std::ranges::equal(read->parameters[p].value.bytes(),
                                     made.parameters[p].value.bytes()))
          << made.parameters[p].name;
    }
    const auto of_made = TraineeOf(made, {}, 1);
    const auto of_read = Got(TraineeOf(*read, {}, 1));
    EXPECT_EQ(of_read.statistics.size(), of_made->statistics.size());
    EXPECT_EQ(of_read.masks.size(), of_made->masks.size());
    EXPECT_EQ(of_read.model->graph().nodes.size(),
              of_made->model->graph().nodes.size());
  }
}

// Kills: weights that are written once more for each model that has them.
TEST_F(ModelFileTest, KeepsEqualWeightsOnce) {
  Write("a.onnx", Made("mlp"));
  Write("b.onnx", Made("mlp"));
  ASSERT_THAT(Weights(), SizeIs(1));
  EXPECT_EQ(*file::Sha256OfFile(Weights()[0]), Weights()[0].stem());
  Write("c.onnx", Made("mlp", /*seed=*/4));
  EXPECT_THAT(Weights(), SizeIs(2));
}

// Kills: weights that are not looked at.
TEST_F(ModelFileTest, SaysWhereWeightsAreOthers) {
  Write("model.onnx", Made("mlp"));
  const fs::path weights = Weights()[0];
  std::string bytes = *file::ReadFile(weights);
  bytes[5] = static_cast<char>(bytes[5] + 1);
  ASSERT_TRUE(file::WriteFile(weights, bytes).ok());
  EXPECT_THAT(
      ReadModelFile(folder_.path() / "model.onnx"),
      IsStatus(StatusCode::kDataLoss,
               StrCat("found weights with the digest ", file::Sha256(bytes),
                      " in ", weights.filename().string())));
  fs::remove(weights);
  EXPECT_FALSE(ReadModelFile(folder_.path() / "model.onnx").ok());
  // Under a name that promises nothing nothing is asked.
  EXPECT_EQ(ReadModelFile(folder_.path() / "none.onnx").status().code(),
            StatusCode::kNotFound);
}

}  // namespace
}  // namespace assay::train
