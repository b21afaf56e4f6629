// SPDX-License-Identifier: Apache-2.0
//
// The ground of a verdict: journals, corpora, modules and programs that are
// those of the run, folders with one writer, limits that hold, and text that
// every reader takes. Each test is a way in which a run once said something
// that was not so.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "framework/cli/tree_fixture.h"
#include "framework/file/file.h"
#include "framework/testing/record/tables.h"
#include "framework/testing/support/statuses_fixture.h"

namespace assay::cli {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class TrustTest : public TreeTest {
 protected:
  static constexpr const char* kFew =
      " --filter 'op:Abs or op:Neg or op:Relu' --no-report ";

  /// A corpus of one case with files of its own, which may be changed.
  fs::path OwnCase(const std::string& folder, const std::string& name) const {
    const fs::path to = folder_ / folder / name;
    fs::create_directories(to.parent_path());
    fs::copy(built_ / "corpus/onnx/node/test_abs", to,
             fs::copy_options::recursive);
    return to;
  }

  /// The same with a manifest.
  fs::path OwnCorpus() const {
    OwnCase("own/node", "test_abs");
    std::ifstream file(built_ / "corpus/onnx/manifest.json");
    const Json manifest = Json::parse(file);
    for (const Json& c : manifest["cases"]) {
      if (c["test_id"] != "node/Abs/test_abs") continue;
      std::ofstream(folder_ / "own/manifest.json")
          << cases::ManifestText("own", {c.dump()});
    }
    return folder_ / "own";
  }

  static void Change(const fs::path& file) {
    std::string bytes = *file::ReadFile(file);
    bytes.back() = static_cast<char>(bytes.back() ^ 1);
    std::ofstream(file, std::ios::binary) << bytes;
  }

  fs::path AJournal(const std::string& run) const {
    return folder_ / run / "records/misbehaving.1.journal";
  }
};

// Kills: a run that shows what an earlier one had found.
TEST_F(TrustTest, ANewRunTakesNoJournalsThatLieInItsFolder) {
  const std::string run = StrCat("run --backend misbehaving --repeats 0", kFew);
  Tree(run + "--out one");
  ASSERT_FALSE(Outcomes("one").empty());
  for (const auto& entry : fs::directory_iterator(folder_ / "one")) {
    if (!entry.is_directory()) fs::remove(entry.path());
  }
  EXPECT_THAT(Tree(run + "--out one"), Ended(2,
                                             "one/records holds the records of "
                                             "another run"));
  // Nor does a run that goes on.
  Tree(run + "--seed 9 --out two");
  fs::copy_file(AJournal("one"), AJournal("two"),
                fs::copy_options::overwrite_existing);
  EXPECT_THAT(Tree("run --resume two --no-report"),
              Ended(99,
                    "two/records/misbehaving.1.journal was "
                    "written for another plan or module"));
}

// Kills: corpora that are known by their names.
TEST_F(TrustTest, CorporaOfTheDefaultNamesAreNotTheDefaultOnes) {
  Policy("reference", "claims.txt", "claim forward where op:Abs\n");
  std::string corpora;
  for (const std::string_view name : cases::kDefaultCorpora) {
    OwnCase(StrCat("others/", name), StrCat("test_", name));
    corpora += StrCat(" --corpus others/", name);
  }
  EXPECT_THAT(TreeRunOf("reference", corpora), Ended(0));
  EXPECT_EQ(Word("run").verdict, "partial");
  EXPECT_THAT(Word("run").reason,
              HasSubstr("with another corpus onnx than this build made"));
}

// Kills: a tolerance that was loosened, under the digest of before or after.
TEST_F(TrustTest, NoLineOfAManifestIsChangedInSilence) {
  ReplaceReference(ASSAY_FEW_OPERATORS);
  const fs::path file = tree_ / "share/assay/corpus/onnx/manifest.json";
  const std::string text = *file::ReadFile(file);
  Json manifest = Json::parse(text);
  std::vector<std::string> lines;
  for (Json& c : manifest["cases"]) {
    c["rtol"] = 0.5;
    lines.push_back(c.dump());
  }
  const std::string loosened = cases::ManifestText("onnx", lines);
  std::string patched = loosened;
  const std::string hash = manifest["corpus_hash"];
  const std::string other = Json::parse(loosened)["corpus_hash"];
  patched.replace(patched.find(other), other.size(), hash);
  std::ofstream(file) << patched;
  EXPECT_THAT(TreeRunOf("reference"), Ended(99,
                                            "its cases are not those that its "
                                            "corpus_hash is of"));
  std::ofstream(file) << loosened;
  TreeRunOf("reference");
  EXPECT_EQ(Word("run").verdict, "partial");
  EXPECT_THAT(Word("run").reason, HasSubstr("another corpus onnx"));
}

// Kills: data that were exchanged before a plan, a shard or a resume.
TEST_F(TrustTest, FilesAreThoseOfThePlanWheneverCasesAreRun) {
  const fs::path own = OwnCorpus();
  const std::string with = " --backend reference --corpus ./own ";
  const fs::path output = own / "node/test_abs/test_data_set_0/output_0.pb";
  ASSERT_EQ(Tree("plan" + with + "--out plan").exit_code, 0);
  ASSERT_EQ(Tree("run" + with + "--no-report --out run").exit_code, 0);
  const auto refused = [&](const std::string& arguments, const char* says) {
    EXPECT_THAT(Tree(arguments), Ended(99, says)) << arguments;
  };
  const std::string shard = "run --plan plan --parts plan/parts";
  const std::string resume = "run --resume run --no-report";
  EXPECT_EQ(Tree(shard).exit_code, 0);
  EXPECT_EQ(Tree(resume).exit_code, 0);
  Change(output);
  refused("plan" + with + "--out other", "output_0.pb has the digest");
  refused("run" + with + "--no-report --out other", "output_0.pb has the");
  refused(shard, "output_0.pb has the digest");
  refused(resume, "output_0.pb has the digest");
  // A folder without a manifest is read anew.
  fs::remove(own / "manifest.json");
  refused(shard, "own is not the one that was planned with");
  Tree("plan" + with + "--out plain");
  Change(output);
  refused("run --plan plain --parts plain/parts",
          "own is not the one that was planned with");
}

// Kills: verdicts of one worker under the digests of another.
TEST_F(TrustTest, ProgramsAreThoseOfThePlan) {
  const std::string with = StrCat(" --backend misbehaving --repeats 0", kFew);
  Tree("plan --backend misbehaving --filter op:Abs --out plan");
  Tree("run" + with + "--out run");
  const auto build = [&](const std::string& run) {
    return Rows<record::BackendRow>(run + "/backends.csv").at(0).build_id;
  };
  EXPECT_EQ(build("run").size(), 64U);
  std::ofstream(tree_ / "bin/assay-worker", std::ios::app) << "another";
  for (const char* arguments :
       {"run --plan plan --parts plan/parts", "run --resume run --no-report"}) {
    EXPECT_THAT(Tree(arguments),
                Ended(99,
                      "assay-worker, assay-host and libassay_core.so is "
                      "not the one that was planned with"));
  }
  Tree("run" + with + "--out again");
  EXPECT_NE(build("again"), build("run"));
}

// Kills: two writers in one folder.
TEST_F(TrustTest, AFolderHasOneWriter) {
  Tree("plan --backend misbehaving --filter op:Abs --out plan");
  Tree("run --plan plan --parts plan/parts --repeats 0");
  Tree("run --backend misbehaving --repeats 0", kFew, "--out run");
  fs::create_directory(folder_ / "new");
  const struct {
    const char* arguments;
    const char* folder;
  } rows[] = {
      {"run --resume run --repeats 0 --no-report", "run"},
      {"run --backend misbehaving --filter op:Abs --repeats 0 --no-report "
       "--out new",
       "new"},
      {"run --plan plan --parts plan/parts --repeats 0",
       "plan/parts/all.all.1of1"},
      {"merge plan --no-report --out run", "run"},
  };
  for (const auto& row : rows) {
    const auto lock = Got(file::FolderLock::Take(folder_ / row.folder));
    EXPECT_THAT(Tree(row.arguments),
                Ended(99, "another process writes to", row.folder))
        << row.arguments;
  }
  for (const auto& row : rows) {
    EXPECT_NE(Tree(row.arguments).exit_code, 99) << row.arguments;
  }
}

// Kills: a run that is lost because a power cut zeroed the end of a journal.
TEST_F(TrustTest, AJournalWithAZeroedTailIsGoneOnWith) {
  Tree("run --backend misbehaving", kFew, "--repeats 0 --out run");
  const auto before = Outcomes("run");
  ASSERT_GE(before.size(), 3U);
  const auto size = fs::file_size(AJournal("run"));
  std::fstream journal(AJournal("run"),
                       std::ios::in | std::ios::out | std::ios::binary);
  journal.seekp(static_cast<std::streamoff>(size - 300));
  journal << std::string(4096, '\0');
  journal.close();
  EXPECT_THAT(Tree("run --resume run --repeats 0 --no-report"),
              Ended(1, "misbehaving.1.journal: cut "));
  EXPECT_EQ(Outcomes("run"), before);
}

// Kills: a shard that was killed at its start and fails the merge.
TEST_F(TrustTest, APartThatHasNotBegunIsMissing) {
  Tree("plan --backend misbehaving --filter op:Abs --out plan");
  const fs::path part = folder_ / "plan/parts/all.all.1of1";
  fs::create_directories(part);
  for (const char* run : {"empty", "half"}) {
    EXPECT_THAT(Tree("merge plan --no-report --out ", run),
                Ended(1, "missing"));
    std::ofstream(part / "part.json.7.part") << "{";
  }
}

// Kills: a library that a case loads, whose replacement nobody would see.
TEST_F(TrustTest, LibrariesThatACaseLoadsAreAmongTheDigests) {
  const auto noted = [&](const std::string& run, const std::string& library) {
    const Ran ran =
        Shell("ASSAY_TEST_LIBRARY=", library,
              " tree/bin/assay run --backend misbehaving --repeats 0 "
              "--filter id:node/Abs/test_abs --no-report --out ",
              run);
    EXPECT_EQ(Outcomes(run).size(), 1U) << ran.output;
    return Text(StrCat(run, "/records/misbehaving.1.losses.journal"));
  };
  const auto of_glibc = HasSubstr("/libanl.so.1\n");
  EXPECT_THAT(noted("with", "libanl.so.1"), of_glibc);
  EXPECT_THAT(noted("without", "libc.so.6"), testing::Not(of_glibc));
}

// Kills: waiting for the end of a worker that the kernel has reaped.
TEST_F(TrustTest, WhoeverStartsItMayIgnoreTheEndsOfChildren) {
  const Ran ran = Shell(
      "sh -c \"trap '' CHLD; exec tree/bin/assay run --backend misbehaving ",
      "--timeout 20 --filter id:node/Abs/test_abs --no-report --out run\"");
  EXPECT_EQ(Outcomes("run").size(), 1U) << ran.output;
  EXPECT_EQ(ran.output.find("took more than"), std::string::npos) << ran.output;
}

// Kills: an option that nobody takes notice of.
TEST_F(TrustTest, APlanHasItsSelection) {
  Tree("run --backend misbehaving --repeats 0", kFew, "--out run");
  Tree("plan --backend misbehaving --filter op:Abs --out plan");
  const std::string resume = "run --resume run --no-report ";
  const std::string shard = "run --plan plan --parts plan/parts ";
  for (const std::string& arguments :
       {resume + "--backend reference", resume + "--filter op:Abs",
        resume + "--seed 9", resume + "--corpus onnx", resume + "--suite node",
        resume + "--tier smoke", resume + "--out other",
        shard + "--filter op:Abs", shard + "--seed 9", shard + "--corpus onnx",
        shard + "--tier smoke", shard + "--resume run"}) {
    EXPECT_THAT(Tree(arguments), Ended(2, "exclude")) << arguments;
  }
}

// Kills: a limit that passes again for each case of a module that hangs.
TEST_F(TrustTest, AModuleThatHangsIsGivenUp) {
  const std::string run =
      StrCat("run --timeout 1 --jobs 1 --filter suite:node --no-report --out ");
  const auto begin = std::chrono::steady_clock::now();
  const Ran loads = Tree(run + "loads --backend misbehaving+hang=all");
  const Ran inspects = Shell("ASSAY_TEST_INSPECT=hang tree/bin/assay ", run,
                             "inspects --backend misbehaving");
  const std::chrono::duration<double> took =
      std::chrono::steady_clock::now() - begin;
  int tried = 0;
  const auto rows = Rows("loads/results.csv");
  EXPECT_GT(rows.size(), 10U);
  for (const record::ResultRow& row : rows) {
    EXPECT_EQ(row.outcome, record::Outcome::kTimeout) << row.test_id;
    if (row.message == "over the time limit of 1 s") {
      ++tried;
    } else {
      EXPECT_EQ(row.message,
                "not run: 6 cases in a row were over the time limit of 1 s");
    }
  }
  EXPECT_EQ(tried, 6);
  for (const record::ResultRow& row : Rows("inspects/attempts.csv")) {
    EXPECT_EQ(row.message,
              "the worker took more than 1 s before the first case");
  }
  EXPECT_EQ(Rows("inspects/attempts.csv").size(), rows.size());
  EXPECT_EQ(Rows("loads/attempts.csv").size(), rows.size());
  EXPECT_LT(took.count(), 30) << loads.output << inspects.output;
}

// Kills: a message that fills the disk, ends the run or makes a table that no
// reader takes.
TEST_F(TrustTest, WhatABackendSaysCostsNoTable) {
  EXPECT_THAT(Shell("ASSAY_TEST_INSPECT=odd tree/bin/assay run --backend "
                    "misbehaving+babble=Neg --no-report --repeats 0 --out run "
                    "--filter 'id:node/Neg/test_neg or op:Relu'"),
              Ended(1));
  const auto rows = Rows("run/results.csv");
  std::set<record::Outcome> outcomes;
  for (const record::ResultRow& row : rows) {
    outcomes.insert(row.outcome);
    EXPECT_EQ(record::CleanText(row.message).size(), row.message.size());
    EXPECT_LT(row.message.size(), record::kMostText + 100);
  }
  EXPECT_THAT(outcomes, testing::Contains(record::Outcome::kError));
  const auto backends = Rows<record::BackendRow>("run/backends.csv");
  EXPECT_THAT(backends.at(0).version, HasSubstr("[cut, of 1048576 bytes]"));
  EXPECT_EQ(backends.at(0).device, "??");
  const fs::path journal =
      folder_ / "run/records/misbehaving+babble=Neg.1.journal";
  EXPECT_LT(fs::file_size(journal), 256U << 10U);  // one message: 1 MiB
}

// Kills: a case left out, or an error without a name.
TEST_F(TrustTest, WhatCannotBeReadIsNamed) {
  const fs::path fifo = OwnCase("mine", "test_fifo") / "model.onnx";
  OwnCase("mine", "test_abs");
  fs::remove(fifo);
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  const std::string run = "run --backend reference --no-report --out run ";
  EXPECT_THAT(Tree("run --backend reference --no-report --out fifo "
                   "--corpus ./mine --suite node"),
              Ended(1, "bad case mine/test_fifo: cannot read "));
  fs::remove(fifo);
  std::ofstream(fifo) << "no model";
  const Ran broken = Tree(run + "--corpus ./mine --suite node");
  EXPECT_THAT(broken, Ended(1, "bad case mine/test_fifo"));
  EXPECT_EQ(Outcomes("run").size(), 1U) << broken.output;
  OwnCase("bad\xFF", "test_abs");
  EXPECT_THAT(
      Tree(
          "run --backend reference --no-report --out named --corpus ./bad\xFF"),
      Ended(2, "/bad?'"));
}

// Kills: a run that is lost by it; verdicts of others that are; a run that goes
// on for good.
TEST_F(TrustTest, ABrokenJournalCostsTheOpenCaseUnlessItIsBrokenOnce) {
  const auto run = [&](const std::string& settings) {
    std::filesystem::remove_all(folder_ / "run");
    return Assay(
        "run --host in-process --backend ", ASSAY_MISBEHAVING, settings,
        " --backend ", ASSAY_MISBEHAVING,
        " --filter 'id:node/Abs/test_abs or id:node/Acos/test_acos or "
        "id:node/Add/test_add' --jobs 1 --repeats 0 --no-report --out run");
  };
  // The outcomes of the backend that breaks its journal, then of the other.
  const auto outcomes = [&] {
    std::vector<std::string> all;
    for (const record::ResultRow& row : Rows("run/results.csv")) {
      all.push_back(StrCat(row.test_id, " ", ToString(row.outcome)));
    }
    return all;
  };
  EXPECT_EQ(run("+none=1").exit_code, 1);
  std::vector<std::string> wanted = outcomes();
  ASSERT_EQ(wanted.size(), 6U);
  EXPECT_EQ(wanted[1], "node/Acos/test_acos fail");

  const Ran once = run("+break_once=Acos");
  EXPECT_EQ(once.exit_code, 1);
  EXPECT_EQ(outcomes(), wanted) << once.output;
  EXPECT_THAT(once.output, HasSubstr("the journal of a worker was broken"));

  std::filesystem::remove(folder_ / "broken");
  const Ran again = run("+break=Acos");
  EXPECT_EQ(again.exit_code, 1);
  wanted[1] = "node/Acos/test_acos error";
  EXPECT_EQ(outcomes(), wanted) << again.output;
  EXPECT_THAT(again.output, HasSubstr("was broken twice at this case"));
}

}  // namespace
}  // namespace assay::cli
