// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/case/numpy_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/file/scratch_folder.h"
#include "framework/testing/case/case_files_fixture.h"
#include "framework/testing/support/statuses_fixture.h"
#include "framework/testing/support/tensors_fixture.h"

namespace assay::cases {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;

class NumpyTest : public testing::Test {
 protected:
  Result<std::vector<NumpyArray>> Read(const std::string& name,
                                       std::string_view bytes) const {
    return ReadNumpy(folder_.Write(name, bytes));
  }
  Result<Tensor> TensorIn(std::string_view bytes,
                          DType wanted = DType::kUndefined) const {
    ASSAY_ASSIGN_OR_RETURN(const auto arrays, Read("x.npy", bytes));
    return arrays.at(0).As(wanted);
  }

  const file::ScratchFolder folder_;
};

// Kills: an array of another type, order or shape than NumPy wrote.
TEST_F(NumpyTest, AnArrayIsATensor) {
  const Tensor wide =
      Got(TensorIn(NpyBytes("<f4", "(2, 3)", FloatBytes({1, 2, 3, 4, 5, 6}))));
  EXPECT_EQ(wide.Signature(), "float32[2,3]");
  EXPECT_THAT(FloatsOf(wide), ElementsAre(1, 2, 3, 4, 5, 6));
  const Tensor columns = Got(TensorIn(
      NpyBytes("<f4", "(2, 3)", FloatBytes({1, 4, 2, 5, 3, 6}), "True")));
  EXPECT_THAT(FloatsOf(columns), ElementsAre(1, 2, 3, 4, 5, 6));
  const Tensor scalar = Got(TensorIn(NpyBytes("<f4", "()", FloatBytes({7}))));
  EXPECT_EQ(scalar.Signature(), "float32[]");
  const Tensor none = Got(TensorIn(NpyBytes("<f4", "(0, 3)", "")));
  EXPECT_EQ(none.Signature(), "float32[0,3]");
  EXPECT_EQ(Got(TensorIn(NpyBytes("|b1", "(2,)", "\x01\x01"))).Signature(),
            "bool[2]");
  EXPECT_EQ(
      Got(TensorIn(NpyBytes("<i8", "(1,)", std::string(8, '\1')))).Signature(),
      "int64[1]");
  // ml_dtypes has no name for its types in NumPy's.
  const std::string halves = NpyBytes("<V2", "(2,)", "\x80\x3f\x80\xbf");
  EXPECT_EQ(Got(TensorIn(halves, DType::kBFloat16)).Signature(), "bfloat16[2]");
  EXPECT_THAT(TensorIn(halves, DType::kFloat32), Says("found '<V2'"));
}

// Kills: a file that is torn or not of numbers, taken for one that is.
TEST_F(NumpyTest, WhatIsNoArrayOfNumbersIsNamed) {
  const std::string right = NpyBytes("<f4", "(2,)", FloatBytes({1, 2}));
  const struct {
    std::string bytes, says;
  } rows[] = {
      {"", "x.npy: found no NumPy array"},
      {right.substr(0, 20), "its header is torn"},
      {right.substr(0, right.size() - 1), "has 7 bytes of data, wanted"},
      {right + "1", "has 9 bytes of data"},
      {NpyBytes("|O", "(2,)", "12345678"), "found pickled objects"},
      {NpyBytes(">f4", "(2,)", FloatBytes({1, 2})),
       "found '>f4', wanted little"},
      {NpyBytes("<U1", "(2,)", "12345678"), "found '<U1'"},
      {NpyBytes("<f4", "(-2,)", ""), "found the extent '-2'"},
      {NpyBytes("<f4", "(4611686018427387904, 4)", ""), ""},
  };
  for (const auto& row : rows) {
    EXPECT_FALSE(TensorIn(row.bytes).ok()) << row.says;
    EXPECT_THAT(TensorIn(row.bytes), Says(row.says));
  }
}

// Kills: an entry that is left out, packed, or torn without a word.
TEST_F(NumpyTest, AnArchiveHoldsArraysByName) {
  const std::string a = NpyBytes("<f4", "(2,)", FloatBytes({1, 2}));
  const std::string b = NpyBytes("<f4", "(3,)", FloatBytes({3, 4, 5}));
  for (const bool packed : {false, true}) {
    const std::string zip = NpzBytes({{"a", a}, {"b", b}}, packed);
    const auto arrays = Got(Read("x.npz", zip));
    ASSERT_EQ(arrays.size(), 2U);
    EXPECT_EQ(arrays[0].name, "a");
    EXPECT_EQ(arrays[1].where, (folder_.path() / "x.npz[b]").string());
    EXPECT_THAT(FloatsOf(Got(arrays[1].As(DType::kFloat32))),
                ElementsAre(3, 4, 5));
    std::string torn = zip;
    torn[packed ? zip.find("b.npy") + 7 : zip.find(a) + a.size() - 1] ^= 1;
    EXPECT_THAT(
        Read("torn.npz", torn),
        Says(packed ? "torn" : "a.npy is torn: its checksum is another"));
    EXPECT_THAT(Read("cut.npz", zip.substr(0, zip.size() - 30)),
                Says("is no zip archive, or is torn"));
  }
}

TEST_F(NumpyTest, PartsAreThoseOfTheFirstAxis) {
  const auto arrays = Got(
      Read("x.npy", NpyBytes("<f4", "(2, 1, 2)", FloatBytes({1, 2, 3, 4}))));
  const auto parts = Got(arrays[0].Parts());
  ASSERT_EQ(parts.size(), 2U);
  const Tensor second = Got(parts[1].As(DType::kFloat32));
  EXPECT_EQ(second.Signature(), "float32[1,2]");
  EXPECT_THAT(FloatsOf(second), ElementsAre(3, 4));
}

}  // namespace
}  // namespace assay::cases
