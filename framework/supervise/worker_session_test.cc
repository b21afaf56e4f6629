// SPDX-License-Identifier: Apache-2.0
//
// A shell in the place of a worker, for what may become of one, and
// assay-worker itself for who runs it; and what is run again.

#include "framework/supervise/worker_session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <string_view>

#include "framework/cli/program_fixture.h"
#include "framework/core/text.h"
#include "framework/file/scratch_folder.h"
#include "framework/supervise/crew.h"
#include "framework/supervise/supervisor.h"

namespace assay::supervise {
namespace {

using journal::FrameKind;
using journal::Journal;
using testing::HasSubstr;
using testing::Not;

/// The cases a and b.
std::vector<record::PlanRow> CasesOf(const std::string& backend) {
  std::vector<record::PlanRow> rows(2);
  rows[0].test_id = "a";
  rows[1].test_id = "b";
  rows[0].backend = rows[1].backend = backend;
  return rows;
}

/// A folder with a program in the place of the worker, which does in its n-th
/// life what the n-th of some lines says.
class ShellWorker {
 public:
  explicit ShellWorker(const std::vector<std::string>& lives) {
    std::string script =
        "#!/bin/sh\n"
        "cd $(dirname $0)/..\n"
        "journal=$(sed -n 's/^journal,//p' $1)\n"
        "say() { cat frames/$1 >> $journal; }\n"
        "echo >> lives\n"
        "case $(wc -l < lives) in\n";
    for (size_t i = 0; i < lives.size(); ++i) {
      script += StrCat(i + 1, ") ", lives[i], " ;;\n");
    }
    const std::filesystem::path program =
        folder_.Write("bin/worker", script + "*) exit 70 ;;\nesac\n");
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
    std::filesystem::create_directory(folder_.path() / "frames");
    std::filesystem::create_directory(folder_.path() / "records");
    for (const char* const test_id : {"a", "b"}) {
      Frame(StrCat("begin_", test_id),
            [&](Journal& journal) { return journal.Begin(test_id); });
      record::Record record;
      record.result.test_id = test_id;
      record.result.backend = "acme";
      record.result.outcome = record::Outcome::kPass;
      Frame(StrCat("pass_", test_id),
            [&](Journal& journal) { return journal.Append(record); });
    }
    Frame("end",
          [](Journal& journal) { return journal.Write(FrameKind::kBatchEnd); });
    Frame("child", [](Journal& journal) {
      return journal.Ended(7, /*status=*/9, "load");
    });
    Frame("fault", [](Journal& journal) {
      return journal.Write(FrameKind::kFault, "so it is");
    });
    folder_.Write("frames/garbage", std::string(64, 'x'));
  }

  /// Runs the cases a and b.
  Status Run(verdict::RawRecords* raw) const {
    plan::BackendUse backend;
    backend.instance = "acme";
    const auto rows = CasesOf("acme");
    SuperviseOptions options;
    options.worker = folder_.path() / "bin/worker";
    options.directory = folder_.path() / "records";
    options.timeout_s = 1;
    return RunRows(backend, {&rows[0], &rows[1]}, options, raw);
  }

  int64_t lives() const {
    return static_cast<int64_t>(
        std::filesystem::file_size(folder_.path() / "lives"));
  }

 private:
  void Frame(const std::string& name,
             const std::function<Status(Journal&)>& write) const {
    auto journal = Journal::Open(folder_.path() / "frames" / name);
    ASSERT_TRUE(journal.ok()) << journal.status().message();
    EXPECT_TRUE(write(*journal).ok());
  }

  file::ScratchFolder folder_;
};

/// "pass: " and the message of a case.
std::string TextOf(const verdict::RawRecords& raw, const char* test_id) {
  const auto found = raw.records.find({"acme", test_id});
  if (found == raw.records.end()) return "missing";
  const record::ResultRow& result = found->second.result;
  return StrCat(result.outcome, ": ", result.message);
}

// Kills: a case that is charged with what another did, or with what nobody did;
// a worker that is started again and again.
TEST(WorkerSessionTest, WhatBecomesOfAWorkerIsSaidOfWhomItConcerns) {
  const std::string ok = "say begin_a; say pass_a; say begin_b; say pass_b; ";
  const struct {
    std::vector<std::string> lives;
    const char* loss = "";  // empty: none
    const char* a = "pass: ";
    const char* b = "pass: ";
  } rows[] = {
      {.lives = {ok + "say end"}},
      {.lives = {"say begin_a; say pass_a; say begin_b; exit 3"},
       .b = "crash: the worker ended: exit code 3$"},
      {.lives = {"say begin_a; say pass_a; say begin_b; echo x; exit 3"},
       .b = "crash: the worker ended: exit code 3; see acme.1.log"},
      {.lives = {"say begin_a; say pass_a; say begin_b; "
                 "echo 'assay crash: SIGBUS in forward'; "
                 "for depth in 1 2 3; do "
                 "echo '  acme.so(_ZN4acme3RunEv+0x1c)'; done; "
                 "echo '  libc.so.6(+0x2f)'; echo 'assay crash: end'; "
                 "echo '  behind it'; kill -BUS $$"},
       .b = "crash: the worker ended: signal SIGBUS in forward, at "
            "acme.so(acme::Run()+0x1c), libc.so.6(+0x2f); see acme.1.log"},
      {.lives = {"say begin_a; echo 'assay crash: SIGKILL in load'; "
                 "echo '  a.so(+0x1)'; echo 'assay crash: SIGBUS in load'; "
                 "echo '  b.so(+0x2)'; say child; say begin_b; kill -BUS $$"},
       .a = "crash: the worker ended: signal SIGKILL in load, at a.so(+0x1); ",
       .b = "crash: the worker ended: signal SIGBUS in load, at b.so(+0x2); "},
      {.lives = {"say begin_a; exit 0", "say begin_b; say pass_b; say end"},
       .a = "crash: the worker ended: exit code 0, too early"},
      {.lives = {"say begin_a; say end", "say begin_b; say pass_b; say end"},
       .a = "crash: the worker ended: exit code 0, too early"},
      {.lives = {"say begin_a; say child; say begin_b; say pass_b; say end"},
       .a = "crash: the worker ended: signal SIGKILL in load"},
      {.lives = {"say begin_a; say pass_a; kill -9 $$",
                 "say begin_b; say pass_b; say end"},
       .loss = "the worker ended between two cases: signal SIGKILL"},
      {.lives = {ok + "say end; exit 4"},
       .loss = "the worker ended after its last case: exit code 4"},
      {.lives = {"exit 5", ok + "say end"},
       .loss = "the worker ended before the first case: exit code 5"},
      {.lives = {"exit 5", "exit 6"},
       .loss = "the worker ended before the first case: exit code 5",
       .a = "crash: the worker ended before the first case: exit code 6",
       .b = "crash: the worker ended before the first case: exit code 6"},
      {.lives = {"say begin_a; sleep 60", "say begin_b; say pass_b; say end"},
       .a = "timeout: over the time limit of 1 s"},
      {.lives = {"sleep 60"},
       .a = "timeout: the worker took more than 1 s before the first case",
       .b = "timeout: the worker took more than 1 s before the first case"},
      {.lives = {ok + "say end; sleep 60"},
       .loss = "the worker took more than 1 s to end"},
      {.lives = {"say begin_a; say pass_a; sleep 60",
                 "say begin_b; say pass_b; say end"},
       .loss = "the worker took more than 1 s between two cases"},
      {.lives = {"say begin_a; say pass_a; say garbage; sleep 60",
                 "say begin_b; say pass_b; say end"},
       .loss = "the journal of a worker was broken: "},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.lives[0]);
    const ShellWorker worker(row.lives);
    verdict::RawRecords raw;
    const Status status = worker.Run(&raw);
    EXPECT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(worker.lives(), std::ssize(row.lives));
    EXPECT_THAT(TextOf(raw, "a"), HasSubstr(row.a));
    EXPECT_THAT(TextOf(raw, "b") + "$", HasSubstr(row.b));
    const std::string loss = raw.losses.empty() ? "" : raw.losses[0].message;
    EXPECT_THAT(loss, HasSubstr(row.loss));
    EXPECT_EQ(loss.empty(), std::string_view(row.loss).empty()) << loss;
  }
}

// Kills: a journal that nothing good stands in and that is mended for ever; a
// worker that says it is broken, and a run that goes on.
TEST(WorkerSessionTest, WhatNoFurtherWorkerMendsEndsTheRun) {
  const struct {
    const char* life;
    StatusCode code;
    const char* says;
  } rows[] = {
      {"say garbage; sleep 60", StatusCode::kDataLoss, "a frame of "},
      {"say begin_a; say pass_a; say fault; say end", StatusCode::kInternal,
       "acme.1.journal: the worker of acme is broken: so it is"},
  };
  for (const auto& row : rows) {
    const ShellWorker worker({row.life});
    verdict::RawRecords raw;
    const Status status = worker.Run(&raw);
    EXPECT_EQ(status.code(), row.code) << status.ToString();
    EXPECT_THAT(status.message(), HasSubstr(row.says));
    EXPECT_EQ(worker.lives(), 1) << row.life;
  }
}

// Kills: a test that fails in a worker and is nobody's; a case that is begun
// without end, since it is never judged.
TEST(WorkerSessionTest, ATestThatFailsAndIsNoVerdictEndsTheRun) {
  plan::BackendUse backend;
  backend.instance = backend.name = "reference";
  backend.module = ASSAY_REFERENCE;
  const auto rows = CasesOf("reference");
  for (const bool in_process : {false, true}) {
    const file::ScratchFolder folder;
    SuperviseOptions options;
    options.worker = ASSAY_BROKEN_WORKER;
    options.directory = folder.path();
    options.in_process = in_process;
    verdict::RawRecords raw;
    const Status status = RunRows(backend, {&rows[0], &rows[1]}, options, &raw);
    EXPECT_EQ(status.code(), StatusCode::kInternal) << status.ToString();
    EXPECT_THAT(status.message(),
                HasSubstr("the worker of reference is broken: "
                          "Worker.IsBroken: "));
    EXPECT_THAT(status.message(), HasSubstr("as it is to be"));
  }
}

/// A person runs a worker with the request that a run has left.
class RequestProgramTest : public cli::ProgramTest {
 protected:
  cli::Ran Worker(const std::string& words) const {
    return Shell(StrCat("$(dirname $(realpath ", cli::Program(),
                        "))/../bin/assay-worker ", words));
  }
};

// Kills: a red case that is green for who runs the worker; flags that are not
// heard.
TEST_F(RequestProgramTest, GoogleTestsFlagsAndItsExitCodeAreAPersons) {
  ASSERT_EQ(Assay(StrCat("run --backend ", ASSAY_MISBEHAVING,
                         " --filter 'id:node/Abs/test_abs or "
                         "id:node/Identity/test_identity' --jobs 1 --repeats 0 "
                         "--no-report --out run"))
                .exit_code,
            1);
  const std::string request = "$(ls run/records/*.request) ";
  const cli::Ran list = Worker(request + "--gtest_list_tests");
  EXPECT_EQ(list.exit_code, 0) << list.output;
  EXPECT_THAT(list.output, HasSubstr("node_Abs_test_abs"));
  EXPECT_THAT(list.output, HasSubstr("node_Identity_test_identity"));
  const cli::Ran right = Worker(request + "--gtest_filter='*Identity*'");
  EXPECT_EQ(right.exit_code, 0) << right.output;
  EXPECT_THAT(right.output, HasSubstr("[  PASSED  ] 1 test."));
  const cli::Ran wrong = Worker(request + "--gtest_filter='*Abs*'");
  EXPECT_EQ(wrong.exit_code, 1) << wrong.output;
  EXPECT_THAT(wrong.output, HasSubstr("1 FAILED TEST"));
  EXPECT_THAT(wrong.output, Not(HasSubstr("Identity")));
  EXPECT_EQ(Outcomes("run").size(), 2U) << "the records are as they were";
}

TEST_F(RequestProgramTest, WrongUseSaysWhatIsWanted) {
  const std::string good = "request,worker\nbackend,a\nbatch,b\n";
  const struct {
    const char* words;
    int exit_code;
    const char* says;
  } rows[] = {
      {"", 2, "found 0 arguments, wanted the file of a request"},
      {"one two", 2, "found 2 arguments"},
      {"none", 2, "none"},
      {"bad", 2, "bad: line 2: found the field 'bakend', wanted one of"},
      {"suite", 2, "found the suite 'nodes'"},
      {"batch", 2, " b: "},
      {"orphan", 99, "found process "},
      {"--help", 0, "cases_per_process"},
  };
  for (const auto& [name, text] : {std::pair<const char*, std::string>(
                                       "bad", "request,worker\nbakend,a\n"),
                                   {"suite", good + "suite,nodes\n"},
                                   {"batch", good},
                                   {"orphan", good + "parent,1\n"}}) {
    ASSERT_TRUE(file::WriteFile(folder_ / name, text).ok());
  }
  for (const auto& row : rows) {
    const cli::Ran ran = Worker(row.words);
    EXPECT_EQ(ran.exit_code, row.exit_code) << row.words << "\n" << ran.output;
    EXPECT_THAT(ran.output, HasSubstr(row.says)) << row.words;
  }
}

// Kills: a run of few cases that repeats next to none; one of many that takes
// as long again.
TEST(RepeatTest, ATenthOfTheCasesIsRepeatedAnd32AtLeast) {
  const struct {
    int64_t cases, most;
  } rows[] = {{0, 32}, {32, 32}, {320, 32}, {329, 32}, {330, 33}, {5334, 533}};
  for (const auto& row : rows) {
    EXPECT_EQ(MostRepeated(row.cases), row.most) << row.cases;
  }
}

using RepeatProgramTest = cli::ProgramTest;

// Kills: a crash that stays with a case which alone fails or is declined; one
// that nobody is charged with, so that the run is green; a case of many that is
// not repeated.
TEST_F(RepeatProgramTest, ACrashIsChargedToWhoCrashesAlone) {
  const struct {
    const char* settings;
    const char* outcome;  // of the case behind the one that does it
    const char* says;
  } rows[] = {
      {"+deadly=Abs", "fail",
       "crash: the worker ended at node/Acos/test_acos, which crashes behind "
       "other cases only: alone fail 3 of 3 times, crash after "
       "node/Abs/test_abs"},
      {"+deadly=Abs+decline=Acos", "unsupported",
       "alone unsupported 3 of 3 times, crash after node/Abs/test_abs"},
      {"+crash=Acos", "crash", "1 crash: the worker ended: signal SIGABRT"},
  };
  for (const auto& row : rows) {
    std::filesystem::remove_all(folder_ / "run");
    const cli::Ran ran = Assay(StrCat(
        "run --backend ", ASSAY_MISBEHAVING, row.settings,
        " --filter 'id:node/Abs/test_abs or id:node/Acos/test_acos' --jobs 1 "
        "--no-report --out run"));
    EXPECT_EQ(ran.exit_code, 1) << ran.output;
    EXPECT_EQ(Outcomes("run")["node/Acos/test_acos"], row.outcome)
        << ran.output;
    EXPECT_THAT(ran.output, HasSubstr(row.says)) << row.settings;
  }
}

}  // namespace
}  // namespace assay::supervise
