// SPDX-License-Identifier: Apache-2.0

#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "framework/cli/commands.h"
#include "framework/cli/select/terminal.h"
#include "framework/core/status.h"
#include "framework/core/text.h"
#include "framework/file/csv.h"
#include "framework/file/file.h"
#include "framework/file/module_path.h"
#include "framework/testing/plan/resolve.h"
#include "framework/train/program/trainer_request.h"
#include "framework/train/rule/optimizers.h"

extern char** environ;

namespace assay::train {
namespace {

namespace fs = std::filesystem;

/// A file in memory with that text, which a child inherits.
Result<file::Descriptor> FileOf(const std::string& text) {
  file::Descriptor file(memfd_create("request", 0));
  if (file.get() < 0 ||
      write(file.get(), text.data(), text.size()) != std::ssize(text)) {
    return ResourceExhausted("cannot write a request: ", std::strerror(errno));
  }
  return file;
}

/// Resolves the backend of a run (SplitRun), which is an instance or a file. As
/// plan::ResolveBackend.
Status Resolve(std::string* run, std::string* module) {
  const size_t end = SplitRun(*run).backend.size();
  ASSAY_ASSIGN_OR_RETURN(const plan::PlannedBackend backend,
                         plan::ResolveBackend(run->substr(0, end)));
  *run = backend.instance + run->substr(end);
  *module = backend.module.string();
  return OkStatus();
}

/// Runs it in the place of this program, as far as a terminal can tell, and
/// returns its exit code. Internal where a signal ended it.
Result<int> RunTrainerOn(const std::string& request) {
  const std::string program =
      (file::InstallPrefix() / "bin" / "assay-trainer").string();
  ASSAY_ASSIGN_OR_RETURN(const file::Descriptor given, FileOf(request));
  const std::string file = StrCat("/proc/self/fd/", given.get());
  char* const argv[] = {const_cast<char*>(program.c_str()),
                        const_cast<char*>(file.c_str()), nullptr};
  // The trainer answers the signals of a terminal; it begins with the defaults.
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGQUIT}) {
    std::signal(signal, SIG_IGN);
    sigaddset(&signals, signal);
  }
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  posix_spawnattr_setsigdefault(&attributes, &signals);
  pid_t pid = 0;
  const int error =
      posix_spawn(&pid, program.c_str(), nullptr, &attributes, argv, environ);
  posix_spawnattr_destroy(&attributes);
  if (error != 0) {
    return Internal("cannot start ", program, ": ", std::strerror(error));
  }
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  if (WTERMSIG(status) == SIGINT) return select::kExitStopped;
  return Internal(program, " was ended by signal ", WTERMSIG(status));
}

/// The trainer ends with this process.
template <class Request>
Result<int> RunTrainer(Request request) {
  request.parent = getpid();
  return RunTrainerOn(request::TextOf(request));
}

/// The request that a run was begun with, as the trainer leaves it there.
constexpr char kRequest[] = "train.txt";

/// runs/20261126T120000Z-lenet5, also of lenet5.onnx in a folder.
fs::path NewFolder(const std::string& model) {
  const std::time_t now = std::time(nullptr);
  char text[32];
  std::strftime(text, sizeof(text), "%Y%m%dT%H%M%SZ", std::gmtime(&now));
  const fs::path folder =
      fs::path("runs") / StrCat(text, "-", fs::path(model).stem().string());
  // Where two runs begin in one second, the second has another name.
  return fs::exists(folder) ? fs::path(StrCat(folder.string(), "-", getpid()))
                            : folder;
}

Result<program::TrainRequest> NewRequest(const cli::TrainOptions& options) {
  ASSAY_RETURN_IF_ERROR(MakeOptimizer(WantedOf(options.optimizer)).status());
  program::TrainRequest request = options.request;
  request.run = StrCat(options.backend, ":", options.optimizer);
  ASSAY_RETURN_IF_ERROR(Resolve(&request.run, &request.module));
  return request;
}

/// A request of the words that the trainer left before there were requests: the
/// name of an option, as "--micro-batch", and its value, a line each.
std::string TextOfWords(std::string_view words) {
  std::string text = "request,train\n";
  while (!words.empty()) {
    std::string_view option = CutFront(&words);
    CutFront(&option, "--");
    std::string name(option);
    std::ranges::replace(name, '-', '_');
    text += StrCat(name, ",");
    file::AppendCsvField(text, CutFront(&words));
    text += '\n';
  }
  return text;
}

Result<program::TrainRequest> RequestIn(const fs::path& folder) {
  if (!fs::exists(folder / kRequest)) {
    return InvalidArgument("found no ", kRequest, " in ", folder.string(),
                           ", wanted the folder of a training run");
  }
  ASSAY_ASSIGN_OR_RETURN(std::string text, file::ReadFile(folder / kRequest));
  if (text.starts_with("--")) text = TextOfWords(text);
  auto request = request::Parse<program::TrainRequest>(text);
  if (request.ok()) return request;
  return request.status().WithContext((folder / kRequest).string());
}

Result<int> Run(const cli::TrainOptions& options) {
  const bool goes_on = !options.resume.empty();
  Result<program::TrainRequest> request =
      goes_on ? RequestIn(options.resume) : NewRequest(options);
  if (!request.ok()) return request.status();
  request->goes_on = goes_on;
  if (goes_on) request->out = options.resume;
  if (request->out.empty()) request->out = NewFolder(request->model);
  const auto take = [](const auto& given, auto* value) {
    if (given.has_value()) *value = *given;
  };
  take(options.epochs, &request->epochs);
  take(options.checkpoint_every, &request->checkpoint_every);
  take(options.stop_at, &request->stop_at);
  take(options.seconds, &request->seconds);
  return RunTrainer(*std::move(request));
}

/// Trains two runs in step, with the oracle beside them.
template <class PairRequest>
Result<int> RunPair(PairRequest request) {
  ASSAY_RETURN_IF_ERROR(Resolve(&request.a, &request.a_module));
  ASSAY_RETURN_IF_ERROR(Resolve(&request.b, &request.b_module));
  ASSAY_ASSIGN_OR_RETURN(const plan::PlannedBackend oracle,
                         plan::ResolveBackend("reference"));
  request.oracle = oracle.name;
  request.oracle_module = oracle.module.string();
  return RunTrainer(std::move(request));
}

Result<int> Converge(program::ConvergeRequest request) {
  ASSAY_RETURN_IF_ERROR(Resolve(&request.a, &request.a_module));
  if (!request.b.empty()) {
    ASSAY_RETURN_IF_ERROR(Resolve(&request.b, &request.b_module));
  }
  return RunTrainer(std::move(request));
}

}  // namespace

int TrainCommand(const cli::TrainOptions& options) {
  return select::ExitCodeOf(Run(options));
}

int OptDiffCommand(const program::OptDiffRequest& typed) {
  return select::ExitCodeOf(RunPair(typed));
}

int BisectCommand(const program::BisectRequest& typed) {
  return select::ExitCodeOf(RunPair(typed));
}

int ConvergeCommand(const program::ConvergeRequest& typed) {
  return select::ExitCodeOf(Converge(typed));
}

}  // namespace assay::train
