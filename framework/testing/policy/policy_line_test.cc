// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/policy/policy_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "framework/file/file.h"
#include "framework/file/scratch_folder.h"
#include "framework/testing/policy/policy.h"
#include "framework/testing/support/statuses_fixture.h"

namespace assay::policy {
namespace {

using testing::IsEmpty;

auto IsRefused(std::string_view text) {
  return IsStatus(StatusCode::kInvalidArgument, text);
}

// Kills: a clause dropped, or read into another field; a keyword found inside
// quotes.
TEST(PolicyLineTest, ExpectationsAreTakenApart) {
  const struct {
    std::string_view line;
    std::optional<record::Outcome> outcome;
    std::string query, because, until, when;
    bool at_some_seeds = false;
  } rows[] = {
      {"expect fail where op:Conv because \"issue 7\"", record::Outcome::kFail,
       "op:Conv", "issue 7", "", ""},
      {"expect fail at some seeds where x because \"y\" until 2027-03-01 when "
       "cpu:avx2",
       record::Outcome::kFail, "x", "y", "2027-03-01", "when cpu:avx2", true},
      {"expect crash where (op:If or op:Loop)  because \"a \\\"b\\\" until 9\" "
       "until 2027-03-01 when isa:avx2 and not  isa:avx512_core and cpu:fma",
       record::Outcome::kCrash, "(op:If or op:Loop)", "a \"b\" until 9",
       "2027-03-01", "when isa:avx2 and not isa:avx512_core and cpu:fma"},
      {"expect unsupported where attr:a=\"x because y\" because \"z\" when "
       "not cpu:amx_tile",
       record::Outcome::kUnsupported, "attr:a=\"x because y\"", "z", "",
       "when not cpu:amx_tile"},
      {R"(expect fail where x because "a\b \\" until 2027-12-31)",
       record::Outcome::kFail, "x", R"(a\b \)", "2027-12-31", ""},
      {"tolerate rtol=1e-2 atol=0 where dtype:bfloat16 because \"declared\"",
       std::nullopt, "dtype:bfloat16", "declared", "", ""},
  };
  for (const auto& row : rows) {
    const Result<Expectation> line = ParseExpectation(row.line);
    ASSERT_TRUE(line.ok()) << row.line << ": " << line.status().ToString();
    const Expectation& expectation = *line;
    EXPECT_EQ(expectation.outcome, row.outcome) << row.line;
    EXPECT_EQ(expectation.at_some_seeds, row.at_some_seeds) << row.line;
    EXPECT_EQ(expectation.tolerance.has_value(), !row.outcome.has_value());
    EXPECT_EQ(expectation.where.text(), row.query);
    EXPECT_EQ(expectation.because, row.because);
    EXPECT_EQ(expectation.until, row.until);
    EXPECT_EQ(expectation.when.text(), row.when);
  }
}

// Kills: rtol and atol exchanged.
TEST(PolicyLineTest, TolerancesAreTakenInEitherOrder) {
  for (const std::string_view line :
       {"tolerate rtol=1e-2 atol=3 where x because \"y\"",
        "tolerate atol=3 rtol=1e-2 where x because \"y\""}) {
    const auto parsed = Got(ParseExpectation(line));
    EXPECT_EQ(parsed.tolerance->rtol, 1e-2);
    EXPECT_EQ(parsed.tolerance->atol, 3);
    EXPECT_EQ(parsed.tolerance->comparator, record::Comparator::kTolerance);
  }
}

// Kills: an outcome that only the supervisor makes taken for expectable; a day
// that the calendar does not have.
TEST(PolicyLineTest, BrokenExpectationsSayWhatWasWanted) {
  const struct {
    std::string_view line, message;
  } rows[] = {
      {"skip where x because \"y\"",
       "found 'skip', wanted include, expect or tolerate"},
      {"expect",
       "found the end, wanted one of fail, suspect, unsupported, "
       "flaky, error, crash, timeout"},
      {"expect failure where x because \"y\"",
       "found 'failure', wanted one of fail, "},
      {"expect pass where x because \"y\"",
       "found 'pass', which is expected of every case, wanted one of fail"},
      {"expect xfail where x because \"y\"", "found 'xfail', wanted one of"},
      {"expect waived where x because \"y\"", "found 'waived', wanted one of"},
      {"expect missing where x because \"y\"", "found 'missing', wanted one"},
      {"expect unavailable where x because \"y\"", "found 'unavailable', want"},
      {"expect fail op:Conv because \"y\"", "found 'op:Conv', wanted where"},
      {"expect fail at where x because \"y\"", "found 'where', wanted some"},
      {"expect fail at some where x because \"y\"", "'where', wanted seeds"},
      {"expect crash at some seeds where x because \"y\"",
       "found expect crash at some seeds, wanted expect fail at some seeds"},
      {"expect flaky at some seeds where x because \"y\"", "expect flaky at"},
      {"tolerate rtol=1 atol=1 at some seeds where x because \"y\"",
       "found 'at', wanted where"},
      {"expect fail where because \"y\"", "found nothing behind where"},
      {"expect fail where x", "found the end, wanted because"},
      {"expect fail where x because", "found the end, wanted a reason in"},
      {"expect fail where x because y", "found 'y', wanted a reason in quotes"},
      {"expect fail where x because \"y", "is not closed"},
      {"expect fail where x because \"y\\", "is not closed"},
      {"expect fail where opp:x because \"y\"",
       "in the query 'opp:x': column 1: found the key 'opp'"},
      {"expect fail where outcome:fail because \"y\"", "asks for an outcome"},
      {"expect fail where reason:nan because \"y\"", "asks for an outcome"},
      {"expect fail where x because \"y\" until tomorrow",
       "found 'tomorrow' behind until, wanted a day as 2027-03-01"},
      {"expect fail where x because \"y\" when avx2", "wanted cpu:FEATURE"},
      {"expect fail where x because \"y\" when cpu:", "wanted cpu:FEATURE"},
      {"expect fail where x because \"y\" when isa:", "'isa:' behind when"},
      {"expect fail where x because \"y\" when isa:a and", "found '' behind"},
      {"expect fail where x because \"y\" when not not isa:a", "found 'not'"},
      {"expect fail where x because \"y\" when isa:a isa:b",
       "found 'isa:b', wanted the end of the line"},
      {"expect fail where x because \"y\" when isa:a or isa:b",
       "found 'or', wanted the end of the line"},
      {"expect fail where x because \"y\" when cpu:a until 2027-01-01",
       "found 'until', wanted the end of the line"},
      {"expect fail where x because \"y\" # note",
       "found '#', wanted the end of the line"},
      {"tolerate rtol=1 where x because \"y\"", "found 'where', wanted rtol=R"},
      {"tolerate rtol=1 rtol=1 where x because \"y\"", "wanted rtol=R atol=A"},
      {"tolerate rtol=-1 atol=0 where x because \"y\"",
       "found 'rtol=-1', wanted rtol= and a number of at least 0"},
  };
  for (const auto& row : rows) {
    EXPECT_THAT(ParseExpectation(row.line), IsRefused(row.message)) << row.line;
  }
  const std::string because = "expect fail where x because \"y\" until";
  for (const char* until :
       {" 2027-02-29", " 2027-3-1", " 2027-03-001", " 2027-3a-01",
        " 2027-00-01", " 2027-03-00", " -027-03-01", " 2027--3-01",
        " 2027-03--1", " 2027x03-01", " 2027-03x01", ""}) {
    EXPECT_THAT(ParseExpectation(because + until), IsRefused("wanted a day"))
        << until;
  }
  for (const char* rtol :
       {"rtol=inf", "rtol=nan", "rtol=1x", "rtol=", "rtol"}) {
    const std::string line =
        StrCat("tolerate ", rtol, " atol=0 where x because \"y\"");
    EXPECT_THAT(ParseExpectation(line), IsRefused("a number of at least"))
        << line;
  }
}

TEST(PolicyLineTest, ClaimsAreTakenApart) {
  const struct {
    std::string_view line;
    Claim::Kind kind;
    std::string query;
    DType accumulator = DType::kUndefined;
  } rows[] = {
      {"claim forward where op:Conv and opset>=11", Claim::Kind::kForward,
       "op:Conv and opset>=11"},
      {"claim gradient where op:Relu", Claim::Kind::kGradient, "op:Relu"},
      {"claim deterministic run-to-run", Claim::Kind::kDeterministic, ""},
      {"claim accumulator float32 where dtype:float16",
       Claim::Kind::kAccumulator, "dtype:float16", DType::kFloat32},
      {"claim accumulator bfloat16 where op:Conv", Claim::Kind::kAccumulator,
       "op:Conv", DType::kBFloat16},
  };
  for (const auto& row : rows) {
    const Result<Claim> claim = ParseClaim(row.line);
    ASSERT_TRUE(claim.ok()) << row.line << ": " << claim.status().ToString();
    EXPECT_EQ(claim->kind, row.kind);
    EXPECT_EQ(claim->accumulator, row.accumulator);
    EXPECT_EQ(claim->where.text(), row.query);
    EXPECT_EQ(claim->text, row.line);
  }
}

TEST(PolicyLineTest, BrokenClaimsSayWhatWasWanted) {
  const struct {
    std::string_view line, message;
  } rows[] = {
      {"forward where op:Conv", "found 'forward', wanted claim"},
      {"claim training where op:Conv",
       "found 'training', wanted forward, gradient, accumulator or "
       "deterministic"},
      {"claim accumulator where op:Conv",
       "found 'where' behind accumulator, wanted one of float16, bfloat16, "
       "float32, float64"},
      {"claim accumulator int64 where op:Conv", "found 'int64' behind accum"},
      {"claim accumulator", "found the end behind accumulator"},
      {"claim accumulator float32", "found the end, wanted where"},
      {"claim accumulator float32 where", "found nothing behind where"},
      {"claim forward op:Conv", "found 'op:Conv', wanted where"},
      {"claim forward where", "found nothing behind where"},
      {"claim forward where outcome:pass", "asks for an outcome"},
      {"claim forward where id:node/Add/test_add", "the claim asks for id:"},
      {"claim forward where op:Add and not suite:special",
       "the claim asks for suite:"},
      {"claim gradient where kind:node", "the claim asks for kind:"},
      {"claim forward where corpus:onnx", "the claim asks for corpus:"},
      {"claim forward where op:Add or vacuous:no",
       "the claim asks for vacuous:"},
      {"claim forward where op:Add comparator:exact",
       "the claim asks for comparator:"},
      {"claim forward where (op:Add or test_add)",
       "the claim asks for a text, wanted op, domain"},
      {"claim forward where op:Conv when cpu:avx2", "found the key 'cpu'"},
      {"claim forward where op:Conv because \"x\"",
       "found 'because', wanted the end of the line"},
      {"claim deterministic", "found the end, wanted run-to-run"},
      {"claim deterministic run-to-run where x", "wanted the end of the line"},
  };
  for (const auto& row : rows) {
    EXPECT_THAT(ParseClaim(row.line), IsRefused(row.message)) << row.line;
  }
}

// Kills: an id of other characters or another number of parts.
TEST(PolicyLineTest, FloorLinesHoldATestId) {
  const auto line =
      Got(ParseFloorLine("node/Abs/test_a.b-c+d#e when cpu:avx2"));
  EXPECT_EQ(line.name, "node/Abs/test_a.b-c+d#e");
  EXPECT_EQ(line.when.text(), "when cpu:avx2");
  for (const std::string_view text :
       {"test_abs", "node/test_abs", "node/Abs/a/b", "node//test_abs",
        "/Abs/test_abs", "node/Abs/", "node/Abs/test:abs",
        "node/Abs/\xC3\xA4"}) {
    EXPECT_THAT(ParseFloorLine(text), IsRefused("or a test_id: suite/op/case"))
        << text;
  }
  EXPECT_THAT(ParseFloorLine("node/Abs/a node/Abs/b"),
              Says("found 'node/Abs/b', wanted the end of the line"));
}

// Kills: a word left out; a query that a floor cannot ask; a digest or a number
// without the other.
TEST(PolicyLineTest, FloorLinesHoldARuleOrACount) {
  const auto rule =
      Got(ParseFloorLine("but not where op:A or id:*/b when not isa:x"));
  EXPECT_EQ(rule.kind, FloorLine::Kind::kButNot);
  EXPECT_EQ(rule.where.text(), "op:A or id:*/b");
  EXPECT_EQ(rule.when.text(), "when not isa:x");
  const auto count = Got(ParseFloorLine("makes 12 cases of node digest 0a1b"));
  EXPECT_EQ(count.name, "node");
  EXPECT_EQ(count.makes, (FloorCount{12, "0a1b"}));
  const struct {
    std::string_view line, message;
  } rows[] = {
      {"all op:A", "found 'op:A', wanted where"},
      {"all where", "found nothing behind where, wanted a query"},
      {"all where op:A when", "found '' behind when"},
      {"but where op:A", "found 'where', wanted not"},
      {"all where outcome:pass", "asks for an outcome"},
      {"all where not backend:a", "asks for a backend"},
      {"makes 0 cases of node digest 0", "found '0', wanted a number"},
      {"makes 1 cases of node", "found the end, wanted digest"},
      {"makes 1 cases of node digest 0 1", "wanted the end of the line"},
  };
  for (const auto& row : rows) {
    EXPECT_THAT(ParseFloorLine(row.line), Says(row.message)) << row.line;
  }
}

// Kills: features of a line of another name; the key itself among them.
TEST(PolicyLineTest, FeaturesAreThoseOfTheFirstCpu) {
  const struct {
    std::string_view cpuinfo;
    std::vector<std::string> features;
  } rows[] = {
      {"", {}},
      {"processor\t: 0\nmodel name\t: avx512\n", {}},
      {"processor\t: 0\nflags\t\t: fpu avx2 \nbugs\t: spectre\n\n"
       "processor\t: 1\nflags\t\t: fpu\n",
       {"fpu", "avx2"}},
      {"Features\t: fp asimd\n", {"fp", "asimd"}},
      {"flags", {}},
      {"flags:", {}},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(CpuFeatures(row.cpuinfo), row.features) << row.cpuinfo;
  }
  const Facts here = MachineFacts({"old"});
  EXPECT_EQ(here.isa, std::vector<std::string>{"old"});
  EXPECT_EQ(here.cpu, CpuFeatures(Got(file::ReadFile("/proc/cpuinfo"))));
}

// Kills: a term left out, or read the wrong way round; one list asked in the
// place of the other; a fact that nobody knows taken for one that is not so.
TEST(PolicyLineTest, ConditionsHoldOfWhatIsKnown) {
  const Facts facts = {.cpu = {"fma"}, .isa = {"sse41", "avx2"}};
  const struct {
    std::string when;
    bool holds;
    bool holds_of_nothing_known = false;
  } rows[] = {
      {"", true, true},
      {" when isa:avx2", true},
      {" when isa:avx512", false},
      {" when isa:fma", false},
      {" when cpu:fma", true},
      {" when cpu:avx2", false},
      {" when not isa:avx2", false},
      {" when not isa:avx512", true},
      {" when isa:avx2 and not isa:avx512", true},
      {" when isa:sse41 and not isa:avx2", false},
      {" when isa:avx2 and cpu:amx", false},
      {" when not cpu:amx and isa:avx2", true},
  };
  for (const auto& row : rows) {
    const auto line = Got(ParseFloorLine("node/A/a" + row.when));
    EXPECT_EQ(line.when.Holds(facts), row.holds) << row.when;
    EXPECT_EQ(line.when.Holds({}), row.holds_of_nothing_known) << row.when;
  }
}

/// A case of a gradient.
cases::TestCase GradientOf(const std::string& op,
                           std::vector<std::string> dtypes) {
  cases::TestCase c;
  c.test_id = "node/" + op + "/test_x";
  c.suite = "node";
  c.op = op;
  c.domain = "ai.onnx";
  c.opset = 13;
  c.operators = {"ai.onnx::" + op};
  c.dtypes = std::move(dtypes);
  c.claim = cases::ClaimKind::kGradient;
  return c;
}

Policy PolicyOfClaims(std::string_view claims) {
  const file::ScratchFolder folder;
  folder.Write("claims.txt", claims);
  return Got(ReadPolicy(folder.path(), {}, "2026-06-15"));
}

constexpr std::string_view kSums =
    "claim accumulator float32 where dtype:float16 or dtype:bfloat16\n"
    "claim accumulator float16 where dtype:float16 and op:Conv\n";

// Kills: a claim that reaches forwards, networks or other types, one that an
// earlier line decides, and one taken for a claim of the gradient itself.
TEST(AccumulatorClaimTest, TheLastMatchingClaimOfAnAccumulatorDecides) {
  cases::TestCase network = GradientOf("Relu", {"float16"});
  network.operators.emplace_back("ai.onnx::Conv");
  cases::TestCase forward = GradientOf("Relu", {"float16"});
  forward.claim = cases::ClaimKind::kForward;
  const struct {
    cases::TestCase c;
    std::string source;
  } rows[] = {
      {GradientOf("Relu", {"float16"}), "claims.txt:1"},
      {GradientOf("Relu", {"bfloat16", "int64"}), "claims.txt:1"},
      {GradientOf("Conv", {"float16"}), "claims.txt:2"},
      {GradientOf("Relu", {"float32"}), ""},
      {forward, ""},
      {network, ""},
  };
  Policy policy = PolicyOfClaims(kSums);
  for (const auto& row : rows) {
    const CasePolicy verdict = policy.Of(row.c, "acme");
    EXPECT_EQ(verdict.accumulator ? verdict.accumulator->source : "",
              row.source)
        << row.c.test_id;
    EXPECT_FALSE(verdict.claimed);
  }
  EXPECT_THAT(policy.Errors(), IsEmpty());
}

// Kills: a claim that decides no case, or fewer digits than the case's, let
// through; a departure that narrows or widens a limit.
TEST(AccumulatorClaimTest, ClaimsOfAnAccumulatorThatPromiseNothingAreErrors) {
  const struct {
    std::string text;
    std::vector<std::string> errors = {};
    bool holds = true;
  } rows[] = {
      {"claim accumulator float32 where op:Conv\n"},
      {"claim accumulator float64 where op:Conv\n"},
      {"claim accumulator float16 where op:Conv\n",
       {"claims.txt:1: claim accumulator float16 where op:Conv: declares sums "
        "in float16, which has fewer digits than float32 in 1 cases, first "
        "node/Conv/test_x: a departure is a line of expectations.txt"},
       false},
      {"claim accumulator float32 where op:Conv\n"
       "claim accumulator float32 where op:Relu\n",
       {"claims.txt:2: claim accumulator float32 where op:Relu: decides no "
        "gradient of one operator among the planned cases"}},
      {"claim accumulator float32 where op:Conv\n"
       "claim accumulator float64 where op:Conv\n",
       {"claims.txt:1: claim accumulator float32 where op:Conv: decides no "
        "gradient of one operator among the planned cases"}},
      {"claim accumulator float32 where op:Conv\n"
       "claim accumulator float32 where op:Conv or op:Relu or op:ml.Scaler\n"
       "claim accumulator float64 where op:Conv and backend:acme+isa=old\n",
       {"claims.txt:1: claim accumulator float32 where op:Conv: decides no "
        "gradient of one operator among the planned cases",
        "claims.txt:2: no case tests the accumulator of Relu, ml.Scaler"}},
  };
  for (const auto& row : rows) {
    Policy policy = PolicyOfClaims(row.text);
    const bool holds =
        policy.Of(GradientOf("Conv", {"float32"}), "acme").accumulator !=
        nullptr;
    EXPECT_EQ(holds, row.holds) << row.text;
    EXPECT_EQ(policy.Errors(), row.errors) << row.text;
  }
}

TEST(MutantLineTest, ASentenceNamesMutantClassCasesAndKiller) {
  const file::ScratchFolder folder;
  folder.Write("mutants.txt",
               "# comment\n\n"
               "mutant nan of value killed by node because \"one is NaN\"\n"
               "mutant pad of pads where op:Conv or op:MaxPool killed by "
               "special because \"off by one\"\n");
  const auto lines = Got(ReadMutantLines(folder.path()));
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0].where, "");
  EXPECT_EQ(lines[1].name, "pad");
  EXPECT_EQ(lines[1].kind, "pads");
  EXPECT_EQ(lines[1].where, "op:Conv or op:MaxPool");
  EXPECT_EQ(lines[1].killer, "special");
  EXPECT_EQ(lines[1].because, "off by one");
}

TEST(MutantLineTest, AnyOtherFormIsNamedWithItsLine) {
  const struct {
    const char *line, *says;
  } rows[] = {
      {"nan of value", "wanted mutant"},
      {"mutant nan killed by node", "wanted of"},
      {"mutant nan of value because \"x\"", "wanted killed"},
      {"mutant nan of value killed by node", "wanted because"},
      {"mutant nan of value killed by node because x", "what is wrong"},
      {"mutant nan of value killed by node because \"x\" now", "end of the"},
  };
  for (const auto& row : rows) {
    const file::ScratchFolder folder;
    folder.Write("mutants.txt", StrCat("#\n", row.line, "\n"));
    const auto lines = ReadMutantLines(folder.path());
    EXPECT_THAT(lines, Says(row.says)) << row.line;
    EXPECT_THAT(lines, Says("mutants.txt:2"));
  }
  const file::ScratchFolder folder;
  const std::string line = "mutant a of b killed by node because \"x\"\n";
  folder.Write("mutants.txt", line + line);
  EXPECT_THAT(ReadMutantLines(folder.path()), Says("a second time"));
}

}  // namespace
}  // namespace assay::policy
