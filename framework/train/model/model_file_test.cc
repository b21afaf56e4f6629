// SPDX-License-Identifier: Apache-2.0

#include "framework/train/model/model_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "framework/file/digest.h"
#include "framework/file/file.h"
#include "framework/file/scratch_folder.h"
#include "framework/train/model/models.h"

namespace assay::train {
namespace {

namespace fs = std::filesystem;

using ::testing::HasSubstr;
using ::testing::SizeIs;

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
    const auto of_read = TraineeOf(*read, {}, 1);
    ASSERT_TRUE(of_read.ok()) << of_read.status().ToString();
    EXPECT_EQ(of_read->statistics.size(), of_made->statistics.size());
    EXPECT_EQ(of_read->masks.size(), of_made->masks.size());
    EXPECT_EQ(of_read->model->graph().nodes.size(),
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
  const auto changed = ReadModelFile(folder_.path() / "model.onnx");
  EXPECT_EQ(changed.status().code(), StatusCode::kDataLoss);
  EXPECT_THAT(
      changed.status().message(),
      HasSubstr(StrCat("found weights with the digest ", file::Sha256(bytes),
                       " in ", weights.filename().string())));
  fs::remove(weights);
  EXPECT_FALSE(ReadModelFile(folder_.path() / "model.onnx").ok());
  // Under a name that promises nothing nothing is asked.
  EXPECT_EQ(ReadModelFile(folder_.path() / "none.onnx").status().code(),
            StatusCode::kNotFound);
}

}  // namespace
}  // namespace assay::train
