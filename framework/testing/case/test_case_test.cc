// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/case/test_case.h"

#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace assay::cases {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

// Protobuf on the wire, for fields and lengths below 128.
std::string Number(int field, int value) {
  return {static_cast<char>(field * 8), static_cast<char>(value)};
}
std::string Bytes(int field, const std::string& bytes) {
  return std::string{static_cast<char>(field * 8 + 2),
                     static_cast<char>(bytes.size())} +
         bytes;
}

std::string TensorFile(float value, const std::string& name = "") {
  std::string raw(sizeof(value), '\0');
  std::memcpy(raw.data(), &value, sizeof(value));
  return Number(1, 1) + Number(2, 1) + Bytes(8, name) + Bytes(9, raw);
}

std::string DeclaredFloat(const std::string& name) {
  const std::string shape = Bytes(1, Number(1, 1));
  const std::string tensor = Number(1, 1) + Bytes(2, shape);
  return Bytes(1, name) + Bytes(2, Bytes(1, tensor));
}

std::string SumNode(const std::string& output) {
  return Bytes(1, "a") + Bytes(1, "b") + Bytes(1, "w") + Bytes(2, output) +
         Bytes(4, "Sum");
}

// y = z = a + b + w, where w is an input that an initializer fills.
std::string ModelFile() {
  std::string graph = Bytes(1, SumNode("y")) + Bytes(1, SumNode("z")) +
                      Bytes(2, "g") + Bytes(5, TensorFile(4, "w"));
  for (const char* input : {"w", "a", "b"}) {
    graph += Bytes(11, DeclaredFloat(input));
  }
  for (const char* output : {"y", "z"}) {
    graph += Bytes(12, DeclaredFloat(output));
  }
  std::string length = {static_cast<char>(0x80 | (graph.size() & 0x7F)),
                        static_cast<char>(graph.size() >> 7)};
  return Number(1, 8) + std::string{7 * 8 + 2} + length + graph +
         Bytes(8, Number(2, 13));
}

void Write(const fs::path& file, const std::string& bytes) {
  std::ofstream(file, std::ios::binary) << bytes;
}

// A case directory, whose input_K.pb holds K and output_K.pb 10 + K.
class CaseDirectory {
 public:
  explicit CaseDirectory(const std::vector<std::string>& files)
      : path_(fs::path(testing::TempDir()) /
              ("assay_test_case_test." + std::to_string(getpid()))) {
    fs::remove_all(path_);
    const fs::path set = path_ / "test_data_set_0";
    fs::create_directories(set);
    Write(path_ / "model.onnx", ModelFile());
    for (const std::string& name : files) {
      const float base = name.starts_with("output") ? 10 : 0;
      const char digit = name[name.find('_') + 1];
      Write(set / name, TensorFile(base + static_cast<float>(digit - '0')));
    }
  }
  ~CaseDirectory() { fs::remove_all(path_); }

  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
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
  struct Row {
    std::vector<std::string> files;
    std::vector<float> inputs, expected;
  };
  const std::vector<Row> rows = {
      {{"input_0.pb", "input_1.pb", "output_0.pb", "output_1.pb"},
       {0, 1},
       {10, 11}},
      // An input whose file is left out at the end is absent.
      {{"input_0.pb", "output_1.pb", "output_0.pb"}, {0, -1}, {10, 11}},
      {{"output_0.pb", "output_1.pb"}, {-1, -1}, {10, 11}},
      {{"input_0.pb", "input_x.pb", "input_01.pb", "input_1.pb~", "a_9.txt",
        "input_.pb", "output_0.pb", "output_1.pb"},
       {0, -1},
       {10, 11}},
  };
  for (size_t i = 0; i < rows.size(); ++i) {
    const CaseDirectory directory(rows[i].files);
    const auto data = ReadCaseData(directory.path(), 1);
    ASSERT_TRUE(data.ok()) << i << ": " << data.status().ToString();
    ASSERT_EQ(data->sets.size(), 1U) << i;
    EXPECT_EQ(Contents(data->sets[0].inputs), rows[i].inputs) << i;
    EXPECT_EQ(Contents(data->sets[0].expected), rows[i].expected) << i;
    EXPECT_NE(data->model, nullptr) << i;
  }
}

TEST(ReadCaseDataTest, WhatDoesNotFitTheModelIsNamed) {
  struct Row {
    std::vector<std::string> files;
    std::string message;
  };
  const std::vector<Row> rows = {
      {{"input_0.pb"}, "output_0.pb"},
      {{"input_0.pb", "output_0.pb"}, "output_1.pb"},
      {{"input_1.pb", "output_0.pb", "output_1.pb"},
       "input_1.pb: found it, but no input_0.pb before it"},
      {{"output_1.pb", "output_2.pb"}, "output_0.pb"},
      {{"input_0.pb", "input_1.pb", "input_2.pb", "output_0.pb", "output_1.pb"},
       "input_2.pb: found it, wanted 2 files"},
      {{"output_0.pb", "output_1.pb", "output_2.pb"},
       "output_2.pb: found it, wanted 2 files"},
  };
  for (const Row& row : rows) {
    const CaseDirectory directory(row.files);
    const auto data = ReadCaseData(directory.path(), 1);
    ASSERT_FALSE(data.ok()) << row.message;
    EXPECT_THAT(data.status().message(), HasSubstr(row.message));
    EXPECT_THAT(data.status().message(), HasSubstr("test_data_set_0"));
  }
}

TEST(ReadCaseDataTest, MissingAndBrokenFilesAreNamed) {
  const CaseDirectory directory({"output_0.pb", "output_1.pb"});
  EXPECT_THAT(ReadCaseData(directory.path(), 2).status().message(),
              HasSubstr("test_data_set_1"));
  EXPECT_THAT(ReadCaseData(directory.path(), 0).status().message(),
              HasSubstr("found 0 data sets"));
  Write(directory.path() / "test_data_set_0" / "output_1.pb", "\xFF\xFF");
  EXPECT_THAT(ReadCaseData(directory.path(), 1).status().message(),
              HasSubstr("output_1.pb"));
  fs::remove(directory.path() / "model.onnx");
  EXPECT_THAT(ReadCaseData(directory.path(), 1).status().message(),
              HasSubstr("model.onnx"));
}

// Kills: expected outputs of a case of random weights that may be missing, or
// that are not read.
TEST(ReadCaseDataTest, ACaseOfRandomWeightsExpectsTheOutputsOfItsFolder) {
  const CaseDirectory directory({"output_0.pb", "output_1.pb"});
  fs::rename(directory.path() / "model.onnx", directory.path() / "source.onnx");
  Write(directory.path() / "random_weights.txt", "model source.onnx\nseed 7\n");
  const auto data = ReadCaseData(directory.path(), 1);
  ASSERT_TRUE(data.ok()) << data.status().ToString();
  ASSERT_EQ(data->sets.size(), 1U);
  EXPECT_EQ(data->sets[0].inputs.size(), 2U);
  EXPECT_EQ(Contents(data->sets[0].expected), (std::vector<float>{10, 11}));
  fs::remove(directory.path() / "test_data_set_0" / "output_1.pb");
  EXPECT_THAT(ReadCaseData(directory.path(), 1).status().message(),
              HasSubstr("output_1.pb"));
  EXPECT_THAT(
      ReadCaseData(directory.path() / "test_data_set_0", 1).status().message(),
      HasSubstr("model.onnx"));
  const auto inputs = ReadCaseInputs(directory.path(), 1);
  ASSERT_TRUE(inputs.ok()) << inputs.status().ToString();
  EXPECT_EQ(Contents(inputs->sets[0].inputs), Contents(data->sets[0].inputs));
  EXPECT_TRUE(inputs->sets[0].expected.empty());
}

TEST(ComparatorTest, NamesReadBack) {
  using enum record::Comparator;
  for (const auto& [comparator, name] :
       std::vector<std::pair<record::Comparator, std::string_view>>{
           {kExact, "exact"},
           {kTolerance, "tolerance"},
           {kText, "text"},
           {kDistribution, "distribution"}}) {
    EXPECT_EQ(ToString(comparator), name);
    EXPECT_EQ(record::ParseComparator(name), comparator);
  }
  EXPECT_EQ(record::ParseComparator("Exact"), std::nullopt);
}

}  // namespace
}  // namespace assay::cases
