// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/policy/policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <string>
#include <tuple>

#include "framework/file/scratch_folder.h"
#include "framework/graph/operator.h"
#include "framework/testing/support/statuses_fixture.h"

namespace assay::policy {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::string_view kToday = "2026-06-15";

cases::TestCase CaseOf(const std::string& op, std::vector<std::string> dtypes) {
  cases::TestCase c;
  c.test_id = "node/" + op + "/test_x";
  c.suite = "node";
  c.op = op;
  c.domain = "ai.onnx";
  c.kind = "node";
  c.opset = 13;
  c.imports = {{"ai.onnx", 13}};
  c.operators = {"ai.onnx::" + op};
  c.dtypes = std::move(dtypes);
  return c;
}

Result<Policy> Read(const file::ScratchFolder& folder) {
  return ReadPolicy(folder.path() / "acme",
                    {.cpu = {"avx2"}, .isa = {"sse41", "avx"}}, kToday);
}

Policy PolicyOf(const std::string& file, std::string_view text) {
  const file::ScratchFolder folder;
  folder.Write("acme/" + file, text);
  return Got(Read(folder));
}

TEST(PolicyTest, WithoutFilesNothingIsExpectedOrClaimed) {
  const file::ScratchFolder folder;
  Policy policy = Got(Read(folder));
  const CasePolicy verdict = policy.Of(CaseOf("Conv", {"float32"}), "acme");
  EXPECT_EQ(verdict.expected, nullptr);
  EXPECT_EQ(verdict.tolerated, nullptr);
  EXPECT_FALSE(verdict.claimed);
  EXPECT_THAT(policy.Errors(), IsEmpty());
  EXPECT_EQ(policy.text(), "");
}

constexpr std::string_view kExpectations = R"(# what we know

expect fail where op:Conv because "first"
expect crash where op:Conv and dtype:float16 because "second"
  tolerate rtol=1 atol=2 where dtype:bfloat16 because "third"
expect timeout where op:Conv because "only there" when cpu:avx512_fp16
expect error where op:Nothing because "fifth" until 2026-06-15 when cpu:avx2
expect timeout where op:Conv because "nor here" when isa:avx2
expect suspect where op:Gelu because "here" when isa:avx and not isa:avx2
)";

// Kills: the first match wins; tolerate and expect share one place; a line
// whose condition is not met in force; until taken for the first bad day.
TEST(PolicyTest, TheLastMatchingLineOfEachSortIsInForce) {
  const struct {
    cases::TestCase c;
    std::string expected, tolerated;
  } rows[] = {
      {CaseOf("Conv", {"float32"}), "expectations.txt:3", ""},
      {CaseOf("Conv", {"float16"}), "expectations.txt:4", ""},
      {CaseOf("Conv", {"bfloat16"}), "expectations.txt:3",
       "expectations.txt:5"},
      {CaseOf("Relu", {"bfloat16"}), "", "expectations.txt:5"},
      {CaseOf("Relu", {"float16"}), "", ""},
      {CaseOf("Gelu", {"float16"}), "expectations.txt:9", ""},
  };
  Policy policy = PolicyOf("expectations.txt", kExpectations);
  for (const auto& row : rows) {
    const CasePolicy verdict = policy.Of(row.c, "acme");
    EXPECT_EQ(verdict.expected ? verdict.expected->source : "", row.expected);
    EXPECT_EQ(verdict.tolerated ? verdict.tolerated->source : "",
              row.tolerated);
  }
}

// Kills: only the line in force counted as matched; a line that is not in
// force counted as unmatched.
TEST(PolicyTest, LinesThatMatchNothingAreListed) {
  Policy policy = PolicyOf("expectations.txt", kExpectations);
  EXPECT_EQ(policy.Errors().size(), 5U);
  policy.Of(CaseOf("Conv", {"float16"}), "acme");
  policy.Of(CaseOf("Conv", {"float32"}), "acme");
  EXPECT_THAT(
      policy.Errors(),
      ElementsAre("expectations.txt:5: tolerate rtol=1 atol=2 where "
                  "dtype:bfloat16: matches no planned case",
                  "expectations.txt:7: expect error where op:Nothing: matches "
                  "no planned case",
                  HasSubstr("expectations.txt:9: expect suspect")));
}

// Kills: a line past its date in force, or passed over, or one that keeps the
// folder from being read; its last day taken for the first bad one.
TEST(PolicyTest, LinesPastTheirDateAreOutOfForceAndListed) {
  Policy policy = PolicyOf(
      "expectations.txt",
      "expect fail where op:Conv because \"a\" until 2026-06-14\n"
      "expect fail where op:Relu because \"b\" until 2026-06-15\n"
      "tolerate rtol=1 atol=1 where op:Conv because \"c\" until 2026-01-01 "
      "when cpu:none\n");
  const CasePolicy conv = policy.Of(CaseOf("Conv", {"float32"}), "acme");
  EXPECT_EQ(conv.expected, nullptr);
  EXPECT_EQ(conv.tolerated, nullptr);
  EXPECT_NE(policy.Of(CaseOf("Relu", {"float32"}), "acme").expected, nullptr);
  EXPECT_THAT(
      policy.Errors(),
      ElementsAre("expectations.txt:1: expect fail where op:Conv: was good "
                  "until 2026-06-14 and today is 2026-06-15: mend the case, or "
                  "give a later date",
                  HasSubstr("expectations.txt:3: tolerate rtol=1 atol=1")));
}

// Kills: a line that decides nothing taken for one that is needed; lines of
// two sorts taken to shadow each other; a line in front that shadows.
TEST(PolicyTest, LinesWhoseCasesLaterOnesDecideAreListed) {
  constexpr std::string_view kNarrow =
      "expect fail where op:Conv and dtype:float16 because \"a\"\n";
  constexpr std::string_view kBroad =
      "expect crash where op:Conv because \"b\"\n";
  const struct {
    std::string text;
    std::vector<std::string> errors;
  } rows[] = {
      {StrCat(kNarrow, kBroad),
       {"expectations.txt:1: expect fail where op:Conv and dtype:float16: "
        "later lines decide all 1 cases that it matches"}},
      {StrCat(kBroad, kNarrow), {}},
      {StrCat(kNarrow, "tolerate rtol=1 atol=1 where op:Conv because \"c\"\n"),
       {}},
  };
  for (const auto& row : rows) {
    Policy policy = PolicyOf("expectations.txt", row.text);
    policy.Of(CaseOf("Conv", {"float16"}), "acme");
    policy.Of(CaseOf("Conv", {"float32"}), "acme");
    EXPECT_EQ(policy.Errors(), row.errors) << row.text;
  }
}

// Kills: a declined promise that a line excuses; other outcomes, or cases
// outside the claims, taken for a contradiction.
TEST(PolicyTest, LinesThatExpectAPromiseToBeDeclinedAreListed) {
  const struct {
    std::string line;
    std::string_view error;
  } rows[] = {
      {"expect unsupported where op:Conv because \"a\"\n",
       "in 1 cases, first node/Conv/test_x: narrow the line or the claims"},
      {"expect unsupported where op:Relu because \"a\"\n", ""},
      {"expect fail where op:Conv because \"a\"\n", ""},
  };
  for (const auto& row : rows) {
    const file::ScratchFolder folder;
    folder.Write("acme/expectations.txt", row.line);
    folder.Write("acme/claims.txt", "claim forward where op:Conv\n");
    Policy policy = Got(Read(folder));
    policy.Of(CaseOf("Conv", {"float16"}), "acme");
    policy.Of(CaseOf("Relu", {"float16"}), "acme");
    if (row.error.empty()) {
      EXPECT_THAT(policy.Errors(), IsEmpty()) << row.line;
    } else {
      EXPECT_THAT(policy.Errors(),
                  ElementsAre(HasSubstr(std::string(row.error))));
    }
  }
}

// Kills: a reason that may be left out where the line is in force.
TEST(PolicyTest, OnlyWhoAsksReadsLinesWithoutReason) {
  const file::ScratchFolder folder;
  folder.Write("acme/expectations.txt", "expect fail where x because \"\"\n");
  EXPECT_FALSE(Read(folder).ok());
  const Policy policy =
      Got(ReadPolicy(folder.path() / "acme", {}, kToday, Reasons::kMayBeEmpty));
  EXPECT_EQ(policy.expectations().size(), 1U);
}

TEST(PolicyTest, BackendsAreMeantByInstanceOrName) {
  Policy policy =
      PolicyOf("expectations.txt",
               "expect fail where backend:acme+x=1 because \"one setting\"\n");
  const cases::TestCase c = CaseOf("Conv", {"float32"});
  EXPECT_EQ(policy.Of(c, "acme").expected, nullptr);
  EXPECT_NE(policy.Of(c, "acme+x=1").expected, nullptr);
}

// Kills: includes relative to the working directory; the included lines placed
// behind the including file's own.
TEST(PolicyTest, IncludedLinesStandWhereTheyAreIncluded) {
  const file::ScratchFolder folder;
  folder.Write("acme/expectations.txt",
               "expect fail where op:Conv because \"before\"\n"
               "include ../common/all.txt\n");
  folder.Write("common/all.txt", "include more.txt\r\n");
  folder.Write("common/more.txt",
               "\nexpect crash where op:Conv because \"inside\"\n");
  Policy policy = Got(Read(folder));
  const auto verdict = policy.Of(CaseOf("Conv", {"float32"}), "acme");
  EXPECT_EQ(verdict.expected->source, "../common/more.txt:2");
  EXPECT_EQ(verdict.expected->outcome, record::Outcome::kCrash);
  EXPECT_THAT(policy.text(), HasSubstr("before"));
  EXPECT_THAT(policy.text(), HasSubstr("inside"));
}

// Kills: a circle followed for ever; a file that is not there passed over; a
// device read as a file.
TEST(PolicyTest, IncludesThatCannotBeAreErrorsWithTheirPlace) {
  const struct {
    std::string path;
    std::string_view message;
  } rows[] = {
      {"expectations.txt", "is included a second time"},
      {"../acme/../acme/expectations.txt", "is included a second time"},
      {"none.txt", "none.txt', wanted one to include"},
      {"..", "wanted one to include"},
      {"/dev/zero", "wanted one to include"},
      {"", "wanted one to include"},
  };
  for (const auto& row : rows) {
    const file::ScratchFolder folder;
    const fs::path file =
        folder.Write("acme/expectations.txt", "# \ninclude " + row.path + "\n");
    const Status status = Read(folder).status();
    EXPECT_THAT(status, IsStatus(StatusCode::kInvalidArgument, row.message))
        << row.path;
    EXPECT_THAT(status.message(), HasSubstr(file.string() + ":2: "));
  }
}

// Kills: a broken line passed over; a line number that skips comments.
TEST(PolicyTest, BrokenLinesAreErrorsWithFileAndLine) {
  const struct {
    std::string file;
    std::string_view text, message;
  } rows[] = {
      {"expectations.txt", "# a\n\nexpect pass where x because \"y\"\n",
       "expectations.txt:3: found 'pass'"},
      {"expectations.txt", "\nexpect fail where x because \" \"\n",
       "expectations.txt:2: the reason is empty, wanted one: say between"},
      {"claims.txt", "\nclaim everything\n",
       "claims.txt:2: found 'everything'"},
      {"claims.txt", "include other.txt\n", "claims.txt:1: found 'include'"},
      {"passing.txt", "node/Abs/a\nnode/Abs/b\nnode/Abs/a\n",
       "passing.txt:3: node/Abs/a is listed a second time"},
      {"passing.txt", "node/Abs/a when cpu:none\nnode/Abs/a\n",
       "passing.txt:2: node/Abs/a is listed a second time"},
      {"passing.txt",
       "makes 1 cases of node digest 0\nmakes 2 cases of node digest 1\n",
       "passing.txt:2: the suite node is counted a second time"},
      {"passing.txt", "node/Abs\n", "passing.txt:1: found 'node/Abs'"},
  };
  for (const auto& row : rows) {
    const file::ScratchFolder folder;
    folder.Write("acme/" + row.file, row.text);
    EXPECT_THAT(Read(folder),
                IsStatus(StatusCode::kInvalidArgument, row.message))
        << row.text;
  }
}

TEST(PolicyTest, FilesThatCannotBeReadAreErrors) {
  const file::ScratchFolder folder;
  fs::create_directories(folder.path() / "acme" / "claims.txt");
  EXPECT_THAT(Read(folder), Says("claims.txt: found no regular file"));
  folder.Write("file", "");
  EXPECT_THAT(ReadPolicy(folder.path() / "file", {}, kToday),
              Says("file is a file, wanted a folder of policy files"));
}

TEST(PolicyTest, TheFloorIsWhatIsInForceHere) {
  Policy policy = PolicyOf("passing.txt",
                           "# accepted\nnode/B/b\nnode/A/a\n"
                           "node/C/c when cpu:avx2\n"
                           "node/D/d when cpu:avx512_fp16\n"
                           "node/E/e when isa:avx2\n"
                           "node/F/f when not isa:avx2\n"
                           "all where op:Conv\n");
  EXPECT_THAT(policy.floor().InForce(),
              ElementsAre("node/A/a", "node/B/b", "node/C/c", "node/F/f"));
  // Rules are about the cases of the corpora that every run has.
  cases::TestCase c = CaseOf("Conv", {"float32"});
  policy.Of(c, "acme");
  EXPECT_THAT(policy.Errors(), Contains(HasSubstr("matches no planned case")));
  c.corpus = "onnx";
  c.own = true;  // derived from one that no other run has
  policy.Of(c, "acme");
  EXPECT_THAT(policy.Errors(), Contains(HasSubstr("matches no planned case")));
  c.own = false;
  policy.Of(c, "acme");
  EXPECT_THAT(policy.floor().InForce(), Contains("node/Conv/test_x"));
  EXPECT_THAT(policy.Errors(),
              ElementsAre(HasSubstr("the cases of node are not counted")));
}

// Kills: a policy that is read once although the backend has to be asked first;
// a backend that is started for nothing.
TEST(PolicyTest, LinesSayThatTheyHangOnInstructionSets) {
  for (const auto& [file, line, hangs] :
       std::vector<std::tuple<std::string, std::string, bool>>{
           {"expectations.txt", "expect fail where x because \"y\"", false},
           {"passing.txt", "all where op:A", false},
           {"passing.txt", "all where op:A when cpu:avx2", false},
           {"expectations.txt",
            "expect fail where x because \"y\" when cpu:a and not isa:avx2",
            true},
           {"passing.txt", "all where op:A when isa:avx2", true}}) {
    EXPECT_EQ(PolicyOf(file, line).NeedsIsa(), hangs) << line;
  }
}

struct ClaimRow {
  std::string_view claims;
  cases::TestCase c;
  bool claimed;
};

void ExpectClaims(const std::vector<ClaimRow>& rows) {
  for (const ClaimRow& row : rows) {
    Policy policy = PolicyOf("claims.txt", row.claims);
    EXPECT_EQ(policy.Of(row.c, "acme").claimed, row.claimed)
        << row.claims << row.c.test_id;
    const std::vector<ClaimCover> cover = policy.CoverOf(row.c, "acme");
    const auto open = std::ranges::count(cover, nullptr, &ClaimCover::claim);
    EXPECT_EQ(!cover.empty() && open == 0, row.claimed) << row.c.test_id;
  }
}

// Kills: one claimed type of several is enough; types that must all stand in
// one line; a line without types that claims none.
TEST(PolicyTest, ACaseIsClaimedWithEveryElementType) {
  const cases::TestCase both = CaseOf("Reshape", {"float32", "int64"});
  constexpr std::string_view kFloat =
      "claim forward where op:Reshape and dtype:float32\n";
  ExpectClaims({
      {kFloat, CaseOf("Reshape", {"float32"}), true},
      {kFloat, CaseOf("Reshape", {"float16"}), false},
      {kFloat, both, false},
      {"claim forward where op:Reshape and (dtype:float32 or dtype:int64)\n",
       both, true},
      {"claim forward where op:Reshape and dtype:float32\n"
       "claim forward where op:Reshape and dtype:int64\n",
       both, true},
      {"claim forward where op:Reshape\n", both, true},
      {"claim forward where op:Reshape and not dtype:int64\n", both, false},
      {"claim forward where op:Reshape and dtype:float32 and dtype:int64\n",
       both, false},
      {"claim forward where op:Reshape\n", CaseOf("Reshape", {}), true},
      {"claim forward where dtype:*\n", both, true},
      {"claim forward where dtype:*\n", CaseOf("Reshape", {}), false},
      {"claim forward where op:Add\n", both, false},
  });
}

cases::TestCase ModelCase() {
  cases::TestCase c = CaseOf("light", {"float32"});
  c.suite = "model";
  c.kind = "model";
  c.imports = {{"ai.onnx", 13}, {"ai.onnx.ml", 3}};
  c.operators = {"ai.onnx.ml::Scaler", "ai.onnx::Conv", "ai.onnx::Relu"};
  return c;
}

// Kills: one claimed operator of several is enough; the case's op asked for in
// the place of its nodes'; the opset of another domain; a version that nobody
// knows.
TEST(PolicyTest, ACaseIsClaimedWithEveryOperator) {
  constexpr std::string_view kAll =
      "claim forward where op:Conv or op:Relu\n"
      "claim forward where op:ml.Scaler and domain:ai.onnx.ml\n";
  ExpectClaims({
      {kAll, ModelCase(), true},
      {"claim forward where op:Conv or op:Relu\n", ModelCase(), false},
      {"claim forward where op:light\n", ModelCase(), false},
      {"claim forward where domain:*\n", ModelCase(), true},
      {"claim forward where domain:ai.onnx and opset>=13\n"
       "claim forward where domain:ai.onnx.ml and opset=3\n",
       ModelCase(), true},
      {"claim forward where opset>=13\n", ModelCase(), false},
      {"claim forward where opset<13\n", ModelCase(), false},
  });
  cases::TestCase unreadable = ModelCase();
  unreadable.operators.clear();
  ExpectClaims({{"claim forward where domain:*\n", unreadable, false}});
  cases::TestCase unknown = ModelCase();
  unknown.imports["ai.onnx"] = NewestOpset("") + 1;
  ExpectClaims({{kAll, unknown, false}});
}

// Kills: an expansion claimed by the operator that is no longer in it; the
// tested operator's attributes given to other nodes.
TEST(PolicyTest, AnExpansionIsClaimedByTheOperatorsInIt) {
  cases::TestCase c = CaseOf("Clip", {"float32"});
  c.kind = "expanded";
  c.operators = {"ai.onnx::Less", "ai.onnx::Where"};
  c.attributes = {{"mode", "x"}};
  ExpectClaims({
      {"claim forward where op:Clip\n", c, false},
      {"claim forward where op:Less or op:Where\n", c, true},
      {"claim forward where attr:mode\n", c, false},
  });
  c.operators = {"ai.onnx::Clip"};
  ExpectClaims({{"claim forward where attr:mode=x\n", c, true}});
}

TEST(PolicyTest, TodayIsTheDayOfTheClock) {
  const auto day = [] {
    const std::chrono::year_month_day now =
        std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now());
    std::array<char, 16> text;
    std::snprintf(text.data(), text.size(), "%04d-%02u-%02u",
                  static_cast<int>(now.year()),
                  static_cast<unsigned>(now.month()),
                  static_cast<unsigned>(now.day()));
    return std::string(text.data());
  };
  const std::string before = day();
  const std::string today = Today();
  // Midnight may come between.
  EXPECT_THAT(today, testing::AnyOf(before, day()));
}

TEST(PolicyTest, GradientsAreClaimedByLinesOfTheirOwn) {
  cases::TestCase gradient = CaseOf("Relu", {"float32"});
  gradient.claim = cases::ClaimKind::kGradient;
  const cases::TestCase forward = CaseOf("Relu", {"float32"});
  ExpectClaims({
      {"claim forward where op:Relu\n", forward, true},
      {"claim forward where op:Relu\n", gradient, false},
      {"claim gradient where op:Relu\n", gradient, true},
      {"claim gradient where op:Relu\n", forward, false},
      {"claim deterministic run-to-run\n", forward, false},
  });
}

// Kills: a line about one instance that makes the runs of others fail.
TEST(PolicyTest, ALineAboutAnotherInstanceIsNoError) {
  Policy policy = PolicyOf("expectations.txt",
                           "expect fail where backend:acme+isa=old and op:Abs "
                           "because \"x\"\n");
  EXPECT_EQ(policy.Of(CaseOf("Abs", {"float32"}), "acme").expected, nullptr);
  EXPECT_THAT(policy.Errors(), ElementsAre());
  EXPECT_NE(policy.Of(CaseOf("Abs", {"float32"}), "acme+isa=old").expected,
            nullptr);
}

// Kills: claims that were emptied, beside which all may be declined.
TEST(PolicyTest, AFileOfClaimsThatClaimsNothingIsAnError) {
  const auto errors = [](const char* file, const char* text) {
    return PolicyOf(file, text).Errors().size();
  };
  EXPECT_EQ(errors("claims.txt", "# claim forward where op:Relu\n"), 1U);
  EXPECT_EQ(errors("claims.txt", "claim forward where backend:x\n"), 0U);
}

// Kills: a promise of gradients that cases of the forward pass vouch for.
TEST(PolicyTest, AClaimThatNoCaseTestsIsAnError) {
  Policy policy = PolicyOf("claims.txt",
                           "claim forward where op:Relu or op:Abs*\n"
                           "claim gradient where op:Conv and not op:Abs\n"
                           "claim gradient where (op:Relu or op:ml.Scaler)\n"
                           "claim forward where op:Relu and dtype:int8\n"
                           "claim forward where backend:acme+x and opset>90\n");
  policy.Of(CaseOf("Relu", {"float32"}), "acme");
  cases::TestCase gradient = CaseOf("Conv", {"float32"});
  gradient.claim = cases::ClaimKind::kGradient;
  policy.Of(gradient, "acme");
  const std::vector<std::string> errors = policy.Errors();
  EXPECT_THAT(errors,
              ElementsAre("claims.txt:3: no case tests the gradient of Relu, "
                          "ml.Scaler",
                          "claims.txt:4: claim forward where op:Relu and "
                          "dtype:int8: no planned case tests it"));
}

}  // namespace
}  // namespace assay::policy
