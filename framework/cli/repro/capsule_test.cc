// SPDX-License-Identifier: Apache-2.0

#include "framework/cli/repro/capsule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "framework/cli/program_fixture.h"
#include "framework/file/scratch_folder.h"
#include "framework/graph/model.h"
#include "framework/testing/case/corpus.h"
#include "framework/testing/case/corpus_files.h"
#include "framework/testing/support/statuses_fixture.h"
#include "framework/testing/support/tensors_fixture.h"

namespace assay::repro {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

using CapsuleTest = cli::ProgramTest;

TEST(WriteManifest, IsReadBackAsTheSameCase) {
  const file::ScratchFolder folder;
  folder.Write("inner/model.onnx", "bytes");
  cases::TestCase c;
  c.test_id = "node/Conv/test_x#shrunk";
  c.suite = "node";
  c.op = "Conv";
  c.domain = "ai.onnx";
  c.kind = "node";
  c.opset = 13;
  c.imports = {{"ai.onnx", 13}, {"mine", 1}};
  c.operators = {"ai.onnx::Conv"};
  c.dtypes = {"float32", "int64"};
  c.value_kinds = {"tensor"};
  c.attributes = {{"pads", "[1,1]"}};
  c.shape_sig = "[2,N,?];[];sequence";
  c.limit = {record::Comparator::kTolerance, 0.1, 1e-7, "mine"};
  c.vacuous = "constant output";
  c.n_data_sets = 2;
  c.directory = folder.path() / "inner";
  ASSERT_TRUE(cases::WriteManifest(folder.path(), "some", {c}).ok());
  const auto corpus = Got(cases::ReadCorpus(folder.path()));
  EXPECT_EQ(corpus.name, "some");
  ASSERT_EQ(corpus.cases.size(), 1U);
  const cases::TestCase& read = corpus.cases[0];
  EXPECT_EQ(read.test_id, c.test_id);
  EXPECT_EQ(read.suite + read.op + read.domain + read.kind,
            c.suite + c.op + c.domain + c.kind);
  EXPECT_EQ(read.opset, c.opset);
  EXPECT_EQ(read.imports, c.imports);
  EXPECT_EQ(read.operators, c.operators);
  EXPECT_EQ(read.dtypes, c.dtypes);
  EXPECT_EQ(read.value_kinds, c.value_kinds);
  EXPECT_EQ(read.attributes, c.attributes);
  EXPECT_EQ(read.shape_sig, c.shape_sig);
  EXPECT_EQ(read.limit.comparator, c.limit.comparator);
  EXPECT_EQ(read.limit.rtol, c.limit.rtol);
  EXPECT_EQ(read.limit.atol, c.limit.atol);
  EXPECT_EQ(read.limit.source, c.limit.source);
  EXPECT_EQ(read.vacuous, c.vacuous);
  EXPECT_EQ(read.n_data_sets, c.n_data_sets);
  EXPECT_EQ(read.directory, c.directory);
  folder.Write("inner/model.onnx", "other");
  ASSERT_TRUE(cases::WriteManifest(folder.path(), "some", {c}).ok());
  EXPECT_NE(cases::ReadCorpus(folder.path())->hash, corpus.hash);
}

TEST_F(CapsuleTest, RunsAloneAndGivesTheSameOutcome) {
  const struct {
    const char* test_id;
    std::string backend;
    const char* outcome;
    bool got;
  } rows[] = {
      {"node/Abs/test_abs", "faulty+mutant=value", "fail", true},
      {"node/Abs/test_abs", "faulty", "pass", true},
      {"node/StringConcat/test_string_concat", "faulty+mutant=value", "fail",
       true},
      {"node/SequenceInsert/test_sequence_insert_at_back", "faulty", "pass",
       true},
      {"node/Neg/test_neg", StrCat(ASSAY_MISBEHAVING, "+crash=Neg"), "crash",
       false},
      {"node/Neg/test_neg", StrCat(ASSAY_MISBEHAVING, "+decline=Neg"),
       "unsupported", false},
  };
  for (const auto& row : rows) {
    EXPECT_THAT(Assay("capsule ", row.test_id, " --backend ", row.backend,
                      " --out capsule"),
                cli::Ended(0));
    EXPECT_EQ(JsonIn("capsule/case.json").value("outcome", ""), row.outcome);
    EXPECT_EQ(fs::exists(folder_ / "capsule/got"), row.got) << row.backend;
    EXPECT_THAT(Text("capsule/README.txt"), HasSubstr(row.test_id));
    // Elsewhere: the folder is all that it takes along.
    fs::rename(folder_ / "capsule", folder_ / "moved");
    Assay("run --backend ", row.backend,
          " --corpus ./moved --no-report --out again");
    EXPECT_EQ(Outcomes("again")[row.test_id], row.outcome) << row.backend;
    fs::remove_all(folder_ / "moved");
    fs::remove_all(folder_ / "again");
  }
}

// Kills: a README that names a file which is not there; a command that gives
// something else when it is typed.
TEST_F(CapsuleTest, ItsReadmeCanBeTyped) {
  fs::create_symlink(ASSAY_MISBEHAVING, folder_ / "misbehaving.so");
  for (const auto& [backend, outcome] :
       {std::pair(std::string("./misbehaving.so+crash=Neg"), "crash"),
        {"./misbehaving.so", "fail"},
        {"faulty+mutant=value", "fail"}}) {
    fs::remove_all(folder_ / "capsule");
    ASSERT_THAT(
        Assay("capsule node/Neg/test_neg --out capsule --backend ", backend),
        cli::Ended(0));
    const std::string readme = Text("capsule/README.txt");
    EXPECT_THAT(readme, testing::Not(HasSubstr("./misbehaving.so")));
    Shell("cd capsule && assay() { ", ASSAY_PROGRAM,
          " \"$@\"; } && eval \"$(grep -E '^  (module=|assay run)' "
          "README.txt)\"");
    EXPECT_EQ(Outcomes("capsule/runs/latest")["node/Neg/test_neg"], outcome)
        << readme;
  }
}

TEST_F(CapsuleTest, HoldsTheRightOutputsAndThoseThatWereGiven) {
  Assay("capsule node/Abs/test_abs --backend faulty+mutant=value --out wrong");
  Assay("capsule node/Abs/test_abs --backend faulty --out right");
  const auto file = [&](const char* name) {
    return file::ReadFile(folder_ / name).value();
  };
  const char* kWrong = "wrong/got/test_data_set_0/output_0.pb";
  const char* kRight = "right/got/test_data_set_0/output_0.pb";
  EXPECT_NE(file(kWrong), file(kRight));
  // One element of the numbers at the end is other.
  EXPECT_EQ(file(kWrong).size(), file(kRight).size());
  EXPECT_EQ(file("wrong/test_data_set_0/output_0.pb"),
            file("right/test_data_set_0/output_0.pb"));
}

// Kills: inputs that are drawn anew elsewhere; evidence of another case, or of
// one side for that of the other.
TEST_F(CapsuleTest, HoldsAGradientWithAllThatItIsJudgedBy) {
  const char* const id = "gradcheck/Sub/test_sub_bcast#redrawn.float32";
  const std::string backend = "faulty+mutant=gradient:sign:Sub.1";
  ASSERT_THAT(Assay("capsule '", id, "' --backend ", backend,
                    " --seed 7 --out capsule"),
              cli::Ended(0));
  const auto numbers = [&](const std::string& file) {
    const auto value =
        ReadValue(folder_ / "capsule" / file, {.kind = ValueKind::kTensor});
    EXPECT_TRUE(value.ok()) << file << value.status().ToString();
    if (value->tensor()->dtype() == DType::kFloat64) return DoublesOf(*value);
    const std::vector<float> narrow = FloatsOf(*value);
    return std::vector<double>(narrow.begin(), narrow.end());
  };
  for (const char* kind : {"random_1", "random_2", "ones", "one-hot"}) {
    const std::string exact = StrCat("exact/", kind, "/");
    const auto want = numbers(exact + "gradient_1.pb");
    const auto limit = numbers(exact + "limit_1.pb");
    const auto got = numbers(StrCat("got/", kind, "/gradient_1.pb"));
    ASSERT_EQ(want.size(), 5U);
    EXPECT_EQ(numbers(exact + "cotangent_0.pb").size(), 60U);
    for (size_t i = 0; i < want.size(); ++i) {
      EXPECT_LE(std::abs(got[i] + want[i]), limit[i]) << "of the other sign";
    }
  }
  EXPECT_EQ(Text("capsule/targets.txt"), "x\ny\n");
  EXPECT_EQ(JsonIn("capsule/case.json").at("reason_code"), "fail_backward");
  fs::rename(folder_ / "capsule", folder_ / "moved");
  Assay("run --backend ", backend,
        " --corpus ./moved --seed 7 --no-report --out again");
  EXPECT_THAT(
      Text("again/results.csv"),
      HasSubstr(JsonIn("moved/case.json").at("message").get<std::string>()));
}

// A case that an oracle has no answer to: the judge then looks at the mask.
TEST_F(CapsuleTest, HoldsAGradientWithoutExactAnswers) {
  const char* const id =
      "gradcheck/Dropout/test_training_dropout#redrawn.float32";
  const cli::Ran ran =
      Assay("capsule '", id, "' --backend faulty --out capsule");
  ASSERT_EQ(ran.exit_code, 0) << ran.output;
  EXPECT_EQ(JsonIn("capsule/case.json").at("outcome"), "pass") << ran.output;
  EXPECT_EQ(JsonIn("capsule/case.json").at("reason_code"), "stochastic_ok");
  EXPECT_TRUE(fs::exists(folder_ / "capsule/got/ones/gradient_0.pb"));
  EXPECT_FALSE(fs::exists(folder_ / "capsule/exact/ones/gradient_0.pb"));
}

TEST_F(CapsuleTest, TakesCaseBackendAndSeedFromARunAndSaysWhereItDiffers) {
  RunOf("faulty+mutant=value --filter id:node/Abs/test_abs --seed 7");
  EXPECT_THAT(Assay("capsule node/Abs/test_abs --run run --out capsule"),
              cli::Ended(0));
  EXPECT_EQ(JsonIn("capsule/case.json").at("seed"), 7);
  EXPECT_EQ(JsonIn("capsule/case.json").at("run").at("outcome"), "fail");
  EXPECT_THAT(Text("capsule/README.txt"), HasSubstr("--seed 7"));
}

TEST_F(CapsuleTest, ARunWritesThoseOfItsFirstUnexpectedCases) {
  EXPECT_THAT(
      RunOf(
          "faulty+mutant=value --backend faulty --filter 'id:node/Abs/test_abs "
          "or id:node/Neg/test_neg or id:node/Relu/test_relu' --capsules 2"),
      cli::Ended(1));
  std::vector<std::string> written;
  for (const auto& entry : fs::directory_iterator(folder_ / "run/capsules")) {
    written.push_back(entry.path().filename().string());
    EXPECT_TRUE(fs::exists(entry.path() / "got")) << entry.path();
  }
  EXPECT_THAT(written, testing::UnorderedElementsAre(
                           "node_Abs_test_abs.faulty+mutant=value",
                           "node_Neg_test_neg.faulty+mutant=value"));
}

TEST_F(CapsuleTest, SaysWhatItCannotWrite) {
  fs::create_directories(folder_ / "full");
  std::ofstream(folder_ / "full/file") << "x";
  const std::string contract =
      Shell(ASSAY_PROGRAM, " list cases --corpus contract | head -1").output;
  const std::vector<cli::Refusal> rows = {
      {"node/Abs/test_abs --backend faulty --out full", "holds something"},
      {"node/Abs/test_abs --out new", "wanted --backend"},
      {"node/Abs/none --backend faulty --out new", "the nearest are"},
      {"'gradcheck/Abs/test_abs#redrawn.float32' --backend faulty --oracle "
       "null --out new",
       "the oracle null has no exact answers"},
      {contract.substr(0, contract.find_first_of(" \n")) +
           " --backend faulty --out new",
       "is a program of the suite contract"},
  };
  ExpectRefused("capsule ", rows);
  EXPECT_FALSE(fs::exists(folder_ / "new"));
}

}  // namespace
}  // namespace assay::repro
