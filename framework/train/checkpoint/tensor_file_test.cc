// SPDX-License-Identifier: Apache-2.0

#include "framework/train/checkpoint/tensor_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "framework/file/file.h"
#include "framework/file/scratch_folder.h"
#include "framework/testing/support/statuses_fixture.h"
#include "framework/testing/support/tensors_fixture.h"

namespace assay::train {
namespace {

TEST(TensorFileTest, ReadsWhatItWrote) {
  const file::ScratchFolder folder;
  const auto path = folder.path() / "weights";
  TensorFile file;
  file.notes = {{"step", "7"}, {"name", "\"quoted\""}};
  file.tensors.emplace_back("w", Floats({1, 2}, {1.5F, -0.0F}));
  file.tensors.emplace_back("none", Doubles({0, 3}, {}));
  file.tensors.emplace_back("n", Int64s({}, {-3}));
  ASSERT_TRUE(WriteTensorFile(path, file).ok());
  const auto read = Got(ReadTensorFile(path));
  EXPECT_EQ(read.notes, file.notes);
  ASSERT_EQ(read.tensors.size(), 3U);
  for (const auto& [name, tensor] : file.tensors) {
    const Tensor* const found = read.Find(name);
    ASSERT_NE(found, nullptr) << name;
    EXPECT_EQ(found->Signature(), tensor.Signature());
    EXPECT_TRUE(std::ranges::equal(found->bytes(), tensor.bytes()));
  }
}

/// A file whose header claims what it does not have.
struct TensorFileLie {
  const char* name;
  std::string header;
  size_t elements;      // bytes behind it
  const char* message;  // has it
};

void PrintTo(const TensorFileLie& lie, std::ostream* out) { *out << lie.name; }

std::string Entry(const std::string& type, const std::string& shape,
                  const std::string& offsets) {
  return R"({"w": {"dtype": ")" + type + R"(", "shape": )" + shape +
         R"(, "data_offsets": )" + offsets + "}}";
}

std::vector<TensorFileLie> TensorFileLies() {
  return {
      {"no_json", "{\"w\": ", 0, "no JSON object"},
      {"a_list", "[1, 2]", 0, "no JSON object"},
      {"type", Entry("F16", "[2]", "[0, 4]"), 4,
       "tensor 'w': has the dtype \"F16\""},
      {"negative", Entry("F32", "[-1]", "[0, 4]"), 4, "has no shape"},
      {"one_offset", Entry("F32", "[1]", "[0]"), 4, "no two data_offsets"},
      {"backward", Entry("F32", "[1]", "[4, 0]"), 4, "the bytes 4 to 0"},
      {"beyond", Entry("F32", "[100]", "[0, 400]"), 4,
       "the bytes 0 to 400, and the file has 4"},
      {"shape", Entry("F32", "[3]", "[0, 8]"), 8, "the shape [3] and 8 bytes"},
      {"half", Entry("F32", "[1]", "[0, 6]"), 6, "the shape [1] and 6 bytes"},
      {"huge", Entry("F32", "[4294967296, 4294967296, 2]", "[0, 8]"), 8,
       "and 8 bytes"},
      {"gap", Entry("F32", "[1]", "[4, 8]"), 8, "wanted the next one at 0"},
      {"overlap",
       R"({"v": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]},
           "w": {"dtype": "F32", "shape": [1], "data_offsets": [4, 8]}})",
       8, "found a tensor at byte 4"},
      {"left_over", Entry("F32", "[1]", "[0, 4]"), 5,
       "found 5 bytes of elements, wanted 4"},
      {"notes", R"({"__metadata__": {"step": 7}})", 0, "has step"},
  };
}

class LieTest : public ::testing::TestWithParam<TensorFileLie> {};

TEST_P(LieTest, IsFound) {
  const file::ScratchFolder folder;
  const auto path = folder.path() / "lie";
  const uint64_t size = GetParam().header.size();
  std::string text(reinterpret_cast<const char*>(&size), sizeof(size));
  text += GetParam().header + std::string(GetParam().elements, '\0');
  ASSERT_TRUE(file::WriteFile(path, text).ok());
  const Status status = ReadTensorFile(path).status();
  EXPECT_THAT(status, IsStatus(StatusCode::kDataLoss, GetParam().message));
  EXPECT_THAT(status, Says(path.string()));
}

INSTANTIATE_TEST_SUITE_P(All, LieTest, ::testing::ValuesIn(TensorFileLies()),
                         [](const auto& info) { return info.param.name; });

TEST(TensorFileTest, FindsWhatIsCut) {
  const file::ScratchFolder folder;
  const auto path = folder.path() / "cut";
  TensorFile file;
  file.tensors.emplace_back("w", Floats({1, 2}));
  ASSERT_TRUE(WriteTensorFile(path, file).ok());
  const std::string whole = file::ReadFile(path).value();
  for (size_t size = 0; size < whole.size(); ++size) {
    ASSERT_TRUE(file::WriteFile(path, whole.substr(0, size)).ok());
    EXPECT_EQ(ReadTensorFile(path).status().code(), StatusCode::kDataLoss)
        << size;
  }
  EXPECT_EQ(ReadTensorFile(folder.path() / "none").status().code(),
            StatusCode::kNotFound);
  file.tensors[0].second =
      Tensor::Of<uint8_t>({1}, std::vector<uint8_t>{1}).value();
  EXPECT_EQ(WriteTensorFile(path, file).code(), StatusCode::kUnsupported);
}

}  // namespace
}  // namespace assay::train
