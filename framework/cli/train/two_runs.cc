// SPDX-License-Identifier: Apache-2.0

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "framework/cli/commands.h"
#include "framework/core/text.h"
#include "framework/file/module_path.h"
#include "framework/testing/plan/resolve.h"

extern char** environ;

namespace assay::train {
namespace {

/// Runs a program in the place of this one, as far as a terminal can tell, and
/// returns its exit code; that of the harness where a signal ended it.
Result<int> RunInPlace(const std::vector<std::string>& arguments) {
  std::vector<char*> argv;
  for (const std::string& argument : arguments) {
    argv.push_back(const_cast<char*>(argument.c_str()));
  }
  argv.push_back(nullptr);
  pid_t pid = 0;
  const int error =
      posix_spawn(&pid, argv[0], nullptr, nullptr, argv.data(), environ);
  if (error != 0) {
    return Internal("cannot start ", arguments[0], ": ", std::strerror(error));
  }
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  return Internal(arguments[0], " was ended by signal ", WTERMSIG(status));
}

/// A run, with the module of its backend.
struct Run {
  std::string spec;
  std::string module;
};

/// "BACKEND:REST", where BACKEND is an instance or a file.
Result<Run> RunOf(const std::string& text) {
  const size_t colon = text.find(':');
  ASSAY_ASSIGN_OR_RETURN(const plan::PlannedBackend backend,
                         plan::ResolveBackend(text.substr(0, colon)));
  const std::string rest = colon == std::string::npos ? "" : text.substr(colon);
  return Run{backend.instance + rest, backend.module.string()};
}

/// The words of a command of the trainer about two runs.
Result<std::vector<std::string>> ArgumentsFor(
    const char* command, const cli::OptDiffOptions& options) {
  ASSAY_ASSIGN_OR_RETURN(const Run a, RunOf(options.a));
  ASSAY_ASSIGN_OR_RETURN(const Run b, RunOf(options.b));
  ASSAY_ASSIGN_OR_RETURN(const plan::PlannedBackend oracle,
                         plan::ResolveBackend(options.oracle));
  return std::vector<std::string>{
      (file::InstallPrefix() / "bin" / "assay-trainer").string(),
      command,
      "--a",
      a.spec,
      "--a-module",
      a.module,
      "--b",
      b.spec,
      "--b-module",
      b.module,
      "--oracle",
      oracle.name,
      "--oracle-module",
      oracle.module.string(),
      "--model",
      options.model,
      "--steps",
      std::to_string(options.steps),
      "--batch",
      std::to_string(options.batch),
      "--seed",
      std::to_string(options.seed),
      "--parent",
      std::to_string(getpid())};
}

Result<int> OptDiff(const cli::OptDiffOptions& options) {
  ASSAY_ASSIGN_OR_RETURN(auto arguments, ArgumentsFor("optdiff", options));
  if (!options.table.empty()) {
    arguments.insert(arguments.end(), {"--table", options.table.string()});
  }
  return RunInPlace(arguments);
}

Result<int> FindCause(const cli::BisectOptions& options) {
  ASSAY_ASSIGN_OR_RETURN(auto arguments, ArgumentsFor("bisect", options));
  const auto add = [&](const char* name, const std::optional<int64_t>& seed) {
    if (!seed.has_value()) return;
    arguments.insert(arguments.end(), {name, std::to_string(*seed)});
  };
  add("--weights-seed-b", options.weights_seed_b);
  add("--order-seed-b", options.order_seed_b);
  return RunInPlace(arguments);
}

}  // namespace

int OptDiffCommand(const cli::OptDiffOptions& options) {
  const Result<int> code = OptDiff(options);
  return code.ok() ? *code : select::Fail(code.status());
}

int BisectCommand(const cli::BisectOptions& options) {
  const Result<int> code = FindCause(options);
  return code.ok() ? *code : select::Fail(code.status());
}

}  // namespace assay::train
