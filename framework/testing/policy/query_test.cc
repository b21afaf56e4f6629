// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/policy/query.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "framework/core/dtype.h"
#include "framework/core/text.h"
#include "framework/testing/policy/claim_check.h"
#include "framework/testing/policy/policy_line.h"
#include "framework/testing/record/outcome.h"
#include "framework/testing/support/statuses_fixture.h"

namespace assay::policy {
namespace {

cases::TestCase SomeCase() {
  cases::TestCase c;
  c.test_id = "node/Conv/test_conv_with_autopad#f16";
  c.corpus = "onnx";
  c.suite = "node";
  c.op = "Conv";
  c.domain = "ai.onnx";
  c.kind = "node";
  c.opset = 11;
  c.operators = {"ai.onnx::Conv"};
  c.dtypes = {"float16", "int64"};
  c.attributes = {{"auto_pad", "SAME LOWER"}, {"strides", "[2,2]"}};
  c.limit.comparator = record::Comparator::kTolerance;
  return c;
}

using Queries = std::vector<std::string_view>;

// All are asked about a case that acme+threads=2 failed for a value.
void ExpectMatches(const Queries& matching, const Queries& others,
                   const cases::TestCase& c = SomeCase(),
                   bool needs_ranks = false) {
  for (const Queries* queries : {&matching, &others}) {
    for (const std::string_view text : *queries) {
      const Result<Query> query = Query::Parse(text);
      ASSERT_TRUE(query.ok()) << text << ": " << query.status().ToString();
      EXPECT_EQ(query->Matches({c, "acme@3+threads=2", "fail", "value"}),
                queries == &matching)
          << text;
      EXPECT_EQ(query->NeedsRanks(), needs_ranks) << text;
      EXPECT_EQ(query->text(), text);
    }
  }
}

// Kills: a key that looks at another field; a prefix taken for the whole; a
// match that does not look at letter case.
TEST(QueryTest, EachKeyAsksForItsField) {
  ExpectMatches({"", "  \t\n", "id:node/Conv/test_conv_with_autopad#f16",
                 "id:node/Conv/*"},
                {"id:node/Conv/test_conv"});
  ExpectMatches(
      {"suite:node", "op:Conv", "domain:ai.onnx", "dtype:float16",
       "dtype:int64", "kind:node", "backend:acme", "backend:acme@3+threads=2",
       "backend:*threads=2", "corpus:onnx", "comparator:tolerance",
       "attr:strides", "attr:strides=[2,2]", "attr:*=[2,2]",
       "attr:auto_pad=\"SAME LOWER\"", "attr:\"auto_pad=SAME LOWER\"",
       "vacuous:no", "outcome:fail", "reason:value"},
      {"suite:model", "op:conv", "op:Con", "op:ConvTranspose",
       "domain:ai.onnx.ml", "dtype:float32", "kind:expanded", "backend:acme@3",
       "backend:acm", "backend:threads=2", "corpus:mine", "comparator:exact",
       "attr:pads", "attr:strides=[2", "attr:auto_pad=SAME",
       "attr:strides=", "vacuous:yes", "outcome:xfail", "reason:nan"});
}

TEST(QueryTest, AVacuousCaseIsVacuousWhateverTheReason) {
  cases::TestCase c = SomeCase();
  c.vacuous = "constant output";
  EXPECT_TRUE(Query::Parse("vacuous:yes")->Matches({c, {}, {}, {}}));
  EXPECT_FALSE(Query::Parse("vacuous:no")->Matches({c, {}, {}, {}}));
}

// Kills: < for <=; text order of numbers (9 > 11).
TEST(QueryTest, OpsetsCompareAsNumbers) {
  ExpectMatches(
      {"opset:11", "opset:1*", "opset=11", "opset>=11", "opset>=9", "opset<=11",
       "opset>9", "opset<100", "opset>-1"},
      {"opset:1", "opset=9", "opset>=12", "opset<=10", "opset>11", "opset<11"});
}

// Kills: one tensor that decides for all; a rank that nobody knows taken for
// one; a scalar without a rank.
TEST(QueryTest, ARankIsThatOfEveryTensor) {
  const struct {
    std::map<std::string, std::vector<int>> ranks;
    Queries matching, others;
  } rows[] = {
      {{{"ai.onnx::Conv", {1, 4}}},
       {"rank<=4", "rank>=1", "rank<5", "rank>0", "not rank>1"},
       {"rank:4", "rank=1", "rank<=3", "rank>1", "rank<4"}},
      {{{"ai.onnx::Add", {0}}, {"ai.onnx::Relu", {0}}},
       {"rank:0", "rank=0", "rank<1", "rank>=0"},
       {"rank:1", "rank>0"}},
      {{{"ai.onnx::Add", {2}}, {"ai.onnx::Relu", {3}}},
       {"rank<=3"},
       {"rank:2", "rank:3"}},
      {{{"ai.onnx::Add", {cases::kNoRank, 2}}}, {}, {"rank<=9", "rank>0"}},
      {{}, {}, {"rank<=9", "rank>=0"}},
  };
  for (const auto& row : rows) {
    cases::TestCase c = SomeCase();
    c.ranks = row.ranks;
    ExpectMatches(row.matching, row.others, c, /*needs_ranks=*/true);
  }
  EXPECT_FALSE(Query::Parse("opset>2 or op:Conv")->NeedsRanks());
}

// Kills: an extent that is read off half a number; one that must be everywhere;
// a name taken for an extent.
TEST(QueryTest, AnExtentIsThatOfAnyInput) {
  cases::TestCase c = SomeCase();
  c.shape_sig = "[2,10];sequence;[N,0];[]";
  ExpectMatches({"extent:0", "extent=10", "extent>9", "extent<1", "extent>=2"},
                {"extent=1", "extent:100", "extent>10", "not extent=0"}, c);
  c.shape_sig = "[];[N]";
  ExpectMatches({"not extent=0", "not extent>=0"}, {"extent>=0"}, c);
  c.shape_sig = "[2,3];[3]";
  c.operators = {"ai.onnx::MatMul"};
  const std::vector<Claim> claims = {
      Got(ParseClaim("claim forward where op:MatMul and not extent=0"))};
  EXPECT_TRUE(ClaimCheck(claims, c, "acme").Inside());
  c.shape_sig = "[2,0];[0,3]";
  EXPECT_FALSE(ClaimCheck(claims, c, "acme").Inside());
}

// Kills: a line that covers a rank because it covers another; a rank taken for
// claimed that the model does not tell, by "not" as well; ranks of one operator
// held against the claim of another.
TEST(QueryTest, InAClaimEachRankIsAskedAboutAlone) {
  constexpr const char* kMatrix = "claim forward where op:MatMul and rank<=2";
  constexpr const char* kNoMore =
      "claim forward where op:MatMul and not rank>2";
  constexpr const char* kAny = "claim forward where op:Relu or op:MatMul";
  const struct {
    std::vector<std::string> claims;
    std::map<std::string, std::vector<int>> ranks;  // by type of operator
    bool claimed;
  } rows[] = {
      {{kMatrix}, {{"MatMul", {2}}}, true},
      {{kMatrix}, {{"MatMul", {1, 2}}}, true},
      {{kMatrix}, {{"MatMul", {2, 3}}}, false},
      {{kNoMore}, {{"MatMul", {1, 2}}}, true},
      {{kNoMore}, {{"MatMul", {2, 3}}}, false},
      {{kMatrix}, {{"MatMul", {cases::kNoRank, 2}}}, false},
      {{kNoMore}, {{"MatMul", {cases::kNoRank, 2}}}, false},
      {{}, {{"MatMul", {}}}, false},
      {{kMatrix, "claim forward where op:MatMul and rank:3"},
       {{"MatMul", {2, 3}}},
       true},
      {{kMatrix, "claim forward where op:Relu"},
       {{"MatMul", {2}}, {"Relu", {4}}},
       true},
      {{kMatrix, "claim forward where op:Relu and rank<=2"},
       {{"MatMul", {2}}, {"Relu", {4}}},
       false},
      {{kAny}, {{"MatMul", {cases::kNoRank}}, {"Relu", {4}}}, true},
  };
  for (const auto& row : rows) {
    cases::TestCase c = SomeCase();
    c.operators.clear();
    for (const auto& [op, ranks] : row.ranks) {
      c.operators.push_back("ai.onnx::" + op);
      c.ranks[c.operators.back()] = ranks;
    }
    std::vector<Claim> claims;
    for (const std::string& line : row.claims) {
      claims.push_back(Got(ParseClaim(line)));
    }
    EXPECT_EQ(ClaimCheck(claims, c, "acme").Inside(), row.claimed)
        << Joined(row.claims);
  }
}

// Kills: a case that stands for any operator held to be claimed with all, or
// with none.
TEST(QueryTest, OfOperatorsThatStandForEachOtherOneIsEnough) {
  cases::TestCase c = SomeCase();
  c.probes = {"ai.onnx::Relu", "ai.onnx::Add"};
  const struct {
    std::vector<std::string> operators;
    const char* where;
    bool claimed;
  } rows[] = {
      {{}, "op:Add", true},
      {{}, "op:Relu or op:Add", true},
      {{}, "op:Conv", false},
      {{"ai.onnx::Conv"}, "op:Add", false},
      {{"ai.onnx::Conv"}, "op:Conv", false},
      {{"ai.onnx::Conv"}, "op:Conv or op:Relu", true},
  };
  for (const auto& row : rows) {
    c.operators = row.operators;
    const std::vector<Claim> claims = {
        *ParseClaim(StrCat("claim forward where ", row.where))};
    EXPECT_EQ(ClaimCheck(claims, c, "acme").Inside(), row.claimed) << row.where;
  }
}

// Kills: or before and; not over more than its factor; a bare text that must
// be the whole id.
TEST(QueryTest, WordsAreJoinedByAndOrNot) {
  ExpectMatches(
      {"op:Conv and dtype:int64", "op:Conv dtype:int64", "op:Relu or op:Conv",
       "not op:Relu", "not (op:Relu and op:Add)",
       "op:Conv or op:Relu and op:Add", "op:Relu op:Add or op:Conv",
       "not(op:Relu)and(op:Conv)", "( op:Relu ) or ( op:Conv ) op:Conv",
       "autopad", "autopad Conv", "test_*_with", "\"node/Conv\"", "not android",
       "op:\"Conv\"", "op:Con\"v\"", "autopad\"#f16\""},
      {"op:Conv and dtype:int8", "op:Conv dtype:int8", "op:Relu or op:Add",
       "not not op:Relu", "not op:Relu and op:Add",
       "(op:Conv or op:Relu) and op:Add", "op:Relu (op:Add or op:Conv)",
       "autopads", "\"and\"", "android", "\"op:Conv\"", "op:\"\""});
}

// Kills: * that takes at least one character or only one run; ? that takes
// none; a pattern's end left unmatched.
TEST(QueryTest, WildcardsStandForAnyText) {
  ExpectMatches({"op:*", "op:Conv*", "op:*Conv", "op:C*v", "op:C*n*v*",
                 "op:C**v", "op:?onv", "op:????", "op:Con?", "op:C?nv"},
                {"op:???", "op:?????", "op:C*x", "op:*n", "op:Conv?",
                 "op:Con*nv", "id:*autopad"});
}

TEST(QueryTest, OnlyOutcomesAndReasonsNeedARun) {
  const struct {
    std::string_view query;
    bool needs;
  } rows[] = {
      {"", false},
      {"op:Conv not (dtype:int8 or outcome)", false},
      {"outcome:pass", true},
      {"op:Conv and not (dtype:int8 or reason:nan)", true},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(Query::Parse(row.query)->NeedsOutcome(), row.needs) << row.query;
  }
}

// Kills: an error without its place; an unknown key or value that matches
// nothing in silence.
TEST(QueryTest, ErrorsSayWhereWhatAndWhatInstead) {
  const struct {
    std::string_view query, message;
  } rows[] = {
      {"opp:Conv",
       "column 1: found the key 'opp', wanted one of id, suite, op, domain, "
       "opset, dtype, kind, backend, corpus, comparator, attr, vacuous, "
       "outcome, reason, rank"},
      {"op:Conv and", "column 12: found the end, wanted a term"},
      {"op:Conv or or x", "column 12: found 'or', wanted a term"},
      {"and op:Conv", "column 1: found 'and', wanted a term"},
      {"not", "column 4: found the end, wanted a term"},
      {"()", "column 2: found ')', wanted a term"},
      {"(op:Conv", "column 9: found the end, wanted the ')' of column 1"},
      {"op:Conv) x", "column 8: found ')', wanted the end"},
      {"op:", "column 4: found nothing behind 'op:', wanted a value"},
      {"x op:\"Conv", "column 6: found a quote that is not closed"},
      {"opset>=x", "column 8: found 'x', wanted an integer"},
      {"opset>", "column 7: found '', wanted an integer"},
      {"opset>==17", "column 8: found '=17', wanted an integer"},
      {"opset=99999999999999999999", "wanted an integer"},
      {"op=Conv", "column 1: found 'op=Conv', wanted ':' behind the key"},
      {"vacuous:maybe", "column 9: found 'maybe', wanted one of yes, no"},
      {"outcome:passed",
       "column 9: found 'passed', wanted one of pass, waived"},
      {"dtype:float", "column 7: found 'float', wanted one of float32"},
      {"comparator:atol", "wanted one of exact, tolerance, text, distribution"},
      {"op:Conv AND op:Add", "column 9: found 'AND', wanted and, or, not"},
      {"OR op:Add", "column 1: found 'OR', wanted and, or, not"},
      {"NOT op:Add", "column 1: found 'NOT', wanted and, or, not"},
      {"x op<3", "column 3: found 'op<3', wanted ':' behind the key"},
      {"a op>\"b\"", "column 3: found 'op>b', wanted ':' behind the key"},
      {"opset>\"\"", "column 7: found '', wanted an integer"},
      {"x rank:two", "column 8: found 'two', wanted a number of axes, 0 or"},
      {"rank:", "column 6: found nothing behind 'rank:', wanted a value"},
      {"rank:2*", "column 6: found '2*', wanted a number of axes, 0 or more"},
      {"rank<=-1", "column 7: found '-1', wanted a number of axes, 0 or more"},
      {"rank<0", "column 6: found '0', wanted a number of axes, 1 or more"},
      {"extent<0",
       "column 8: found '0', wanted a number of elements, 1 or more"},
      {"extent:N", "column 8: found 'N', wanted a number of elements, 0 or"},
      {"rank>=2.5", "column 7: found '2.5', wanted a number of axes"},
  };
  for (const auto& row : rows) {
    EXPECT_THAT(Query::Parse(row.query),
                IsStatus(StatusCode::kInvalidArgument, row.message))
        << row.query;
  }
}

// Kills: the first or the last value of a list refused.
TEST(QueryTest, EveryValueOfAListIsTaken) {
  for (int i = 0; i < record::kOutcomeCount; ++i) {
    const auto outcome = ToString(static_cast<record::Outcome>(i));
    EXPECT_TRUE(Query::Parse(StrCat("outcome:", outcome)).ok()) << outcome;
  }
  for (int i = 1; i < kDTypeCount; ++i) {
    const auto dtype = ToString(static_cast<DType>(i));
    EXPECT_TRUE(Query::Parse(StrCat("dtype:", dtype)).ok()) << dtype;
  }
  for (const char* name : {"exact", "tolerance", "text", "distribution"}) {
    EXPECT_TRUE(Query::Parse(StrCat("comparator:", name)).ok()) << name;
  }
  EXPECT_FALSE(Query::Parse("dtype:undefined").ok());
}

std::string Repeated(std::string_view text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

// Kills: a parser or matcher that recurses as deep as its input says.
TEST(QueryTest, DeepNestingIsAnInvalidArgument) {
  constexpr int kDeep = 100000;
  for (const std::string& query :
       {Repeated("(", kDeep), Repeated("not ", kDeep) + "x",
        Repeated("(", kDeep) + "x" + Repeated(")", kDeep),
        Repeated("not (", kDeep) + "x" + Repeated(")", kDeep)}) {
    EXPECT_THAT(Query::Parse(query),
                IsStatus(StatusCode::kInvalidArgument, "nested too deep"));
  }
  for (const int depth : {100, 101}) {
    EXPECT_EQ(
        Query::Parse(Repeated("(", depth) + "x" + Repeated(")", depth)).ok(),
        depth == 100);
    EXPECT_EQ(Query::Parse(Repeated("not ", depth) + "x").ok(), depth == 100);
  }
  EXPECT_TRUE(Query::Parse("x " + Repeated("or not x ", kDeep)).ok());
  EXPECT_TRUE(Query::Parse("(x) " + Repeated("or (x) ", kDeep)).ok())
      << "width is not depth";
}

// Kills: a wildcard that tries every way to share out the text, which would
// not end.
TEST(QueryTest, HostilePatternsEnd) {
  cases::TestCase c = SomeCase();
  c.op = std::string(10000, 'a');
  const auto query = Got(Query::Parse("op:" + Repeated("a*", 200) + "b"));
  EXPECT_FALSE(query.Matches({c, {}, {}, {}}));
}

// Kills: cases left unread that a query takes.
TEST(QueryTest, IdsAreKnownOnlyWhereAllElseIsExcluded) {
  const struct {
    const char *query, *ids;
  } rows[] = {
      {"", ""},
      {"id:node/Abs/test_abs", "node/Abs/test_abs"},
      {"op:Abs id:node/Abs/test_abs", "node/Abs/test_abs"},
      {"id:a or id:b", "a, b"},
      {"op:Abs (id:a or id:b op:Neg) id:c", "a, b"},
      {"id:a or id:b or op:Neg", ""},
      {"id:a or not id:b", ""},
      {"id:node/Abs/*", ""},
      {"id:node/Abs/test_ab?", ""},
      {"not id:node/Abs/test_abs", ""},
      {"id:node/Abs/test_abs or op:Neg", ""},
      {"op:Abs", ""},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(Joined(Query::Parse(row.query)->OnlyIds()), row.ids) << row.query;
  }
}

TEST(QueryTest, AsksForTheOperatorThatWasMeant) {
  const struct {
    std::string_view query, hint;
  } rows[] = {{"op:Sigmod", "; did you mean Sigmoid?"},
              {"op:Relu or op:conv", "; did you mean Conv?"},
              {"op:ml.Scalar", "; did you mean ml.Scaler?"},
              {"op:MatMul opset>=9", ""},
              {"op:AcmeFusedThing", ""},
              {"", ""}};
  for (const auto& row : rows) {
    EXPECT_EQ(Query::Parse(row.query)->DidYouMean(), row.hint);
  }
}

}  // namespace
}  // namespace assay::policy
