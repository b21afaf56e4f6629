// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/case/test_case.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "framework/file/scratch_folder.h"
#include "framework/testing/case/onnx_bytes.h"
#include "framework/testing/support/statuses_fixture.h"

namespace assay::cases {
namespace {

namespace fs = std::filesystem;

std::string TensorFile(float value, const std::string& name = "") {
  return BytesField(8, name) + FloatsBytes({value});
}

std::string DeclaredFloat(const std::string& name) {
  const std::string shape = BytesField(1, IntField(1, 1));
  const std::string tensor = IntField(1, 1) + BytesField(2, shape);
  return BytesField(1, name) + BytesField(2, BytesField(1, tensor));
}

std::string SumNode(const std::string& output) {
  return BytesField(1, "a") + BytesField(1, "b") + BytesField(1, "w") +
         BytesField(2, output) + BytesField(4, "Sum");
}

// y = z = a + b + w, where w is an input that an initializer fills.
std::string ModelFile() {
  std::string graph = BytesField(1, SumNode("y")) +
                      BytesField(1, SumNode("z")) + BytesField(2, "g") +
                      BytesField(5, TensorFile(4, "w"));
  for (const char* input : {"w", "a", "b"}) {
    graph += BytesField(11, DeclaredFloat(input));
  }
  for (const char* output : {"y", "z"}) {
    graph += BytesField(12, DeclaredFloat(output));
  }
  return IntField(1, 8) + BytesField(7, graph) + BytesField(8, IntField(2, 13));
}

// A case directory, whose input_K.pb holds K and output_K.pb 10 + K.
class CaseDirectory : public file::ScratchFolder {
 public:
  explicit CaseDirectory(const std::vector<std::string>& files) {
    fs::create_directories(path() / "test_data_set_0");
    Write("model.onnx", ModelFile());
    for (const std::string& name : files) {
      const float base = name.starts_with("output") ? 10 : 0;
      const char digit = name[name.find('_') + 1];
      Write("test_data_set_0/" + name,
            TensorFile(base + static_cast<float>(digit - '0')));
    }
  }
};

// The value of a scalar, -1 of an absent value.
std::vector<float> Contents(const std::vector<Value>& values) {
  std::vector<float> contents;
  for (const Value& value : values) {
    const Tensor* tensor = value.tensor();
    contents.push_back(tensor == nullptr ? -1 : tensor->elements<float>()[0]);
  }
  return contents;
}

TEST(ReadCaseDataTest, FilesAreValuesInDeclaredOrder) {
  const struct {
    std::vector<float> inputs;
    std::vector<std::string> files;
  } rows[] = {
      {{0, 1}, {"input_0.pb", "input_1.pb", "output_0.pb", "output_1.pb"}},
      // An input whose file is left out at the end is absent.
      {{0, -1}, {"input_0.pb", "output_1.pb", "output_0.pb"}},
      {{-1, -1}, {"output_0.pb", "output_1.pb"}},
      {{0, -1},
       {"input_0.pb", "input_x.pb", "input_01.pb", "input_1.pb~", "a_9.txt",
        "input_.pb", "output_0.pb", "output_1.pb"}},
  };
  for (size_t i = 0; i < std::size(rows); ++i) {
    const CaseDirectory directory(rows[i].files);
    const auto data = ReadCaseData(directory.path(), 1);
    ASSERT_TRUE(data.ok()) << i << ": " << data.status().ToString();
    ASSERT_EQ(data->sets.size(), 1U) << i;
    EXPECT_EQ(Contents(data->sets[0].inputs), rows[i].inputs) << i;
    EXPECT_EQ(Contents(data->sets[0].expected), (std::vector<float>{10, 11}))
        << i;
    EXPECT_NE(data->model, nullptr) << i;
  }
}

TEST(ReadCaseDataTest, WhatDoesNotFitTheModelIsNamed) {
  const struct {
    std::vector<std::string> files;
    std::string message;
  } rows[] = {
      {{"input_0.pb"}, "output_0.pb"},
      {{"input_0.pb", "output_0.pb"}, "output_1.pb"},
      {{"input_1.pb", "output_0.pb", "output_1.pb"},
       "input_1.pb: found it, but no input_0.pb before it"},
      {{"output_1.pb", "output_2.pb"}, "output_0.pb"},
      {{"input_0.pb", "input_1.pb", "input_2.pb", "input_3.pb", "output_0.pb",
        "output_1.pb"},
       "input_3.pb: found it, wanted 3 files"},
      {{"output_0.pb", "output_1.pb", "output_2.pb"},
       "output_2.pb: found it, wanted 2 files"},
  };
  for (const auto& row : rows) {
    const CaseDirectory directory(row.files);
    const auto data = ReadCaseData(directory.path(), 1);
    EXPECT_THAT(data, Says(row.message));
    EXPECT_THAT(data, Says("test_data_set_0"));
  }
}

TEST(ReadCaseDataTest, MissingAndBrokenFilesAreNamed) {
  const CaseDirectory directory({"output_0.pb", "output_1.pb"});
  EXPECT_THAT(ReadCaseData(directory.path(), 2), Says("test_data_set_1"));
  EXPECT_THAT(ReadCaseData(directory.path(), 0), Says("found 0 data sets"));
  directory.Write("test_data_set_0/output_1.pb", "\xFF\xFF");
  EXPECT_THAT(ReadCaseData(directory.path(), 1), Says("output_1.pb"));
  fs::remove(directory.path() / "model.onnx");
  EXPECT_THAT(ReadCaseData(directory.path(), 1), Says("model.onnx"));
}

// Kills: expected outputs of a case of random weights that may be missing, or
// that are not read.
TEST(ReadCaseDataTest, ACaseOfRandomWeightsExpectsTheOutputsOfItsFolder) {
  const CaseDirectory directory({"output_0.pb", "output_1.pb"});
  fs::rename(directory.path() / "model.onnx", directory.path() / "source.onnx");
  directory.Write("random_weights.txt", "model source.onnx\nseed 7\n");
  const auto data = Got(ReadCaseData(directory.path(), 1));
  ASSERT_EQ(data.sets.size(), 1U);
  EXPECT_EQ(data.sets[0].inputs.size(), 2U);
  EXPECT_EQ(Contents(data.sets[0].expected), (std::vector<float>{10, 11}));
  fs::remove(directory.path() / "test_data_set_0" / "output_1.pb");
  EXPECT_THAT(ReadCaseData(directory.path(), 1), Says("output_1.pb"));
  EXPECT_THAT(ReadCaseData(directory.path() / "test_data_set_0", 1),
              Says("model.onnx"));
  const auto inputs = Got(ReadCaseInputs(directory.path(), 1));
  EXPECT_EQ(Contents(inputs.sets[0].inputs), Contents(data.sets[0].inputs));
  EXPECT_TRUE(inputs.sets[0].expected.empty());
}

TEST(ComparatorTest, NamesReadBack) {
  using enum record::Comparator;
  for (const auto& [comparator, name] :
       std::vector<std::pair<record::Comparator, std::string_view>>{
           {kExact, "exact"},
           {kTolerance, "tolerance"},
           {kText, "text"},
           {kDistribution, "distribution"},
           {kOracle, "oracle"}}) {
    EXPECT_EQ(ToString(comparator), name);
    EXPECT_EQ(record::ParseComparator(name), comparator);
  }
  EXPECT_EQ(record::ParseComparator("Exact"), std::nullopt);
}

}  // namespace
}  // namespace assay::cases
