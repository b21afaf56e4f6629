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
  // Entries of archives.
  const std::string a_ = NpyBytes("<f4", "(2,)", FloatBytes({1, 2}));
  const std::string b_ = NpyBytes("<f4", "(3,)", FloatBytes({3, 4, 5}));
};

// Kills: an array of another type, order or shape than NumPy wrote.
TEST_F(NumpyTest, AnArrayIsATensor) {
  const struct {
    const char* descr;
    const char* shape;
    size_t n_bytes;
    DType wanted;
    const char* signature;
  } rows[] = {
      {"<f4", "(2, 3)", 24, DType::kUndefined, "float32[2,3]"},
      {"<f4", "(2,)", 8, DType::kFloat64, "float32[2]"},
      {"<f4", "()", 4, DType::kUndefined, "float32[]"},
      {"<f4", "(0, 3)", 0, DType::kUndefined, "float32[0,3]"},
      {"|b1", "(2,)", 2, DType::kUndefined, "bool[2]"},
      {"<i8", "(1,)", 8, DType::kUndefined, "int64[1]"},
      {"<c16", "(1,)", 16, DType::kUndefined, "complex128[1]"},
      // ml_dtypes has no name for its types in NumPy's.
      {"<V2", "(2,)", 4, DType::kBFloat16, "bfloat16[2]"},
      {"|V1", "(2,)", 2, DType::kFloat8E4M3FN, "float8e4m3fn[2]"},
  };
  for (const auto& row : rows) {
    const std::string bytes(row.n_bytes, '\1');
    const auto tensor =
        TensorIn(NpyBytes(row.descr, row.shape, bytes), row.wanted);
    EXPECT_EQ(Got(tensor).Signature(), row.signature);
  }
  const auto values = [&](std::string_view shape, std::vector<float> stored,
                          std::string_view is_fortran) {
    return FloatsOf(
        Got(TensorIn(NpyBytes("<f4", shape, FloatBytes(stored), is_fortran))));
  };
  EXPECT_THAT(values("(2, 3)", {1, 2, 3, 4, 5, 6}, "False"),
              ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(values("(2, 3)", {1, 4, 2, 5, 3, 6}, "True"),
              ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(
      values("(2, 3, 2)", {1, 7, 3, 9, 5, 11, 2, 8, 4, 10, 6, 12}, "True"),
      ElementsAre(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12));
}

// Kills: a length that is read in part; blanks that are counted upon.
TEST_F(NumpyTest, HeadersOfAllVersionsAreRead) {
  const std::string data = FloatBytes({1, 2});
  const std::string tight =
      "{'descr':'<f4','fortran_order':False,'shape':(2,)}";
  const std::string loose =
      "{'shape':   ( 2,), 'descr':  '<f4', 'fortran_order':  False}";
  const struct {
    char version;
    std::string header;
  } rows[] = {{1, tight},
              {1, loose + std::string(300, ' ')},
              {2, tight},
              {3, loose + std::string(70000, ' ')}};
  for (const auto& row : rows) {
    const std::string bytes =
        StrCat("\x93NUMPY", std::string({row.version, '\0'}),
               NumberBytes(row.header.size(), row.version == 1 ? 2 : 4),
               row.header, data);
    EXPECT_THAT(FloatsOf(Got(TensorIn(bytes))), ElementsAre(1, 2));
  }
}

// Kills: a file that is torn or not of numbers, taken for one that is.
TEST_F(NumpyTest, WhatIsNoArrayOfNumbersIsNamed) {
  const std::string right = NpyBytes("<f4", "(2,)", FloatBytes({1, 2}));
  const std::string header = right.substr(0, right.size() - 8);
  const auto of = [](std::string_view descr, size_t n_bytes = 8) {
    return NpyBytes(descr, "(2,)", std::string(n_bytes, '\1'));
  };
  const std::string nameless =
      StrCat(std::string("\x93NUMPY\1\0", 8), NumberBytes(2, 2), "{}");
  const struct {
    std::string bytes, says;
    DType wanted = DType::kUndefined;
  } rows[] = {
      {"", "x.npy: found no NumPy array"},
      {nameless.substr(0, 11), "found no NumPy array"},
      {nameless, "found pickled objects"},
      {std::string("\x93NUMPX") + right.substr(6), "found no NumPy array"},
      {right.substr(0, 20), "its header is torn"},
      {header.substr(0, header.size() - 1), "its header is torn"},
      {header, "has 0 bytes of data, wanted those of '<f4' [2]"},
      {right.substr(0, right.size() - 1), "has 7 bytes of data"},
      {right.substr(0, right.size() - 4), "has 4 bytes of data"},
      {right + "1", "has 9 bytes of data"},
      {of("|O"), "found pickled objects"},
      {of(">f4"), "found '>f4', wanted little"},
      {of("<U1"), "found '<U1', wanted little"},
      {of("<V"), "found '<V', wanted little"},
      {of("<V0"), "found '<V0', wanted little"},
      {of("<V65", 130), "found '<V65', wanted little"},
      {of("<V64", 128), "found '<V64', wanted numbers or booleans"},
      {of("<V2", 4), "found '<V2', wanted numbers", DType::kFloat32},
      {of("<V1", 2), "found '<V1', wanted numbers", DType::kInt4},
      {NpyBytes("<f4", "(-2,)", ""), "found the extent '-2'"},
      {NpyBytes("<f4", "(2, x)", ""), "found the extent 'x'"},
      {NpyBytes("<f4", "(4611686018427387904, 4)", ""), ""},
  };
  for (const auto& row : rows) {
    EXPECT_FALSE(TensorIn(row.bytes, row.wanted).ok()) << row.says;
    EXPECT_THAT(TensorIn(row.bytes, row.wanted), Says(row.says));
  }
  EXPECT_THAT(ReadNumpy(folder_.path() / "none.npy"),
              IsStatus(StatusCode::kNotFound, "none.npy"));
}

// Kills: an entry that is left out, packed, or torn without a word.
TEST_F(NumpyTest, AnArchiveHoldsArraysByName) {
  for (const bool packed : {false, true}) {
    const std::string zip = NpzBytes({{"a", a_}, {"long", b_}}, packed);
    const auto arrays = Got(Read("x.npz", zip));
    ASSERT_EQ(arrays.size(), 2U);
    EXPECT_EQ(arrays[0].name, "a");
    EXPECT_EQ(arrays[1].name, "long");
    EXPECT_EQ(arrays[1].where, (folder_.path() / "x.npz[long]").string());
    EXPECT_THAT(FloatsOf(Got(arrays[0].As(DType::kFloat32))),
                ElementsAre(1, 2));
    EXPECT_THAT(FloatsOf(Got(arrays[1].As(DType::kFloat32))),
                ElementsAre(3, 4, 5));
  }
  EXPECT_TRUE(Got(Read("x.npz", NpzBytes({}))).empty());
  const auto broken = Read("x.npz", NpzBytes({{"a", a_}, {"b", "text"}}));
  EXPECT_THAT(broken, Says("x.npz: b.npy: found no NumPy array"));
  std::string others = NpzBytes({{"a", a_}, {"b", "text"}});
  for (size_t at = 0; (at = others.find("b.npy", at)) != others.npos; ++at) {
    others.replace(at, 5, "b.txt");
  }
  EXPECT_EQ(Got(Read("x.npz", others)).size(), 1U);
}

// Kills: a length or a place that is believed, and read beyond the file.
TEST_F(NumpyTest, AnArchiveThatIsTornIsNamed) {
  for (const bool packed : {false, true}) {
    const std::string zip = NpzBytes({{"a", a_}}, packed);
    const size_t listed = zip.find("PK\x01\x02");
    const size_t end = zip.find("PK\x05\x06");
    const size_t data = zip.find("a.npy") + (packed ? 10 : 5);
    const uint64_t beyond = 0xFFFFFFF0;
    const struct {
      size_t at;
      uint64_t number;
      size_t size;  // of the number
      const char* says;
    } rows[] = {
        {end + 16, 0xFFFFFFFF, 4, "has 4 GiB or more"},
        {listed + 20, 0xFFFFFFFF, 4, "has 4 GiB or more"},
        {listed + 24, 0xFFFFFFFF, 4, "has 4 GiB or more"},
        {end + 10, 2, 2, "is torn"},  // entries
        {end + 16, listed + 1, 4, "is torn"},
        {end + 16, end - 45, 4, "is torn"},
        {end + 16, beyond, 4, "is torn"},
        {listed + 10, 12, 2, "a.npy is packed by method 12"},
        {listed + 16, 1, 4, "a.npy is torn: its checksum is another"},
        {listed + 20, end - data + 1, 4, "is no zip archive, or is torn"},
        {listed + 20, beyond, 4, "is torn"},
        {listed + 24, a_.size() + 1, 4, "a.npy is torn"},
        {listed + 24, a_.size() - 1, 4, "a.npy is torn"},
        {listed + 24, beyond, 4, "a.npy is torn"},
        {listed + 28, 0xFFFF, 2, "is no zip archive, or is torn"},
        {listed + 42, end, 4, "is no zip archive, or is torn"},
        {listed + 42, beyond, 4, "is no zip archive, or is torn"},
        {data + 20, 'x', 1, "a.npy is torn"},
    };
    for (const auto& row : rows) {
      std::string torn = zip;
      torn.replace(row.at, row.size, NumberBytes(row.number, row.size));
      EXPECT_THAT(Read("x.npz", torn), Says(row.says)) << row.at;
    }
    for (size_t size = 0; size < end + 22; ++size) {
      EXPECT_THAT(Read("x.npz", zip.substr(0, size)), Says("is torn"));
    }
  }
}

TEST_F(NumpyTest, PartsAreThoseOfTheFirstAxis) {
  const auto parts_of = [&](std::string_view shape, std::string_view data) {
    return Got(Read("x.npy", NpyBytes("<f4", shape, data)))[0].Parts();
  };
  const auto parts = Got(parts_of("(2, 1, 2)", FloatBytes({1, 2, 3, 4})));
  ASSERT_EQ(parts.size(), 2U);
  EXPECT_EQ(parts[1].where, (folder_.path() / "x.npy[1]").string());
  const Tensor second = Got(parts[1].As(DType::kFloat32));
  EXPECT_EQ(second.Signature(), "float32[1,2]");
  EXPECT_THAT(FloatsOf(second), ElementsAre(3, 4));
  EXPECT_TRUE(Got(parts_of("(0, 3)", "")).empty());
  EXPECT_THAT(parts_of("()", FloatBytes({1})), Says("x.npy: found one number"));
}

}  // namespace
}  // namespace assay::cases
