// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "framework/cli/program_fixture.h"
#include "framework/cli/select/chosen_case.h"
#include "framework/cli/select/terminal.h"

namespace assay::explain {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST(Wrapped, BreaksAtSpacesThenBehindSlashesThenAnywhere) {
  const struct {
    const char* text;
    select::WrapOptions options;
    const char* lines;
  } rows[] = {
      {"one two", {.width = 20}, "one two\n"},
      {"one two three", {.width = 8}, "one two\nthree\n"},
      {"one two",
       {.label = "n", .indent = 1, .label_width = 3, .width = 9},
       " n  one\n    two\n"},
      {"a/bb/ccc", {.width = 6}, "a/bb/\nccc\n"},
      {"abcdefgh", {.width = 3}, "abc\ndef\ngh\n"},
      {"a\nb", {.width = 9}, "a\nb\n"},
      {"", {}, "\n"},
      {"run this/long/word now",
       {.width = 9, .command = true},
       "run \\\nthis/long/word \\\nnow\n"},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(select::Wrapped(row.text, row.options), row.lines) << row.text;
  }
}

class ExplainTest : public cli::ProgramTest {
 protected:
  struct Case {
    const char* test_id;
    std::vector<const char*> says;
  };

  /// Explains a case of the run.
  void ExpectSaid(const Case& of_run) const {
    const cli::Ran ran = Assay("explain '", of_run.test_id, "' --run run");
    EXPECT_EQ(ran.exit_code, 0) << ran.output;
    for (const char* part : of_run.says) {
      EXPECT_THAT(ran.output, HasSubstr(part));
    }
    // The path of the module stands in the command as a word of its own.
    EXPECT_LE(cli::Widest(ran.output.substr(0, ran.output.find("  repro"))),
              80U);
  }
};

TEST_F(ExplainTest, SaysAllThatTheVerdictRestsOn) {
  const std::string backend = ReferenceWith(
      "expectations.txt",
      "# a comment\n"
      "expect fail where op:Abs because \"a reason of ours\"\n"
      "tolerate rtol=0.5 atol=0.5 where op:Neg because \"loose on purpose\"\n");
  std::ofstream(folder_ / "reference.policy/claims.txt")
      << "claim forward where op:Abs and dtype:float16\n"
         "claim forward where op:Neg\n";
  RunOf(backend,
        " --filter 'id:node/Abs/test_abs or id:node/Neg/test_neg or "
        "id:node/Shape/test_shape_start_1_end_negative_1 or "
        "id:node/ConstantOfShape/*'");
  const Case cases[] = {
      {"node/Abs/test_abs",
       {"on reference: xpass", "expectations.txt:2: expect fail where op:Abs",
        "a reason of ours", "no; no claim covers ai.onnx::Abs with float32",
        "|got - want| <= 1e-07 + 0.001 |want|", "(onnx runner: default)",
        "output 0", "60 elements out of limit", "made on", "run ", "placement",
        "repro        assay run --backend"}},
      {"node/Neg/test_neg",
       {"on reference: pass", "tolerated    |got - want| <= 0.5 + 0.5 |want|",
        "expectations.txt:3: tolerate", "judged by    onnx runner", "yes",
        "claims.txt:2: claim forward where op:Neg",
        "no: a pass proves something"}},
      {"node/ConstantOfShape/test_constantofshape_float_ones",
       {"each right output repeats one value"}},
  };
  for (const Case& each : cases) ExpectSaid(each);
}

TEST_F(ExplainTest, SaysThatAPolicyLineIsNoLongerTheOneOfTheRun) {
  const std::string backend = ReferenceWith(
      "expectations.txt", "expect fail where op:Abs because \"first\"\n");
  RunOf(backend, " --filter id:node/Abs/test_abs");
  std::ofstream(folder_ / "reference.policy/expectations.txt")
      << "expect fail where op:Neg because \"other\"\n";
  EXPECT_THAT(Assay("explain node/Abs/test_abs --run run").output,
              HasSubstr("has changed since the run"));
  std::filesystem::remove(folder_ / "reference.policy/expectations.txt");
  EXPECT_THAT(Assay("explain node/Abs/test_abs --run run").output,
              HasSubstr("no longer there"));
}

TEST_F(ExplainTest, NamesWhatItFoundWhereItHasNoSuchCase) {
  RunOf(
      "faulty+mutant=value --filter 'id:node/Abs/test_abs or "
      "id:node/Acos/test_acos'");
  std::filesystem::create_directories(folder_ / "empty");
  ExpectRefused(
      "explain ",
      {{"node/Abs/test_abz --run run", "the nearest are node/Abs/test_abs"},
       {"acos --run run", "the nearest are node/Acos/test_acos"},
       {"node/Abs/test_abs --backend other --run run",
        "on faulty+mutant=value, not on other"},
       {"node/Abs/test_abs --run empty", "empty is no run: found no"},
       {"node/Abs/test_abs --run nowhere", "nowhere is no run: found no"}});
}

// Kills: an oracle that is asked and not heard; one line for each of four
// attempts that say the same.
TEST_F(ExplainTest, TellsAttemptsOnceAndTheWordOfTheOracle) {
  const cli::Ran run =
      RunOf("faulty+mutant=value --oracle --filter id:node/Abs/test_abs");
  const std::string word = "by the oracle the backend is the worse side";
  EXPECT_THAT(run.output, HasSubstr("; " + word));
  const cli::Ran ran = Assay("explain node/Abs/test_abs --run run");
  EXPECT_THAT(ran.output, HasSubstr("  oracle       " + word));
  EXPECT_THAT(ran.output,
              HasSubstr("  attempts     4 of 4 alike: deterministic\n"));
  EXPECT_THAT(ran.output, Not(HasSubstr("attempt 2")));
}

// Kills: a suite that is not asked; the rows of another case; a limit without
// what it is made of; a broken table that goes unnoticed.
TEST_F(ExplainTest, TellsAGradientByItsWorstElement) {
  RunOf(
      "faulty+mutant=gradient:sign:Sub.1 --filter "
      "'id:gradcheck/Sub/test_sub_bcast#redrawn.float32 or "
      "id:gradcheck/Abs/test_abs#kinks.float32' --seed 7");
  const Case cases[] = {
      {"gradcheck/Sub/test_sub_bcast#redrawn.float32",
       {"reason       fail_backward: a gradient differs", "redrawn: drawn",
        "model        z = Sub(x, y)", "x float32[3,4,5], y float32[5]",
        "cotangents   of z", "for the cotangent random 1: within its limit",
        "for the cotangent random 1: beyond its limit, smooth", "  worst",
        "condition units, depth of rounding", "the oracle's bound",
        "of outputs   |got - want|", "--seed 7", "make small   assay shrink",
        "hand on      assay capsule"}},
      {"gradcheck/Abs/test_abs#kinks.float32",
       {"kink", "at a kink, convention", "subgradient_ok: at a kink"}},
  };
  for (const Case& each : cases) ExpectSaid(each);
  const std::string command =
      StrCat("explain '", cases[0].test_id, "' --run run");
  const auto json = nlohmann::json::parse(Assay(command + " --json").output);
  const auto& gradients = json.at("cases").at(0).at("tables").at("gradients");
  EXPECT_EQ(gradients.size(), 2U) << "of the first cotangent, which fails";
  EXPECT_EQ(gradients.at(1).at("outcome"), "fail");
  EXPECT_GT(gradients.at(1).at("limit_units"), 0);
  std::ofstream(folder_ / "run/gradients.csv") << "schema,run_id\n";
  EXPECT_THAT(Assay(command),
              cli::Ended(99, "gradients has no column attempt"));
  std::filesystem::remove(folder_ / "run/gradients.csv");
  EXPECT_THAT(Assay(command).output, HasSubstr("none was compared"));
}

TEST_F(ExplainTest, JsonHoldsTheSameForPrograms) {
  RunOf("faulty+mutant=value --filter id:node/Abs/test_abs");
  const cli::Ran ran = Assay("explain node/Abs/test_abs --run run --json");
  const auto json = nlohmann::json::parse(ran.output);
  const auto& one = json.at("cases").at(0);
  EXPECT_EQ(one.at("result").at("outcome"), "fail");
  EXPECT_EQ(one.at("result").at("headroom"),
            one.at("accuracy").at(0).at("headroom"));
  EXPECT_EQ(one.at("accuracy").at(0).at("out_of_limit"), 1);
  EXPECT_EQ(one.at("planned").at("comparator"), "tolerance");
  EXPECT_EQ(one.at("claims").at(0).at("operator"), "ai.onnx::Abs");
  EXPECT_FALSE(one.at("environment").at("cpu").get<std::string>().empty());
}

}  // namespace
}  // namespace assay::explain
