// SPDX-License-Identifier: Apache-2.0
//
// assay-worker: a GoogleTest program around one backend. The supervisor gives
// it a request (worker_request.h) and reads its journal; a person may run the
// same request without one, by giving a flag of GoogleTest:
//
//   assay-worker records/onednn.1.request --gtest_filter='node/onednn.*conv*'
//
// Exit codes: GoogleTest's own without a journal; with one, 0 once the batch is
// through whatever its verdicts, 2 for wrong usage, 99 when the journal cannot
// be written, or a test failed: verdicts are in the journal, and fail none.

#include <gtest/gtest.h>
#include <malloc.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <functional>
#include <iostream>
#include <memory>
#include <optional>

#include "backend_tags.h"
#include "framework/backend/registry.h"
#include "framework/core/text.h"
#include "framework/file/file.h"
#include "framework/file/module_path.h"
#include "framework/graph/model_text.h"
#include "framework/graph/types/check.h"
#include "framework/testing/host/crash_report.h"
#include "framework/testing/host/end_like.h"
#include "framework/testing/host/remote_backend.h"
#include "framework/testing/host/wire/arena.h"
#include "framework/testing/journal/journal.h"
#include "framework/testing/plan/instance.h"
#include "framework/testing/plan/launch.h"
#include "framework/testing/record/tables.h"
#include "framework/testing/request/request.h"
#include "framework/testing/suite/unjudged_suites.h"
#include "framework/testing/worker/backend_test.h"
#include "framework/testing/worker/batch_place.h"
#include "framework/testing/worker/case_runner.h"
#include "framework/testing/worker/forked_batch.h"
#include "framework/testing/worker/host_process.h"
#include "framework/testing/worker/hosted.h"
#include "framework/testing/worker/open_backend.h"
#include "framework/testing/worker/process_state.h"
#include "framework/testing/worker/rank_log.h"

namespace assay::worker {
namespace {

constexpr int kUsage = 2;
constexpr int kHarness = 99;

/// The one run of this process, reachable from the tests that GoogleTest makes.
struct Worker {
  request::WorkerRequest wanted;
  std::vector<record::PlanRow> rows;
  std::optional<journal::Journal> journal;
  std::unique_ptr<CaseRunner> runner;
  std::unique_ptr<ForkedBatch> forked;  // where children run the cases
  std::unique_ptr<HostProcess> host;    // the backend's, where it has its own
  std::unique_ptr<HostedCases> hosted;  // run there
  bool tells_outcomes = false;          // to GoogleTest, for lack of a journal
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
  ExitIfFailed(
      worker.journal->Write(journal::FrameKind::kMapped, MappedFiles()));
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

/// Memory is kept for the next case rather than given back to the system,
/// unless the suite asks otherwise.
void KeepMemory(bool all) {
  TheWorker().keeps_memory = all;
  mallopt(M_MMAP_THRESHOLD, all ? 1 << 30 : 1 << 27);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
}

/// Leaves the other cases to another process after a great case: the memory
/// that the case gives back leaves holes.
void LeaveRestAfter(const record::ResultRow& result) {
  constexpr int64_t kGreatKilobytes = int64_t{1} << 19;
  Worker& worker = TheWorker();
  if (worker.keeps_memory || result.peak_rss_kb < kGreatKilobytes) return;
  worker.n_run = worker.wanted.cases_per_process;
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

/// Tells GoogleTest what a person is to see of a case.
void TellOutcome(const record::ResultRow& result) {
  if (result.outcome == record::Outcome::kUnsupported) {
    GTEST_SKIP() << result.message;
  }
  if (result.outcome != record::Outcome::kPass) {
    ADD_FAILURE() << result.outcome << ": " << result.message;
  }
}

/// Runs one row and writes its record; without a journal GoogleTest is told.
void RunRow(const record::PlanRow& row, const Opened& opened) {
  Worker& worker = TheWorker();
  if (worker.forked != nullptr && !worker.forked->Take()) return;
  if (worker.journal) {
    // The supervisor goes on with the rest in a worker of its own.
    if (worker.forked == nullptr && worker.hosted == nullptr &&
        worker.n_run++ >= worker.wanted.cases_per_process) {
      return;
    }
    if (worker.hosted != nullptr) ExitIfFailed(worker.hosted->Ready());
    ExitIfFailed(worker.journal->Begin(row.test_id, worker.hosted != nullptr
                                                        ? worker.hosted->pid()
                                                        : getpid()));
  }
  if (worker.runner == nullptr) {
    worker.runner = std::make_unique<CaseRunner>(opened, worker.wanted.facts,
                                                 EndOf(worker));
  }
  CasePlace() = {&row - worker.rows.data(), std::ssize(worker.rows)};
  record::Record record = worker.runner->Run(row);
  if (worker.hosted != nullptr) return WriteHosted(worker, std::move(record));
  if (worker.journal) {
    KeepJournal(*worker.journal, &record.result);
    NoteFiles(worker);  // a case may have loaded more
    ExitIfFailed(worker.journal->Append(record));
    if (worker.forked != nullptr) worker.forked->Done();
    LeaveRestAfter(record.result);
  }
  if (worker.tells_outcomes) TellOutcome(record.result);
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
                         file::ReadFile(worker->wanted.batch));
  ASSAY_ASSIGN_OR_RETURN(worker->rows, record::ParseCsv<record::PlanRow>(csv));
  std::erase_if(worker->rows, [&](const record::PlanRow& row) {
    return row.backend != worker->wanted.backend;
  });
  if (worker->rows.empty()) {
    return InvalidArgument(worker->wanted.batch, " has no case for ",
                           worker->wanted.backend);
  }
  return OkStatus();
}

/// Writes what the backend says of itself, the first frame of a batch. Where it
/// cannot be used, every case gets that as its verdict, and the answer is no.
bool InspectBackend(Worker* worker) {
  const request::WorkerRequest& wanted = worker->wanted;
  record::BackendRow row;
  row.run_id = wanted.facts.run_id;
  row.backend = wanted.backend;
  const Result<Opened*> opened = SharedModule(wanted.backend);
  if (worker->host != nullptr) {
    worker->hosted = std::make_unique<HostedCases>(
        *worker->host, *worker->journal, wanted.cases_per_process,
        [worker](pid_t pid) {
          ExitIfFailed(worker->journal->Write(journal::FrameKind::kMapped,
                                              MappedFiles({pid})));
        });
    row.reach = worker->host->reach();
    ExitIfFailed(worker->hosted->Ready());
  } else if (wanted.in_process) {
    row.reach = "it ran in the process that judged it";
  }
  const Result<Probe> probe = opened.ok()
                                  ? (*opened)->InspectAs(wanted.facts.settings)
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
    record.result = record::ResultOf(planned, wanted.facts);
    record.result.outcome =
        missing ? record::Outcome::kUnavailable : record::Outcome::kError;
    record.result.reason_code = ToString(probe.status().reason());
    record.result.message = probe.status().message();
    ExitIfFailed(worker->journal->Append(record));
  }
  return false;
}

constexpr char kHelp[] =
    "assay-worker REQUEST [--gtest_FLAG...]\n\n"
    "Runs a batch of cases on one backend. The program assay writes the file "
    "REQUEST;\nthe last one of a worker stays in a run's folder, as "
    "records/acme.1.request. With a\nflag of GoogleTest it runs for a person, "
    "without a journal: --gtest_list_tests,\n--gtest_filter='*'.\n\n"
    "Fields of a request, a line each, FIELD,VALUE:\n";

/// The request in the file that is the one argument.
Status ReadRequest(int argc, char** argv, bool by_person,
                   request::WorkerRequest* into) {
  if (argc != 2) {
    return InvalidArgument("found ", argc - 1,
                           " arguments, wanted the file of a request, as "
                           "--help says");
  }
  ASSAY_ASSIGN_OR_RETURN(*into,
                         request::ReadFrom<request::WorkerRequest>(argv[1]));
  if (by_person) {
    into->journal.clear();
    into->parent = 0;
  }
  const std::string& suite = into->facts.suite;
  if (suite.empty() || suite::FindSuite(suite) != nullptr) return OkStatus();
  return InvalidArgument(argv[1], ": found the suite '", suite,
                         "', wanted one that there is");
}

/// The backend in a process of its own.
Result<Opened> OpenInHost(const ModuleUse& use, Worker* worker) {
  HostProcess::End end;
  auto host = HostProcess::Start(file::InstallPrefix() / "bin" / "assay-host",
                                 use, worker->wanted.walls,
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

/// Ends with the supervisor, whatever way that ends; of those that were
/// launched, with the launcher, which does.
Status FollowParent(const request::WorkerRequest& wanted) {
  if (wanted.parent == 0 && wanted.rank_variable.empty()) return OkStatus();
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (wanted.parent == 0 || getppid() == wanted.parent) return OkStatus();
  return Cancelled("found process ", getppid(), " as parent, wanted ",
                   wanted.parent,
                   "; with --gtest_filter='*' it runs for a person");
}

/// "NAME: MESSAGE" of each test that failed.
std::string FailuresText() {
  std::vector<std::string> failures;
  const testing::UnitTest& all = *testing::UnitTest::GetInstance();
  for (int i = 0; i < all.total_test_suite_count(); ++i) {
    const testing::TestSuite& tests = *all.GetTestSuite(i);
    for (int j = 0; j < tests.total_test_count(); ++j) {
      const testing::TestResult& result = *tests.GetTestInfo(j)->result();
      for (int k = 0; k < result.total_part_count(); ++k) {
        const testing::TestPartResult& part = result.GetTestPartResult(k);
        if (!part.failed()) continue;
        failures.push_back(StrCat(tests.name(), ".",
                                  tests.GetTestInfo(j)->name(), ": ",
                                  part.message()));
      }
    }
  }
  return Joined(failures, "; ");
}

/// Runs the tests, of which none may fail: the verdicts are in the journal.
void RunTests() {
  auto& listeners = testing::UnitTest::GetInstance()->listeners();
  delete listeners.Release(listeners.default_result_printer());
  if (RUN_ALL_TESTS() == 0) return;
  const std::string failures = FailuresText();
  auto& journal = TheWorker().journal;
  if (journal)
    ExitIfFailed(journal->Write(journal::FrameKind::kFault, failures));
  ExitIfFailed(Internal("a test failed: ", failures));
}

/// Runs the batch in children where that can be and is worth it, else here.
void RunBatch(Worker* worker) {
  if (worker->hosted != nullptr) {
    RunTests();
    return ExitIfFailed(worker->hosted->Close());
  }
  const bool is_launched = !worker->wanted.rank_variable.empty();
  if (worker->rows.size() == 1 || is_launched || !ForkedBatch::IsPossible()) {
    return RunTests();
  }
  // ONNX's schemas are made at the first check, which else each child would do.
  static_cast<void>(types::CheckModel(*graph::ModelOfText(
      "warm (float[1] x) => (float[1] y) { y = Relu(x) }")));
  worker->forked =
      std::make_unique<ForkedBatch>(static_cast<int64_t>(worker->rows.size()),
                                    worker->wanted.cases_per_process);
  ExitIfFailed(worker->forked->Run(*worker->journal, RunTests));
}

/// How the backend of the request is opened.
void SetOpenerFor(const plan::Instance& instance, Worker* worker) {
  request::WorkerRequest& wanted = worker->wanted;
  if (!wanted.module.empty()) UseModule(wanted.backend, wanted.module);
  Loaded::SetInstance(wanted.backend);
  if (!instance.carrier.empty()) {
    const std::string file = wanted.carrier.empty()
                                 ? file::ModulePath(instance.carrier).string()
                                 : wanted.carrier;
    SetOpener([file, name = instance.carrier](const ModuleUse& use) {
      return OpenCarried(use, {file, name, ""});
    });
  } else if (!wanted.in_process && !wanted.journal.empty()) {
    SetOpener(
        [worker](const ModuleUse& use) { return OpenInHost(use, worker); });
  }
}

/// Runs the tests of a process that has a journal, or follows one that has.
int Run(const request::WorkerRequest& wanted, Worker* worker) {
  const Result<int64_t> rank = plan::OwnRank(wanted.rank_variable);
  ExitIfFailed(rank.status());
  std::optional<RankLog> log;
  if (!wanted.rank_variable.empty() && !wanted.journal.empty()) {
    log.emplace(plan::LogOfRank(wanted.journal, *rank));
    ExitIfFailed(log->Open());
  }
  if (*rank > 0) {
    // It runs what the first rank runs, and judges and writes nothing.
    RunTests();
    return 0;
  }
  if (wanted.journal.empty()) {
    worker->tells_outcomes = true;
    return RUN_ALL_TESTS();
  }

  Result<journal::Journal> journal = journal::Journal::Open(wanted.journal);
  ExitIfFailed(journal.status());
  worker->journal = *std::move(journal);
  if (InspectBackend(worker)) RunBatch(worker);
  ExitIfFailed(worker->journal->Write(journal::FrameKind::kBatchEnd));
  // The children have done all that the backend does at exit.
  if (worker->forked != nullptr) _exit(0);
  return 0;
}

int Main(int argc, char** argv) {
  suite::AddSuite(suite::AnswersSuite());
  suite::AddSuite(suite::OutputsSuite());
  suite::AddSuite(suite::InterfacesSuite());
  if (argc == 2 && std::string_view(argv[1]) == "--help") {
    std::cout << kHelp << request::FieldsOf(request::WorkerRequest::form());
    return 0;
  }
  const int given = argc;
  testing::InitGoogleTest(&argc, argv);
  Worker& worker = TheWorker();
  Status status =
      ReadRequest(argc, argv, /*by_person=*/argc < given, &worker.wanted);
  if (status.ok()) ExitIfFailed(FollowParent(worker.wanted));
  Result<plan::Instance> instance = status;
  if (status.ok()) instance = plan::ParseInstance(worker.wanted.backend);
  status = instance.ok() ? ReadBatch(&worker) : instance.status();
  if (!status.ok()) {
    std::cerr << "assay-worker: " << status.message() << "\n";
    return kUsage;
  }
  // Launchers say themselves how a rank ended.
  if (worker.wanted.rank_variable.empty()) host::ReportCrashes();
  const suite::Suite* const suite = suite::FindSuite(worker.wanted.facts.suite);
  KeepMemory(suite == nullptr || suite->keeps_memory);
  worker.wanted.facts.settings = instance->settings;
  const std::string& beside = worker.wanted.facts.beside;
  if (!beside.empty()) StartAtSameAddresses();
  OwnOfWorker() = {worker.wanted.backend,
                   worker.wanted.module.empty()
                       ? file::ModulePath(instance->name).string()
                       : worker.wanted.module,
                   worker.wanted.walls};
  if (!beside.empty() && !instance->settings.contains("threads") &&
      beside.find("+threads=") == std::string::npos) {
    StayOnOneCore();
  }
  SetOpenerFor(*instance, &worker);
  RegisterFor(worker.wanted.backend, BackendTags());
  return Run(worker.wanted, &worker);
}

}  // namespace
}  // namespace assay::worker

#ifdef __SANITIZE_ADDRESS__
// An MPI keeps its memory until a rank ends, and its plugins are
// unloaded by then, so that no list of suppressions can name them.
extern "C" __attribute__((visibility("default"))) int __lsan_is_turned_off() {
  return assay::worker::TheWorker().wanted.rank_variable.empty() ? 0 : 1;
}
#endif

int main(int argc, char** argv) { return assay::worker::Main(argc, argv); }
