// SPDX-License-Identifier: Apache-2.0
//
// assay-worker: a GoogleTest program around one backend. The supervisor gives
// it a batch and reads its journal; a person may run it alone:
//
//   assay-worker --backend onednn --batch build/plan/plan.csv
//       --gtest_filter='node/onednn.*conv*'   (one line)
//
// Exit codes: GoogleTest's own without a journal; with one, 0 once the batch is
// through whatever its verdicts, 2 for wrong usage, 99 when the journal cannot
// be written.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <malloc.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <functional>
#include <iostream>
#include <memory>
#include <optional>

#include "backend_tags.h"
#include "framework/backend/registry.h"
#include "framework/file/csv.h"
#include "framework/file/descriptor.h"
#include "framework/file/file.h"
#include "framework/file/module_path.h"
#include "framework/graph/model_text.h"
#include "framework/graph/types/check.h"
#include "framework/testing/host/end_like.h"
#include "framework/testing/host/remote_backend.h"
#include "framework/testing/host/wire/arena.h"
#include "framework/testing/journal/journal.h"
#include "framework/testing/plan/instance.h"
#include "framework/testing/plan/launch.h"
#include "framework/testing/record/tables.h"
#include "framework/testing/suite/answers_suite.h"
#include "framework/testing/suite/interfaces_suite.h"
#include "framework/testing/suite/outputs_suite.h"
#include "framework/testing/walls/walls.h"
#include "framework/testing/worker/backend_test.h"
#include "framework/testing/worker/case_runner.h"
#include "framework/testing/worker/forked_batch.h"
#include "framework/testing/worker/host_process.h"
#include "framework/testing/worker/hosted_cases.h"
#include "framework/testing/worker/mapped_files.h"
#include "framework/testing/worker/open_backend.h"

namespace assay::worker {
namespace {

constexpr int kUsage = 2;
constexpr int kHarness = 99;

struct WorkerOptions {
  std::string backend;
  std::string module;
  std::string carrier;  // of messages between ranks: its file
  std::string batch;
  std::string journal;
  record::RunFacts facts;
  int parent = 0;
  std::string
      rank_variable;  // that a launcher sets; empty: nothing launched it
  int64_t cases_per_process = 1024;
  bool in_process = false;  // the backend
  walls::Walls walls;       // around it
};

/// The one run of this process, reachable from the tests that GoogleTest makes.
struct Worker {
  WorkerOptions options;
  std::vector<record::PlanRow> rows;
  std::optional<journal::Journal> journal;
  std::unique_ptr<CaseRunner> runner;
  std::unique_ptr<ForkedBatch> forked;  // where children run the cases
  std::unique_ptr<HostProcess> host;    // the backend's, where it has its own
  std::unique_ptr<HostedCases> hosted;  // run there
  bool keeps_memory = true;
  int64_t n_run = 0;
  uint64_t n_libraries = 0;  // when their files were noted
};

Worker& TheWorker() {
  static auto* worker = new Worker();
  return *worker;
}

void ExitIfFailed(const Status& status) {
  if (status.ok()) return;
  std::cerr << "assay-worker: " << status.message() << std::endl;
  _exit(kHarness);
}

/// Tells the supervisor which files this process executes from, when they may
/// be others than it was told.
void NoteFiles(Worker& worker) {
  const uint64_t loaded = LibrariesLoaded();
  if (loaded == worker.n_libraries) return;
  worker.n_libraries = loaded;
  ExitIfFailed(worker.journal->Mapped(MappedFiles()));
}

/// A case after which the journal's descriptor is gone is an error.
void KeepJournal(journal::Journal& journal, record::ResultRow* result) {
  const Result<bool> repaired = journal.Repair();
  ExitIfFailed(repaired.status());
  if (!*repaired) return;
  if (result->reason_code == ToString(Reason::kStateChanged)) {
    result->message += ", descriptors";
    return;
  }
  result->outcome = record::Outcome::kError;
  result->reason_code = ToString(Reason::kStateChanged);
  result->message = "the backend changed the process' descriptors";
}

/// Memory is kept for the next case rather than given back to the system, unless
/// the suite asks otherwise.
void KeepMemory(bool all) {
  TheWorker().keeps_memory = all;
  mallopt(M_MMAP_THRESHOLD, all ? 1 << 30 : 1 << 24);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
}

/// What a great case gives back leaves holes: another process goes on.
void LeaveRestAfter(const record::ResultRow& result) {
  constexpr int64_t kGreatKilobytes = int64_t{1} << 19;
  Worker& worker = TheWorker();
  if (worker.keeps_memory || result.peak_rss_kb < kGreatKilobytes) return;
  worker.n_run = worker.options.cases_per_process;
  if (worker.forked != nullptr) worker.forked->TakeNoMore();
}

/// Writes the record of a case that ran on a backend in a host.
void WriteHosted(Worker& worker, record::Record record) {
  const Result<bool> whole = worker.hosted->Settle(&record);
  ExitIfFailed(whole.status());
  if (*whole) ExitIfFailed(worker.journal->Append(record));
  ExitIfFailed(worker.hosted->Leave());
}

/// Where the backend is and looks after each case at what it did there.
std::function<host::CaseEnd()> EndOf(Worker& worker) {
  if (worker.hosted == nullptr) return nullptr;
  return [&worker] { return worker.hosted->End(); };
}

/// Runs one row and writes its record; without a journal GoogleTest is told.
void RunRow(const record::PlanRow& row, const Opened& opened) {
  Worker& worker = TheWorker();
  if (worker.forked != nullptr && !worker.forked->Take()) return;
  if (worker.journal) {
    // The supervisor goes on with the rest in a worker of its own.
    if (worker.forked == nullptr && worker.hosted == nullptr &&
        worker.n_run++ >= worker.options.cases_per_process) {
      return;
    }
    if (worker.hosted != nullptr) ExitIfFailed(worker.hosted->Ready());
    ExitIfFailed(worker.journal->Begin(row.test_id, worker.hosted != nullptr
                                                        ? worker.hosted->pid()
                                                        : getpid()));
  }
  if (worker.runner == nullptr) {
    worker.runner = std::make_unique<CaseRunner>(opened, worker.options.facts,
                                                 EndOf(worker));
  }
  record::Record record = worker.runner->Run(row);
  if (worker.hosted != nullptr) return WriteHosted(worker, std::move(record));
  if (worker.journal) {
    KeepJournal(*worker.journal, &record.result);
    NoteFiles(worker);  // a case may have loaded more
    ExitIfFailed(worker.journal->Append(record));
    if (worker.forked != nullptr) worker.forked->Done();
    LeaveRestAfter(record.result);
    return;
  }
  const record::Outcome outcome = record.result.outcome;
  if (outcome == record::Outcome::kUnsupported) {
    GTEST_SKIP() << record.result.message;
  }
  if (outcome != record::Outcome::kPass) {
    ADD_FAILURE() << outcome << ": " << record.result.message;
  }
}

/// As BackendTest, but on a communicator as well.
template <class B>
class CorpusTest : public testing::Test {
 public:
  explicit CorpusTest(const record::PlanRow& row) : row_(row) {}

  void TestBody() override {
    const Result<Opened*> opened = SharedModule(B::Instance());
    if (opened.ok()) return RunRow(row_, **opened);
    if (opened.status().code() == StatusCode::kUnavailable) {
      GTEST_SKIP() << opened.status().message();
    }
    FAIL() << opened.status().ToString();
  }

 private:
  const record::PlanRow& row_;
};

/// A GoogleTest name: letters, digits and '_'.
std::string TestName(std::string_view test_id) {
  std::string name(test_id);
  std::ranges::replace_if(
      name, [](unsigned char c) { return !std::isalnum(c); }, '_');
  return name;
}

template <class B>
void RegisterRows() {
  const Worker& worker = TheWorker();
  for (const record::PlanRow& row : worker.rows) {
    const std::string suite = row.suite + "/" + row.backend;
    testing::RegisterTest(
        suite.c_str(), TestName(row.test_id).c_str(), row.backend.c_str(),
        row.test_id.c_str(), __FILE__, __LINE__,
        [&row]() -> CorpusTest<B>* { return new CorpusTest<B>(row); });
  }
}

/// Registers with the type of a backend of this tree, or with Loaded.
template <class... Tags>
void RegisterFor(const std::string& instance, TagList<Tags...>) {
  const bool known =
      ((instance == Tags::Instance() ? (RegisterRows<Tags>(), true) : false) ||
       ...);
  if (!known) RegisterRows<Loaded>();
}

Status ReadBatch(Worker* worker) {
  ASSAY_ASSIGN_OR_RETURN(const std::string csv,
                         file::ReadFile(worker->options.batch));
  ASSAY_ASSIGN_OR_RETURN(worker->rows, record::ParseCsv<record::PlanRow>(csv));
  std::erase_if(worker->rows, [&](const record::PlanRow& row) {
    return row.backend != worker->options.backend;
  });
  if (worker->rows.empty()) {
    return InvalidArgument(worker->options.batch, " has no case for ",
                           worker->options.backend);
  }
  return OkStatus();
}

/// Writes what the backend says of itself, the first frame of a batch. Where it
/// cannot be used, every case gets that as its verdict, and the answer is no.
bool InspectBackend(Worker* worker) {
  const WorkerOptions& options = worker->options;
  record::BackendRow row;
  row.run_id = options.facts.run_id;
  row.backend = options.backend;
  const Result<Opened*> opened = SharedModule(options.backend);
  if (worker->host != nullptr) {
    worker->hosted = std::make_unique<HostedCases>(
        *worker->host, *worker->journal, options.cases_per_process,
        [worker](pid_t pid) {
          ExitIfFailed(worker->journal->Mapped(MappedFiles({pid})));
        });
    row.reach = worker->host->reach();
    ExitIfFailed(worker->hosted->Ready());
  } else if (options.in_process) {
    row.reach = "it ran in the process that judged it";
  }
  const Result<Probe> probe =
      opened.ok() ? (*opened)->InspectAs(options.facts.settings)
                  : Result<Probe>(opened.status());
  if (worker->hosted == nullptr) NoteFiles(*worker);
  if (probe.ok()) {
    row.version = probe->version;
    row.device = probe->device;
    row.isa = Joined(probe->isa, " ");
    ExitIfFailed(worker->journal->Append(row));
    return true;
  }
  const bool missing = probe.status().code() == StatusCode::kUnavailable;
  row.unavailable_reason = probe.status().message();
  ExitIfFailed(worker->journal->Append(row));
  for (const record::PlanRow& planned : worker->rows) {
    record::Record record;
    record.result = record::ResultOf(planned, options.facts);
    record.result.outcome =
        missing ? record::Outcome::kUnavailable : record::Outcome::kError;
    record.result.reason_code = ToString(probe.status().reason());
    record.result.message = probe.status().message();
    ExitIfFailed(worker->journal->Append(record));
  }
  return false;
}

int ParseOptions(int argc, char** argv, WorkerOptions* options) {
  CLI::App app("runs a batch of cases on one backend", "assay-worker");
  app.add_option("--backend", options->backend, "instance to test")->required();
  app.add_option("--module", options->module, "its file");
  app.add_option("--carrier", options->carrier,
                 "file of the library whose ranks run its networks");
  app.add_option("--batch", options->batch, "plan.csv, or a part of one")
      ->required();
  app.add_option("--journal", options->journal, "file for the records");
  app.add_option("--run-id", options->facts.run_id, "of the records");
  app.add_option("--seed", options->facts.seed, "of everything random");
  app.add_option("--attempt", options->facts.attempt, "of the records");
  app.add_option("--started-us", options->facts.started_us,
                 "steady clock at the start of the run");
  app.add_option("--timeout", options->facts.case_limit_s,
                 "seconds that the supervisor gives one case");
  app.add_option("--suite", options->facts.suite,
                 "what runs the cases; each case's own suite if none")
      ->check([](const std::string& name) {
        return name.empty() || suite::FindSuite(name) != nullptr
                   ? std::string()
                   : "no suite " + name;
      });
  app.add_option("--oracle", options->facts.oracle,
                 "backend that judges where a suite needs one");
  app.add_option("--oracle-module", options->facts.oracle_module, "its file");
  app.add_option("--output", options->facts.output,
                 "folder for files that a suite makes");
  app.add_option("--scratch", options->facts.scratch,
                 "folder that all ranks have");
  app.add_option("--parent", options->parent, "process to die with");
  app.add_option("--rank-variable", options->rank_variable,
                 "variable that tells which of the launched ranks it is");
  app.add_flag("--in-process", options->in_process,
               "load the backend into this process, as without a journal");
  app.add_option("--hide", options->walls.hidden,
                 "folder that the backend must not see");
  app.add_option("--keep", options->walls.kept,
                 "folder that the backend must not change");
  app.add_option("--cases-per-process", options->cases_per_process,
                 "after which another process goes on");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? -1 : kUsage;
  }
  return 0;
}

/// The backend in a process of its own.
Result<Opened> OpenInHost(const ModuleUse& use, Worker* worker) {
  HostProcess::End end;
  auto host = HostProcess::Start(file::InstallPrefix() / "bin" / "assay-host",
                                 use, worker->options.walls,
                                 /*forks=*/worker->rows.size() > 1, &end);
  if (host.status().code() == StatusCode::kCancelled) {
    host::EndLike(end.wait_status);
  }
  ASSAY_ASSIGN_OR_RETURN(worker->host, std::move(host));
  wire::Arena::Open();
  Opened opened;
  opened.backend =
      std::make_unique<host::RemoteBackend>(use.name, worker->host->link());
  return opened;
}

/// Ends with the supervisor, whatever way that ends; of those that were launched, with
/// the launcher, which does.
bool FollowParent(const WorkerOptions& options) {
  if (options.parent == 0 && options.rank_variable.empty()) return true;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  return options.parent == 0 || getppid() == options.parent;
}

/// What a rank prints, into a log of its own, which goes with the rank where nothing is
/// in it.
class RankLog {
 public:
  explicit RankLog(std::filesystem::path path) : path_(std::move(path)) {}
  RankLog(const RankLog&) = delete;
  RankLog& operator=(const RankLog&) = delete;

  ~RankLog() {
    std::error_code ignored;
    if (std::filesystem::is_empty(path_, ignored)) {
      std::filesystem::remove(path_, ignored);
    }
  }

  Status Open() const {
    const file::Descriptor log(
        open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
    if (log.get() < 0 || dup2(log.get(), STDOUT_FILENO) < 0 ||
        dup2(log.get(), STDERR_FILENO) < 0) {
      return Internal("cannot print into ", path_.string(), ": ",
                      std::strerror(errno));
    }
    return OkStatus();
  }

 private:
  std::filesystem::path path_;
};

/// A process of another rank than the first: it runs what that one runs, and judges and
/// writes nothing.
int Follow() {
  auto& listeners = testing::UnitTest::GetInstance()->listeners();
  delete listeners.Release(listeners.default_result_printer());
  [[maybe_unused]] const int failed = RUN_ALL_TESTS();
  return 0;
}

/// Runs the batch in children where that can be and is worth it, else here.
void RunBatch(Worker* worker) {
  auto& listeners = testing::UnitTest::GetInstance()->listeners();
  delete listeners.Release(listeners.default_result_printer());
  // The verdicts are in the journal.
  const auto run = [] { [[maybe_unused]] const int failed = RUN_ALL_TESTS(); };
  if (worker->hosted != nullptr) {
    run();
    return ExitIfFailed(worker->hosted->Close());
  }
  const bool is_launched = !worker->options.rank_variable.empty();
  if (worker->rows.size() == 1 || is_launched || !ForkedBatch::IsPossible()) {
    return run();
  }
  // ONNX's schemas are made at the first check, which else each child would do.
  static_cast<void>(types::CheckModel(*graph::ModelOfText(
      "warm (float[1] x) => (float[1] y) { y = Relu(x) }")));
  worker->forked =
      std::make_unique<ForkedBatch>(static_cast<int64_t>(worker->rows.size()),
                                    worker->options.cases_per_process);
  ExitIfFailed(worker->forked->Run(*worker->journal, run));
}

int Main(int argc, char** argv) {
  suite::AddSuite(suite::AnswersSuite());
  suite::AddSuite(suite::OutputsSuite());
  suite::AddSuite(suite::InterfacesSuite());
  testing::InitGoogleTest(&argc, argv);
  Worker& worker = TheWorker();
  WorkerOptions& options = worker.options;
  if (const int code = ParseOptions(argc, argv, &options); code != 0) {
    return code < 0 ? 0 : code;
  }
  if (!FollowParent(options)) return kHarness;
  const suite::Suite* const suite = suite::FindSuite(options.facts.suite);
  KeepMemory(suite == nullptr || suite->keeps_memory);
  const Result<plan::Instance> instance = plan::ParseInstance(options.backend);
  Status status = instance.status();
  if (status.ok()) status = ReadBatch(&worker);
  if (!status.ok()) {
    std::cerr << "assay-worker: " << status.message() << "\n";
    return kUsage;
  }
  options.facts.settings = instance->settings;
  if (!options.module.empty()) UseModule(options.backend, options.module);
  Loaded::SetInstance(options.backend);
  if (!instance->carrier.empty()) {
    if (options.carrier.empty()) {
      options.carrier = file::ModulePath(instance->carrier);
    }
    SetOpener([&](const ModuleUse& use) {
      return OpenCarried(use, {options.carrier, instance->carrier, ""});
    });
  } else if (!options.in_process && !options.journal.empty()) {
    SetOpener([&](const ModuleUse& use) { return OpenInHost(use, &worker); });
  }
  RegisterFor(options.backend, BackendTags());
  const Result<int64_t> rank = plan::OwnRank(options.rank_variable);
  ExitIfFailed(rank.status());
  std::optional<RankLog> log;
  if (!options.rank_variable.empty() && !options.journal.empty()) {
    log.emplace(plan::LogOfRank(options.journal, *rank));
    ExitIfFailed(log->Open());
  }
  if (*rank > 0) return Follow();
  if (options.journal.empty()) return RUN_ALL_TESTS();

  Result<journal::Journal> journal = journal::Journal::Open(options.journal);
  ExitIfFailed(journal.status());
  worker.journal = *std::move(journal);
  if (InspectBackend(&worker)) RunBatch(&worker);
  ExitIfFailed(worker.journal->BatchEnd());
  // The children have done all that the backend does at exit.
  if (worker.forked != nullptr) _exit(0);
  return 0;
}

}  // namespace
}  // namespace assay::worker

#ifdef __SANITIZE_ADDRESS__
// What an MPI keeps until a rank ends is the library's. Its plugins are unloaded by then, so
// that no list of suppressions can name them.
extern "C" __attribute__((visibility("default"))) int __lsan_is_turned_off() {
  return assay::worker::TheWorker().options.rank_variable.empty() ? 0 : 1;
}
#endif

int main(int argc, char** argv) { return assay::worker::Main(argc, argv); }
