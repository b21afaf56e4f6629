// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/plan/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <numeric>

#include "framework/file/file.h"
#include "framework/file/scratch_folder.h"
#include "framework/testing/record/tables.h"
#include "framework/testing/support/statuses_fixture.h"

namespace assay::plan {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;

cases::TestCase CaseOf(const std::string& suite, const std::string& name) {
  cases::TestCase c;
  c.test_id = suite + "/Abs/" + name;
  c.suite = suite;
  c.op = "Abs";
  c.domain = "ai.onnx";
  c.corpus = "onnx";
  c.dtypes = {"float32", "int64"};
  c.limit = {record::Comparator::kTolerance, 1e-3, 1e-7, "onnx"};
  return c;
}

cases::Corpus CorpusOf(int n_cases) {
  cases::Corpus corpus;
  corpus.name = "onnx";
  corpus.hash = "hash";
  for (int i = 0; i < n_cases; ++i) {
    corpus.cases.push_back(
        CaseOf(i % 3 == 0 ? "model" : "node", StrCat("case_", i)));
  }
  return corpus;
}

PlannedBackend BackendOf(const std::string& instance) {
  PlannedBackend backend;
  static_cast<Instance&>(backend) = *ParseInstance(instance);
  backend.module_sha256 = "sha of " + backend.name;
  return backend;
}

Result<Plan> Make(const Selection& selection,
                  const std::vector<cases::Corpus>& corpora,
                  std::vector<PlannedBackend> backends) {
  const std::vector<fs::path> directories(corpora.size(), "corpus");
  return MakePlan(selection, "assay run", corpora, directories, backends);
}

Plan PlanOf(const std::vector<cases::Corpus>& corpora,
            const std::string& filter = "") {
  Selection selection;
  selection.filter = filter;
  return Got(Make(selection, corpora,
                  {BackendOf("acme"), BackendOf("other+opt=off")}));
}

std::vector<std::string> IdsOf(const Plan& plan) {
  std::vector<std::string> ids;
  for (const record::PlanRow& row : plan.rows) {
    ids.push_back(row.backend + " " + row.test_id);
  }
  return ids;
}

// Kills: rows not grouped by backend or not sorted; a filter that asks about
// the first backend only.
TEST(PlanTest, CasesAreCrossedWithBackends) {
  cases::Corpus corpus;
  corpus.cases = {CaseOf("node", "b"), CaseOf("node", "a")};
  EXPECT_THAT(
      IdsOf(PlanOf({corpus})),
      ElementsAre("acme node/Abs/a", "acme node/Abs/b",
                  "other+opt=off node/Abs/a", "other+opt=off node/Abs/b"));
  EXPECT_THAT(IdsOf(PlanOf({corpus}, "id:*/a")),
              ElementsAre("acme node/Abs/a", "other+opt=off node/Abs/a"));
  EXPECT_THAT(IdsOf(PlanOf({corpus}, "backend:other id:*/a")),
              ElementsAre("other+opt=off node/Abs/a"));
}

// Kills: 13,000 networks for a library that runs none, and ranks for a backend
// that has none.
TEST(PlanTest, CasesOfRanksAreForLibrariesOfRanks) {
  cases::Corpus corpus;
  corpus.cases = {CaseOf("node", "a"), CaseOf("distributed", "b")};
  corpus.cases[1].n_ranks = 4;
  corpus.cases.push_back(CaseOf("distributed", "c"));
  corpus.cases[2].n_ranks = 5;
  PlannedBackend threads = BackendOf("threads");
  threads.launch = {.transport = "threads", .most = 4};
  const Plan plan = Got(Make({}, {corpus}, {BackendOf("acme"), threads}));
  EXPECT_THAT(IdsOf(plan),
              ElementsAre("acme node/Abs/a", "threads distributed/Abs/b"));
  EXPECT_EQ(plan.rows[1].ranks, 4);
  EXPECT_EQ(plan.rows[1].transport, "threads");
  EXPECT_EQ(plan.Backend("threads").launch, threads.launch);
  Selection more;
  more.ranks = 5;
  EXPECT_TRUE(more.Partial());
  EXPECT_THAT(
      IdsOf(*Make(more, {corpus}, {threads})),
      ElementsAre("threads distributed/Abs/b", "threads distributed/Abs/c"));
  more.ranks = 3;
  EXPECT_THAT(Make(more, {corpus}, {threads}).status(),
              Says("; distributed/Abs/b has 4 ranks, and --ranks permits 3"));
  more.ranks = 1;
  EXPECT_THAT(Make(more, {corpus}, {threads}).status(),
              Says("; distributed/Abs/b has 4 ranks, and --ranks permits 1"));
  threads.launch.most = 2;
  EXPECT_THAT(Make({}, {corpus}, {threads}).status(),
              Says("; distributed/Abs/b has 4 ranks, and launch.txt of threads "
                   "permits 2"));
  const Result<Plan> none = Make({}, {CorpusOf(3)}, {threads});
  EXPECT_EQ(none.status().code(), StatusCode::kInvalidArgument);
}

// Kills: a limit that leaves nothing that proves anything, and says nothing.
TEST(PlanTest, ALimitOfRanksSaysWhatItEmpties) {
  cases::Corpus corpus;
  const auto add = [&](const char* name, const char* way, int ranks) {
    cases::TestCase& c = corpus.cases.emplace_back(CaseOf("distributed", name));
    c.n_ranks = ranks;
    c.attributes["way"] = way;
    if (ranks == 1) c.vacuous = "alone";
  };
  add("a", "own", 1);
  add("b", "own", 2);
  add("c", "own", 4);
  add("d", "in_place", 1);
  add("e", "in_place", 4);
  PlannedBackend threads = BackendOf("threads");
  threads.launch = {.transport = "threads", .most = 2};
  const Plan plan = Got(Make({}, {corpus}, {threads}));
  EXPECT_EQ(plan.rows.size(), 3U);
  EXPECT_THAT(plan.notes,
              ElementsAre("threads: 2 ranks at most leave no case that proves "
                          "anything of Abs in_place"));
  threads.launch.most = 4;
  EXPECT_THAT(Got(Make({}, {corpus}, {threads})).notes, ElementsAre());
  Selection ci;
  ci.tier = "ci";
  corpus.cases[4].tier = cases::Tier::kNightly;
  ci.filter = "id:*/e";
  EXPECT_THAT(
      Make(ci, {corpus}, {threads}).status(),
      Says("; distributed/Abs/e is of tier nightly, wanted ci or less"));
}

// Kills: ranks without a network that are to train one, or the messages of a
// library judged again for each backend beside it.
TEST(PlanTest, CasesThatTrainAreForABackendBesideALibrary) {
  cases::Corpus corpus;
  corpus.cases = {CaseOf("node", "a"), CaseOf("distributed", "b"),
                  CaseOf("distributed", "c")};
  corpus.cases[1].n_ranks = corpus.cases[2].n_ranks = 2;
  corpus.cases[2].ranks_train = true;
  PlannedBackend threads = BackendOf("threads");
  threads.launch = {.transport = "threads"};
  PlannedBackend carried = BackendOf("acme+ranks=threads");
  carried.launch = threads.launch;
  carried.carrier_sha256 = "1";
  const auto plan_of = [&] {
    return *Make({}, {corpus}, {BackendOf("acme"), carried, threads});
  };
  const Plan plan = plan_of();
  EXPECT_THAT(IdsOf(plan), ElementsAre("acme node/Abs/a",
                                       "acme+ranks=threads distributed/Abs/c",
                                       "threads distributed/Abs/b"));
  EXPECT_EQ(plan.rows[1].transport, "threads");
  carried.carrier_sha256 = "2";
  EXPECT_NE(plan_of().digest, plan.digest);
}

// Kills: a case that runs with an operator that is not claimed, though another
// is; one outside the claims that runs with none.
TEST(PlanTest, ACaseOfAnyOperatorRunsWithThoseThatAreClaimed) {
  cases::Corpus corpus = CorpusOf(1);
  corpus.cases[0].probes = {"ai.onnx::Relu", "ai.onnx::Mul", "ai.onnx::Add"};
  const file::ScratchFolder folder;
  for (const auto& [claim, probes] :
       std::vector<std::pair<std::string, std::string>>{
           {"op:Add or op:Mul", "ai.onnx::Mul ai.onnx::Add"},
           {"op:Add", "ai.onnx::Add"},
           {"op:Conv", "ai.onnx::Relu ai.onnx::Mul ai.onnx::Add"}}) {
    folder.Write("acme/claims.txt",
                 StrCat("claim forward where ", claim, "\n"));
    PlannedBackend backend = BackendOf("acme");
    backend.policy =
        *policy::ReadPolicy(folder.path() / "acme", {}, policy::Today());
    const Plan plan = Got(Make({}, {corpus}, {backend}));
    EXPECT_EQ(plan.rows[0].probes, probes) << claim;
    EXPECT_EQ(plan.rows[0].claimed, claim != "op:Conv");
  }
}

// Kills: a plan of nothing; a wrong filter taken for one that matches nothing.
TEST(PlanTest, SelectionsThatCannotBeAreInvalidArguments) {
  const cases::Corpus corpus = CorpusOf(3);
  cases::Corpus other = corpus;
  for (cases::TestCase& c : other.cases) c.corpus = "mine";
  using Corpora = std::vector<cases::Corpus>;
  const struct {
    Corpora corpora;
    std::vector<std::string> suites;
    std::string filter, message;
  } rows[] = {
      {{corpus}, {}, "op:Conv", "the selection is empty: no case matches"},
      {{corpus}, {"perf"}, "", "the selection is empty: no such suite"},
      {{}, {}, "", "the selection is empty"},
      {{corpus}, {}, "op:", "column 4: found nothing"},
      {{corpus}, {}, "not outcome:pass", "asks for an outcome"},
      {Corpora{corpus, other},
       {},
       "",
       "the corpora onnx and mine both have the case model/Abs/case_0"},
  };
  for (const auto& row : rows) {
    Selection selection;
    selection.suites = row.suites;
    selection.filter = row.filter;
    EXPECT_THAT(Make(selection, row.corpora, {BackendOf("acme")}),
                IsStatus(StatusCode::kInvalidArgument, row.message))
        << row.message;
  }
}

// Kills: a line of the policy that does not reach the row.
TEST(PlanTest, RowsSayWhatThePolicySays) {
  const file::ScratchFolder folder;
  folder.Write("expectations.txt",
               "expect crash where id:node/Abs/a because \"known\"\n"
               "tolerate rtol=1 atol=2 where id:node/Abs/a because \"wide\"\n"
               "expect fail at some seeds where id:node/Abs/b because \"w\"\n"
               "expect fail where op:Gone because \"old\"\n");
  folder.Write("passing.txt", "node/Abs/b\n");
  folder.Write("claims.txt",
               "claim deterministic run-to-run\nclaim forward where op:Abs\n"
               "claim accumulator float64 where op:Abs\n");
  PlannedBackend backend = BackendOf("acme+x=1");
  backend.launch.launcher = {"mpiexec"};
  backend.policy = *policy::ReadPolicy(folder.path(), {}, "2026-01-01");
  cases::Corpus corpus;
  corpus.cases = {CaseOf("node", "a"), CaseOf("node", "b")};
  cases::TestCase& a = corpus.cases[0];
  a.kind = "kind";
  a.opset = 7;
  a.tier = cases::Tier::kNightly;
  a.directory = "a folder";
  a.operators = {"ai.onnx::Abs"};
  a.shape_sig = "[2]";
  a.sensitive = "0 2";
  a.vacuous = "zeros";
  a.n_data_sets = 3;
  a.drawn = true;
  corpus.cases[1].sensitive = "-";
  corpus.cases[1].operators = {"ai.onnx::Abs"};
  corpus.cases[1].claim = cases::ClaimKind::kGradient;
  const Plan plan = Got(Make({.tier = "nightly"}, {corpus}, {backend}));
  std::string text;
  record::AppendCsvRow(text, plan.rows[0]);
  EXPECT_EQ(text,
            "node/Abs/a,acme+x=1,cpu:f32:all:1,node,Abs,ai.onnx,7,"
            "float32 int64,kind,mpi,nightly,0,,onnx,a "
            "folder,[2],tolerance,0.001,1e-07,"
            "onnx,zeros,3,1,1,2,expectations.txt:2,crash,0,expectations.txt:1,"
            "known,1,,0 2,1,,,,\n");
  EXPECT_TRUE(plan.rows[1].sensitive.empty());
  EXPECT_EQ(plan.rows[1].expected, record::Outcome::kFail);
  EXPECT_TRUE(plan.rows[1].expected_at_some_seeds);
  EXPECT_EQ(plan.rows[1].accumulator, "float64");
  EXPECT_THAT(plan.backends[0].floor, ElementsAre("node/Abs/b"));
  EXPECT_EQ(plan.backends[0].policy_errors.size(), 1U);
}

// Kills: a policy that may change between two shards of a plan.
TEST(PlanTest, ItsPolicyIsThatOfItsBackends) {
  const file::ScratchFolder folder;
  folder.Write("expectations.txt", "expect fail where op:Abs because \"x\"\n");
  const auto hash = [](const PlannedBackend& backend) {
    return Got(Make({}, {CorpusOf(3)}, {BackendOf("other"), backend}))
        .policy_hash;
  };
  PlannedBackend backend = BackendOf("acme");
  const std::string before = hash(backend);
  EXPECT_EQ(hash(backend), before);
  auto policy = Got(policy::ReadPolicy(folder.path(), {}, "2026-01-01"));
  backend.policy = std::move(policy);
  EXPECT_NE(hash(backend), before);
}

// Kills: a part that ran with other lines of the policy taken for one of the
// plan.
TEST(PlanTest, ItsDigestIsOfTheInstructionSetsThatLinesHangOn) {
  const auto digest = [](std::vector<std::string> isa) {
    PlannedBackend backend = BackendOf("acme");
    backend.isa = std::move(isa);
    const Plan plan = Got(Make({}, {CorpusOf(3)}, {backend}));
    EXPECT_EQ(plan.backends[0].isa, backend.isa);
    return plan.digest;
  };
  EXPECT_EQ(digest({"sse"}), digest({"sse"}));
  EXPECT_NE(digest({"sse"}), digest({"sse", "avx"}));
}

// Kills: a shard from 0; a case in two shards or in none; a shard by position.
TEST(PlanTest, EveryRowIsInExactlyOneShard) {
  const Plan plan = PlanOf({CorpusOf(100)});
  for (int n = 1; n <= 8; ++n) {
    std::vector<int> times(plan.rows.size());
    for (int shard = 1; shard <= n; ++shard) {
      const auto rows = RowsOf(plan, {{}, {}, shard, n});
      EXPECT_FALSE(rows.empty()) << shard << " of " << n;
      for (const size_t i : rows) ++times[i];
    }
    EXPECT_THAT(times, testing::Each(1)) << n << " shards";
  }
}

TEST(PlanTest, PartsTakeTheirSuitesAndBackends) {
  const Plan plan = PlanOf({CorpusOf(30)});
  const auto rows = RowsOf(plan, {{"model"}, {"acme"}, 1, 1});
  EXPECT_EQ(rows.size(), 10U);
  for (const size_t i : rows) {
    EXPECT_EQ(plan.rows[i].suite, "model");
    EXPECT_EQ(plan.rows[i].backend, "acme");
  }
  EXPECT_EQ((PartSelection{{"node"}, {"acme"}, 2, 4}.Name()), "node.acme.2of4");
}

// Kills: a shard that depends on what else is planned.
TEST(PlanTest, OtherCasesDoNotMoveACaseToAnotherShard) {
  const Plan small = PlanOf({CorpusOf(40)});
  const Plan large = PlanOf({CorpusOf(90)});
  std::map<std::string, int> shard_of;
  for (int shard = 1; shard <= 4; ++shard) {
    for (const size_t i : RowsOf(large, {{}, {}, shard, 4})) {
      shard_of[large.rows[i].test_id] = shard;
    }
  }
  for (int shard = 1; shard <= 4; ++shard) {
    for (const size_t i : RowsOf(small, {{}, {}, shard, 4})) {
      EXPECT_EQ(shard_of[small.rows[i].test_id], shard);
    }
  }
}

// Kills: a selection that is not asked for, or that leaves out a case whose
// model nobody can read.
TEST(PlanTest, ASelectionTakesItsSuitesAndTier) {
  cases::Corpus corpus;
  for (const char* suite : {"node", "model", "special"}) {
    cases::TestCase& c = corpus.cases.emplace_back(CaseOf(suite, "a"));
    c.tier = suite == std::string("model")  ? cases::Tier::kCi
             : suite == std::string("node") ? cases::Tier::kSmoke
                                            : cases::Tier::kNightly;
    c.directory = "somewhere";
    if (suite != std::string("special")) c.operators = {"ai.onnx::Abs"};
  }
  const struct {
    Selection selection;
    std::vector<std::string> ids;
  } rows[] = {
      {{}, {"model/Abs/a", "node/Abs/a"}},
      {{.tier = "nightly"}, {"model/Abs/a", "node/Abs/a", "special/Abs/a"}},
      {{.suites = {"node"}, .tier = "nightly"},
       {"node/Abs/a", "special/Abs/a"}},
      {{.suites = {"model", "node"}, .tier = "nightly"},
       {"model/Abs/a", "node/Abs/a", "special/Abs/a"}},
      {{.tier = "smoke"}, {"node/Abs/a"}},
  };
  for (const auto& row : rows) {
    const auto plan = Got(Make(row.selection, {corpus}, {BackendOf("acme")}));
    std::vector<std::string> ids;
    for (const record::PlanRow& planned : plan.rows)
      ids.push_back(planned.test_id);
    EXPECT_EQ(ids, row.ids);
  }
  EXPECT_EQ((PartSelection{{"node", "a"}, {}, 1, 3}.Name()), "node+a.all.1of3");
}

std::string DigestAfter(const std::function<void(Plan&)>& change) {
  Plan plan = PlanOf({CorpusOf(6)});
  change(plan);
  std::vector<size_t> all(plan.rows.size());
  std::iota(all.begin(), all.end(), size_t{0});
  return DigestOf(plan, all);
}

// Kills: an ingredient that the digest leaves out; a digest that a scheduling
// hint changes.
TEST(PlanTest, TheDigestIsOfAllThatDecidesAnOutcome) {
  const struct {
    std::string_view name;
    std::function<void(Plan&)> change;
    bool changes;
  } rows[] = {
      {"seed", [](Plan& p) { p.selection.seed = 1; }, true},
      {"corpus", [](Plan& p) { p.corpus_hash = "x"; }, true},
      {"worker", [](Plan& p) { p.worker_id = "x"; }, true},
      {"module", [](Plan& p) { p.backends[1].module_sha256 = "x"; }, true},
      {"expectation",
       [](Plan& p) { p.rows[3].expected = record::Outcome::kFail; }, true},
      {"tolerance", [](Plan& p) { p.rows[3].tolerate_rtol = 1; }, true},
      {"limit", [](Plan& p) { p.rows[3].rtol = 1; }, true},
      {"claim", [](Plan& p) { p.rows[3].claimed = true; }, true},
      {"case", [](Plan& p) { p.rows.pop_back(); }, true},
      {"oracle", [](Plan& p) { p.rows[3].oracle = "x"; }, false},
      {"no answers",
       [](Plan& p) {
         p.rows[3].oracle_outcome = record::Outcome::kError;
         p.rows[3].oracle_message = "x";
       },
       false},
      {"command", [](Plan& p) { p.command = "x"; }, false},
      {"nothing", [](Plan&) {}, false},
  };
  const std::string before = PlanOf({CorpusOf(6)}).digest;
  for (const auto& row : rows) {
    EXPECT_EQ(DigestAfter(row.change) != before, row.changes) << row.name;
  }
}

// Kills: a field of plan.json that is written and not read.
TEST(PlanTest, APlanIsReadAsItWasWritten) {
  const file::ScratchFolder folder;
  Plan plan = PlanOf({CorpusOf(6)}, "op:Abs");
  plan.worker_id = "of the worker";
  plan.corpora[0].standard = true;
  plan.digest = DigestOf(plan, RowsOf(plan, {}));
  ASSERT_TRUE(WritePlan(plan, folder.path() / "plan").ok());
  const Plan read = Got(ReadPlan(folder.path() / "plan"));
  EXPECT_EQ(record::ToCsv(read.rows), record::ToCsv(plan.rows));
  EXPECT_EQ(read.digest, plan.digest);
  EXPECT_EQ(read.command, plan.command);
  EXPECT_EQ(read.policy_hash, plan.policy_hash);
  EXPECT_EQ(read.corpus_hash, plan.corpus_hash);
  EXPECT_EQ(read.worker_id, plan.worker_id);
  EXPECT_EQ(read.selection.filter, "op:Abs");
  ASSERT_EQ(read.backends.size(), 2U);
  EXPECT_EQ(read.Backend("other+opt=off").settings_text, "cpu:f32:off:1");
  ASSERT_EQ(read.corpora.size(), 1U);
  EXPECT_EQ(read.corpora[0].n_cases, 6);
  EXPECT_TRUE(read.corpora[0].standard);
}

// Kills: a changed plan.csv accepted; a part of another plan accepted.
TEST(PlanTest, FilesThatDoNotBelongTogetherAreRefused) {
  const file::ScratchFolder folder;
  const Plan plan = PlanOf({CorpusOf(6)});
  const fs::path at = folder.path() / "plan";
  ASSERT_TRUE(WritePlan(plan, at).ok());
  const PartSelection selection = {{"node"}, {"acme"}, 1, 2};
  const PartHeader part = {selection, DigestOf(plan, RowsOf(plan, selection))};
  ASSERT_TRUE(WritePart(part, folder.path()).ok());
  EXPECT_TRUE(CheckPart(plan, folder.path()).ok());
  Plan other = plan;
  other.backends[0].module_sha256 = "x";
  EXPECT_THAT(
      CheckPart(other, folder.path()),
      IsStatus(StatusCode::kFailedPrecondition, folder.path().string()));

  std::string csv = *file::ReadFile(at / "plan.csv");
  csv.replace(csv.find("tolerance"), 9, "exact");
  ASSERT_TRUE(file::WriteFile(at / "plan.csv", csv).ok());
  EXPECT_EQ(ReadPlan(at).status().code(), StatusCode::kDataLoss);
  for (const std::string_view text : {"", "{", "[]", "{\"schema\": \"x\"}"}) {
    ASSERT_TRUE(file::WriteFile(at / "plan.json", text).ok());
    EXPECT_THAT(ReadPlan(at), IsStatus(StatusCode::kDataLoss, "plan.json"))
        << text;
  }
}

}  // namespace
}  // namespace assay::plan
