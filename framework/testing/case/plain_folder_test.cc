// SPDX-License-Identifier: Apache-2.0
//
// The layouts of a person's folders, and the faults in them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "framework/file/scratch_folder.h"
#include "framework/testing/case/case_files_fixture.h"
#include "framework/testing/case/onnx_bytes.h"
#include "framework/testing/case/plain_corpus.h"
#include "framework/testing/support/statuses_fixture.h"

namespace assay::cases {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;

class PlainFolderTest : public PlainFolders {};

// Kills: a case that is broken and left out, so that a run without it is green;
// one broken case that takes the others with it.
TEST_F(PlainFolderTest, WhatWouldBeACaseIsBad) {
  const std::string untyped =
      IntField(1, 8) +
      BytesField(7, BytesField(1, BytesField(1, "x") + BytesField(2, "y") +
                                      BytesField(4, "Abs")) +
                        BytesField(11, ValueInfoBytes("x", 1)) +
                        BytesField(12, BytesField(1, "y"))) +
      BytesField(8, IntField(2, 13));
  const std::string model = ModelBytes({"Abs"});  // its import has 6 bytes
  const struct {
    const char* file;
    std::string bytes;
    const char* says;
  } rows[] = {
      {"model.onnx", untyped,
       "the model declares no type for its output 'y', which ONNX requires"},
      {"model.onnx", "no model", "x: /"},
      {"model.onnx", model.substr(0, model.size() - 6),
       "ONNX's checker: model with IR version >= 3 must specify opset_import"},
      {"test_data_set_0/input_0.pb", BytesField(3, IntField(1, 1)),
       "is a segment of a larger tensor"},
      {"test_data_set_0/input_0.pb", "no tensor", "input_0.pb: is malformed"},
      {"test_data_set_0/input_0.pb", FloatsBytes({1, 2, 3}),
       "test_data_set_0: found float32[3] for the input 'x', which the model "
       "declares as float32[2]"},
      {"test_data_set_0/output_0.pb", FloatsBytes({1}),
       "found float32[1] for the output 'y'"},
      {"test_data_set_2/input_0.pb", FloatsBytes({1, 2}),
       "test_data_set_1: does not exist"},
      {"test_data_set_1/input_0.pb", FloatsBytes({1, 2}),
       "test_data_set_1/output_0.pb: does not exist"},
  };
  for (const auto& row : rows) {
    fs::remove_all(folder_.path() / "mine");
    WriteCase("mine/good", {"Abs"});
    WriteCase("mine/x", {"Abs"});
    folder_.Write(StrCat("mine/x/", row.file), row.bytes);
    const Corpus corpus = Read("mine");
    EXPECT_THAT(TestIdsOf(corpus), ElementsAre("node/Abs/good")) << row.says;
    EXPECT_THAT(corpus.bad, ElementsAre(testing::HasSubstr(row.says)));
  }
}

// Kills: a path that no table can hold; one such that takes the others with it,
// or that a terminal gets as it is; a name that is no case's and makes a run
// red.
TEST_F(PlainFolderTest, AFolderWhoseNameIsNoTextIsBadAlone) {
  WriteCase("mine/good", {"Abs"});
  WriteCase("mine/be\a\xFFll", {"Abs"});
  WriteCase("mine/a\x1B[m/inner", {"Abs"});
  folder_.Write("mine/no\acase/readme.txt", "");
  folder_.Write("mine/good/\x1B.onnx", "");
  const Corpus corpus = Read("mine");
  EXPECT_THAT(TestIdsOf(corpus), ElementsAre("node/Abs/good"));
  EXPECT_THAT(corpus.bad, ElementsAre(testing::StartsWith("a\\x1B[m/inner: "),
                                      testing::StartsWith("be\\x07\\xFFll: ")));
  EXPECT_THAT(corpus.passed_over,
              ElementsAre("good/\\x1B.onnx: a second model"));
}

// Kills: a model of onnx/models' layout, or data of NumPy's, left out; half a
// case that is left out in silence.
TEST_F(PlainFolderTest, WhatIsInAFolderIsACaseOrNamed) {
  WriteCase("zoo/squeezenet", {"Abs"});
  fs::rename(folder_.path() / "zoo/squeezenet/model.onnx",
             folder_.path() / "zoo/squeezenet/squeezenet1.0-8.onnx");
  folder_.Write("zoo/packed/model.onnx", ModelBytes({"Neg"}));
  folder_.Write(
      "zoo/packed/test_data_0.npz",
      NpzBytes({{"inputs", NpyBytes("<f4", "(1, 2)", FloatBytes({1, -2}))},
                {"outputs", NpyBytes("<f4", "(1, 2)", FloatBytes({-1, 2}))}}));
  const Corpus corpus = Read("zoo");
  EXPECT_THAT(TestIdsOf(corpus),
              ElementsAre("node/Abs/squeezenet", "node/Neg/packed"));
  EXPECT_THAT(corpus.passed_over, testing::IsEmpty());
  WriteDataSet("zoo/packed/test_data_set_0");
  folder_.Write("zoo/packed/other.onnx", "");
  folder_.Write("zoo/packed/values.npz", "");
  folder_.Write("zoo/no_data/m.onnx", "");
  WriteDataSet("zoo/no_model/test_data_set_0");
  EXPECT_THAT(Read("zoo").passed_over,
              testing::UnorderedElementsAre(
                  "packed/other.onnx: a second model",
                  "packed/test_data_0.npz: a second data set of its number",
                  "packed/values.npz: no data set, as test_data_0.npz is",
                  testing::HasSubstr("no_data: a model without a data set"),
                  "no_model: data sets without a model"));
  EXPECT_THAT(ReadPlainCorpus(folder_.path() / "zoo/no_data"),
              Says("found no_data: a model without a data set"));
}

// Kills: a case without expected outputs, refused or taken for one that has
// some; a tolerance beside what the oracle says.
TEST_F(PlainFolderTest, ACaseThatStatesNoOutputsIsForTheOracle) {
  WriteCase("test_x", {"Abs"});
  fs::remove(folder_.path() / "test_x/test_data_set_0/output_0.pb");
  const Corpus corpus = Read();
  ASSERT_EQ(corpus.cases.size(), 1U);
  EXPECT_EQ(corpus.cases[0].limit.comparator, record::Comparator::kOracle);
  EXPECT_EQ(corpus.cases[0].limit.rtol, 1e-3);
  EXPECT_EQ(corpus.cases[0].limit.atol, 0);
  EXPECT_EQ(corpus.cases[0].vacuous, "");
}

// Kills: a model elsewhere that changes under the same hash.
TEST_F(PlainFolderTest, TheHashIsOfAModelElsewhere) {
  const fs::path model = folder_.Write("m.onnx", ModelBytes({"Abs"}));
  const fs::path data = folder_.Write("m.data", "1");
  folder_.Write("own/m/model.txt",
                StrCat(model.string(), "\n", data.string(), "\n"));
  WriteDataSet("own/m/test_data_set_0");
  const Corpus before = Read("own");
  EXPECT_THAT(TestIdsOf(before), ElementsAre("node/Abs/m"));
  folder_.Write("m.data", "2");
  const std::string with_data = Read("own").hash;
  EXPECT_NE(with_data, before.hash);
  folder_.Write("m.onnx", ModelBytes({"Neg"}));
  EXPECT_NE(Read("own").hash, with_data);
}

}  // namespace
}  // namespace assay::cases
