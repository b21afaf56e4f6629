// SPDX-License-Identifier: Apache-2.0
//
// A model and data of a person's own: judged by the oracle where no outputs are
// expected, refused with one sentence where something is missing.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "framework/cli/program_fixture.h"
#include "framework/graph/model_text.h"
#include "framework/testing/case/onnx_bytes.h"

namespace assay::cli {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Key;
using ::testing::Pair;
using ::testing::StartsWith;

/// misbehaving gives the input: 1 % more than this model wants.
constexpr const char* kLess =
    "g (float[n,3] x) => (float[n,3] y) <float w = {0.990099}> "
    "{ h = Mul(x, w) y = Identity(h) }";
constexpr const char* kSame =
    "g (float[n,3] x) => (float[n,3] y) { h = Identity(x) y = Identity(h) }";

class OwnTest : public ProgramTest {
 protected:
  void Write(const std::string& file, std::string_view bytes) const {
    fs::create_directories((folder_ / file).parent_path());
    std::ofstream(folder_ / file, std::ios::binary) << bytes;
  }
  void WriteModel(const std::string& file, const char* text) const {
    const auto model = graph::ModelOfText(text);
    const auto bytes = model->bytes();
    Write(file, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  }
};

// Kills: a model that cannot be run without expected data; a module that is 1 %
// wrong on it, and passes; inputs that are another at the same seed.
TEST_F(OwnTest, AModelAloneIsJudgedByTheOracle) {
  WriteModel("less.onnx", kLess);
  WriteModel("same.onnx", kSame);
  const std::string wrong = ASSAY_MISBEHAVING;
  const auto run = [&](const std::string& what) {
    fs::remove_all(folder_ / "run");
    return Assay("run --no-report --repeats 0 --out run --dim n=4 ", what);
  };
  EXPECT_THAT(run("--model less.onnx --backend reference --backend " + wrong),
              Ended(1, "reference on own: 1 = pass 1 (vacuous 0)",
                    "misbehaving on own: 1 = pass 0 (vacuous 0) + fail 1",
                    "output y: element 0 is "));
  const auto rows = Rows("run/results.csv");
  ASSERT_EQ(rows.size(), 2U);
  for (const record::ResultRow& row : rows) {
    EXPECT_EQ(row.test_id, "model/own/less");
    EXPECT_THAT(row.repro, HasSubstr("less.onnx --dim n=4"));
    if (row.outcome != record::Outcome::kFail) continue;
    const Ran again =
        Assay(row.repro.substr(6), " --no-report --repeats 0 --out again");
    EXPECT_EQ(again.exit_code, 1) << again.output;
    EXPECT_EQ(Rows("again/results.csv").at(0).message, row.message);
  }
  EXPECT_THAT(run("--model same.onnx --backend " + wrong), Ended(0, "pass 1"));
  std::vector<std::string> drawn;  // named by what it holds
  for (const char* seed : {"0", "5", "5"}) {
    EXPECT_THAT(
        run(StrCat("--model less.onnx --backend reference --seed ", seed)),
        Ended(0, "pass 1"));
    const fs::directory_iterator folder(folder_ / "run/model");
    drawn.push_back(folder->path().filename());
    EXPECT_EQ(std::distance(folder, {}), 1);
  }
  EXPECT_NE(drawn[0], drawn[1]);
  EXPECT_EQ(drawn[1], drawn[2]);
}

// Kills: an integer that points beside its table, an extent that its place
// does not choose.
TEST_F(OwnTest, IntegersAreRowsOfTheirTable) {
  WriteModel("row.onnx",
             "g (int64[n] i) => (float[n,1] y) <float[1,1] w = {2}> "
             "{ j = Identity(i) y = Gather(w, j) }");
  EXPECT_THAT(RunOf("reference --model row.onnx --dim i.0=8"),
              Ended(0, "pass 1"));
}

// Kills: a right network that has no value at what is drawn, and a setting that
// nobody can draw, for which a backend is called wrong.
TEST_F(OwnTest, OperatorsGetWhatTheyCanTake) {
  WriteModel("norm.onnx",
             "g (float[1,16,3] x, float[16] s, float[16] b, float[16] m, "
             "float[16] v, int64[1] k) => (float[1,16,n] y, int64[1,16,n] i) "
             "{ h = BatchNormalization(x, s, b, m, v) y, i = TopK(h, k) }");
  EXPECT_THAT(RunOf("reference --model norm.onnx"), Ended(0, "pass 1"));
  WriteModel("shape.onnx",
             "g (float[4] x, int64[2] s) => (float[2,2] y) "
             "{ y = Reshape(x, s) }");
  ExpectRefused("run --backend reference --no-report --out shape --model ",
                {{"shape.onnx",
                  "the input 's' is the shape of Reshape, of which not every "
                  "number will do: give --inputs"}});
}

// Kills: gradients of a network of one's own that cannot be had, or by another
// option for a folder than for a model.
TEST_F(OwnTest, GradientsOfAModelAreJudgedToo) {
  WriteModel("less.onnx", kLess);
  EXPECT_THAT(
      RunOf("reference --model less.onnx --dim n=2 --gradients"),
      Ended(0, "reference on own: 1 = pass 1", "reference on gradcheck: "));
  const auto by_model = Outcomes("run");
  EXPECT_THAT(by_model, Contains(Key("gradcheck/own/less#official.float32")));
  const fs::path own = fs::directory_iterator(folder_ / "run/model")->path();
  EXPECT_THAT(Assay("run --no-report --out by_suite --backend reference "
                    "--suite gradcheck --corpus ",
                    (own / "own").string()),
              Ended(0));
  for (const auto& [test_id, outcome] : Outcomes("by_suite")) {
    EXPECT_THAT(test_id, StartsWith("gradcheck/own/less#"));
    EXPECT_EQ(outcome, "pass");
  }
  EXPECT_EQ(Outcomes("by_suite").size() + 1, by_model.size());
}

// Kills: a type whose inputs are not drawn, or are all alike.
TEST_F(OwnTest, InputsOfEveryTypeAreDrawn) {
  for (const char* type :
       {"float16", "bfloat16", "float8e4m3fn", "float8e5m2fnuz", "int4",
        "uint4", "int16", "uint64", "bool", "string"}) {
    WriteModel("m.onnx", StrCat("g (", type, "[3,5] x) => (", type,
                                "[3,5] y) { y = Identity(x) }")
                             .c_str());
    fs::remove_all(folder_ / "run");
    EXPECT_THAT(RunOf("reference --model m.onnx"),
                Ended(0, "own: 1 = pass 1 (vacuous 0)"))
        << type;
  }
}

// Kills: the layout of onnx/models that --model does not take.
TEST_F(OwnTest, AModelMayBeItsFolder) {
  WriteModel("zoo/less-8.onnx", kLess);
  EXPECT_THAT(RunOf("reference --model zoo --dim n=2"), Ended(0, "pass 1"));
  Write("zoo/test_data_set_0/input_0.pb", cases::FloatsBytes({1, 2}));
  ExpectRefused(
      "run --backend reference --out again --model zoo",
      {{"", "zoo/test_data_set_0: found float32[2] for the input 'x'"}});
}

// Kills: a fault of one's own that is told of a backend, or in words that do
// not say what to do.
TEST_F(OwnTest, WhatIsMissingIsSaid) {
  WriteModel("less.onnx", kLess);
  WriteModel("list.onnx",
             "g (seq(float[2]) s) => (seq(float[2]) y) { y = Identity(s) }");
  Write("broken.onnx", "no model");
  Write("data/input_0.pb", cases::FloatsBytes({1, 2}));
  ExpectRefused(
      "run --backend reference --no-report --out run --model ",
      {{"less.onnx",
        "the model takes x float32[n,3]: give --dim n=EXTENT, or --inputs"},
       {"less.onnx --dim m=2", "give --dim n=EXTENT"},
       {"less.onnx --dim n=2 --dim m=2",
        "found --dim m=2, wanted one of the model's open extents: n, x.0"},
       {"less.onnx --dim n", "found --dim n, wanted NAME=EXTENT"},
       {"less.onnx --dim n=2 --dim n=3",
        "found --dim n=3 beside --dim n=2, wanted one extent"},
       {"less.onnx --dim n=2 --inputs data", " excludes --"},
       {"less.onnx --inputs data",
        "bad case: data: found float32[2] for the input 'x', which the model "
        "declares as float32[n,3]"},
       {"less.onnx --inputs none", "bad case: none: does not exist"},
       {"less.onnx --dim n=999999999999", "bytes, wanted at most "},
       {"list.onnx", "of which nothing says a shape: give --inputs"},
       {"none.onnx", "bad case: "},
       {"broken.onnx", "bad case: "}});
  EXPECT_FALSE(fs::exists(folder_ / "run/plan.json"));
}

// Kills: data without outputs that cannot be judged; a bad case said of each
// backend, or that takes the good ones with it; what is left out in silence.
TEST_F(OwnTest, AFolderIsJudgedAsFarAsItCanBe) {
  for (const char* name : {"good", "bad"}) {
    Write(StrCat("mine/", name, "/m.onnx"), cases::ModelBytes({"Abs"}));
    Write(StrCat("mine/", name, "/test_data_set_0/input_0.pb"),
          cases::FloatsBytes({1, -2}));
  }
  Write("mine/bad/test_data_set_0/input_0.pb", "no tensor");
  Write("mine/model_alone/m.onnx", "");
  const Ran ran = RunOf("reference --backend faulty --corpus ./mine");
  EXPECT_THAT(ran, Ended(1, "assay: bad case mine/bad: ", "unexpected: 1\n",
                         "  1 bad case: mine/bad: ",
                         "assay: left out mine/model_alone: a model without"));
  EXPECT_THAT(Outcomes("run"), ElementsAre(Pair("node/Abs/good", "pass")));
  EXPECT_THAT(Assay("run --no-report --backend reference --out one "
                    "--filter id:node/Abs/good --corpus ./mine"),
              Ended(0));
  fs::remove_all(folder_ / "mine/good");
  EXPECT_THAT(Assay("run --no-report --backend reference --out none "
                    "--corpus ./mine"),
              Ended(2, "assay: bad case mine/bad: ", "the selection is empty"));
}

// Kills: an output that no oracle knows, taken for right or for wrong.
TEST_F(OwnTest, WhatNoOracleKnowsIsUndecided) {
  WriteModel("drawn.onnx",
             "g () => (float[4] y) { y = RandomNormal<shape = [4]>() }");
  EXPECT_THAT(
      RunOf("reference --model drawn.onnx"),
      Ended(1, "unsupported 1", "node/RandomNormal/drawn is undecided: "));
  const auto rows = Rows("run/results.csv");
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].reason_code, "undecided");
}

}  // namespace
}  // namespace assay::cli
