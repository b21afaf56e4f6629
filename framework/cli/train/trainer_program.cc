// SPDX-License-Identifier: Apache-2.0

#include "framework/cli/train/trainer_program.h"

#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <iterator>

#include "framework/cli/select/exit_code.h"
#include "framework/core/text.h"
#include "framework/file/descriptor.h"
#include "framework/file/module_path.h"
#include "framework/testing/plan/resolve.h"

extern char** environ;

namespace assay::train {
namespace {

/// A file in memory with that text, which a child inherits.
Result<file::Descriptor> FileOf(const std::string& text) {
  file::Descriptor file(memfd_create("request", 0));
  if (file.get() < 0 ||
      write(file.get(), text.data(), text.size()) != std::ssize(text)) {
    return ResourceExhausted("cannot write a request: ", std::strerror(errno));
  }
  return file;
}

}  // namespace

Result<TrainerRun> TrainerRunOf(const std::string& text) {
  const size_t colon = text.find(':');
  ASSAY_ASSIGN_OR_RETURN(const plan::PlannedBackend backend,
                         plan::ResolveBackend(text.substr(0, colon)));
  const std::string rest = colon == std::string::npos ? "" : text.substr(colon);
  return TrainerRun{backend.instance + rest, backend.module.string()};
}

Result<int> RunTrainerOn(const std::string& request) {
  const std::string program =
      (file::InstallPrefix() / "bin" / "assay-trainer").string();
  ASSAY_ASSIGN_OR_RETURN(const file::Descriptor given, FileOf(request));
  const std::string file = StrCat("/proc/self/fd/", given.get());
  char* const argv[] = {const_cast<char*>(program.c_str()),
                        const_cast<char*>(file.c_str()), nullptr};
  // What a terminal sends is the trainer's to answer; it begins with the
  // defaults.
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

}  // namespace assay::train
