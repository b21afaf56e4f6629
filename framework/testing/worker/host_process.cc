// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/worker/host_process.h"

#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <vector>

#include "framework/testing/host/end_like.h"
#include "framework/testing/host/wire/wire.h"
#include "framework/testing/request/request.h"

extern char** environ;

namespace assay::worker {
namespace {

Result<pid_t> Spawn(const std::vector<std::string>& arguments, int inherited) {
  std::vector<char*> argv;
  for (const std::string& argument : arguments) {
    argv.push_back(const_cast<char*>(argument.c_str()));
  }
  argv.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  // Onto itself: stays open in the program.
  posix_spawn_file_actions_adddup2(&files, inherited, inherited);
  pid_t pid = 0;
  const int error =
      posix_spawn(&pid, argv[0], &files, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  if (error != 0) {
    return Internal("cannot start ", arguments[0], ": ", std::strerror(error));
  }
  return pid;
}

void MakeError(record::Record* record, Reason reason, std::string message) {
  record->result.outcome = record::Outcome::kError;
  record->result.reason_code = ToString(reason);
  record->result.message = std::move(message);
}

}  // namespace

Result<std::unique_ptr<HostProcess>> HostProcess::Start(
    const std::filesystem::path& program, const ModuleUse& use,
    const walls::Walls& walls, bool forks, End* end) {
  auto host =
      std::unique_ptr<HostProcess>(new HostProcess(program, use, walls, forks));
  ASSAY_RETURN_IF_ERROR(host->Launch(end));
  return host;
}

Status HostProcess::Launch(End* end) {
  ASSAY_ASSIGN_OR_RETURN(auto ends, wire::Channel::MakePair());
  const int inherited = ends.second.descriptor();
  ASSAY_RETURN_IF_ERROR(ends.first.Send(request::TextOf(request::HostRequest{
      use_.file, use_.name, use_.version, getpid(), forks_, walls_})));
  ASSAY_ASSIGN_OR_RETURN(
      program_pid_,
      Spawn({program_.string(), std::to_string(inherited)}, inherited));
  ends.second.Close();
  door_ = std::move(ends.first);
  Result<wire::Message> ready = door_.Receive();
  if (ready.ok()) {
    reach_ = ready->text;
    ready = door_.Receive();
  }
  if (!ready.ok()) {
    *end = Reap();
    return Cancelled("the process of ", use_.file, " ended");
  }
  wire::Reader in(ready->text);
  const auto opened = in.Read<Status>();
  forks_ = in.Flag();
  return in.Fault().ok() ? opened : in.Fault();
}

Status HostProcess::Begin(End* end) {
  if (program_pid_ == 0) ASSAY_RETURN_IF_ERROR(Launch(end));
  ASSAY_ASSIGN_OR_RETURN(auto ends, wire::Channel::MakePair());
  ASSAY_RETURN_IF_ERROR(ends.first.AskWhoSends());
  const Status sent = door_.Send("serve", {}, {ends.second.descriptor()});
  ends.second.Close();
  const Result<wire::Message> begun = sent.ok() ? door_.Receive() : sent;
  if (!begun.ok()) {
    *end = Reap();
    return Cancelled("the process of ", use_.file, " ended");
  }
  wire::Reader in(begun->text);
  ASSAY_RETURN_IF_ERROR(in.Read<Status>());
  // Behind walls it does not know its number outside.
  const Result<wire::Message> first = ends.first.Receive();
  if (!first.ok() || first->sender == 0) {
    Kill();
    return Internal("the process of ", use_.file, " did not begin to serve");
  }
  pid_ = first->sender;
  link_.Attach(
      std::move(ends.first),
      wire::Descriptor(static_cast<int>(syscall(SYS_pidfd_open, pid_, 0U))));
  return OkStatus();
}

/// The program is gone, or about to be.
HostProcess::End HostProcess::Reap() {
  const End end{program_pid_, host::WaitFor(program_pid_)};
  program_pid_ = pid_ = 0;
  door_.Close();
  return end;
}

HostProcess::End HostProcess::Finish() {
  link_.Detach();
  if (!forks_) return Reap();
  const Result<wire::Message> ended = door_.Receive();
  if (!ended.ok()) return Reap();
  wire::Reader in(ended->text);
  const auto status = static_cast<int>(in.Number());
  const pid_t pid = std::exchange(pid_, 0);
  return {pid, status};
}

void HostProcess::Kill() {
  link_.Detach();
  if (pid_ > 0) kill(pid_, SIGKILL);
  if (forks_ && pid_ > 0) {
    Finish();
  } else if (program_pid_ > 0) {
    kill(program_pid_, SIGKILL);
    Reap();
  }
}

HostProcess::~HostProcess() {
  if (program_pid_ == 0) return;
  kill(program_pid_, SIGKILL);
  Reap();
}

Status HostedCases::Ready() {
  if (host_.serves() && host_.link().EndedMeanwhile()) {
    const auto [pid, wait_status] = host_.Finish();
    ASSAY_RETURN_IF_ERROR(journal_.Ended(pid, wait_status));
  }
  if (host_.serves()) return OkStatus();
  HostProcess::End end;
  const Status begun = host_.Begin(&end);
  if (begun.code() == StatusCode::kCancelled) host::EndLike(end.wait_status);
  ASSAY_RETURN_IF_ERROR(begun);
  n_run_ = 0;
  n_libraries_ = 0;
  note_files_(host_.pid());
  return OkStatus();
}

host::CaseEnd HostedCases::End() {
  ++n_run_;
  end_ = {};
  Result<host::Answer> answer =
      host::Answer::To(host_.link(), wire::Call::kCaseEnd, wire::Writer());
  if (!answer.ok()) {
    if (!host_.link().is_gone()) {
      static_cast<void>(host_.link().Refuse(answer.status()));
    }
    return end_;
  }
  wire::Reader& in = answer->in();
  end_.changed = in.Text();
  end_.n_libraries = in.Number();
  end_.replace = in.Flag();
  end_.peak_rss_kb = static_cast<int64_t>(in.Number());
  static_cast<void>(answer->End());
  return end_;
}

Result<bool> HostedCases::Settle(record::Record* record) {
  record->result.worker = std::to_string(host_.pid());
  if (!host_.link().is_gone()) {
    if (std::exchange(n_libraries_, end_.n_libraries) != end_.n_libraries) {
      note_files_(host_.pid());
    }
    return true;
  }
  const Status fault = host_.link().fault();
  if (!fault.ok()) {
    host_.Kill();
    MakeError(record, Reason::kStateChanged, fault.message());
    return true;
  }
  const HostProcess::End end = host_.Finish();
  if (WIFEXITED(end.wait_status) &&
      WEXITSTATUS(end.wait_status) == kChannelLost) {
    MakeError(record, Reason::kStateChanged,
              "the backend changed the process' descriptors");
    return true;
  }
  ASSAY_RETURN_IF_ERROR(journal_.Ended(
      end.pid, end.wait_status, wire::PhaseOf(host_.link().last_call())));
  return false;
}

Status HostedCases::Leave() {
  if (!host_.serves() || (!end_.replace && n_run_ < most_)) return OkStatus();
  return Close();
}

Status HostedCases::Close() {
  if (!host_.serves()) return OkStatus();
  const HostProcess::End end = host_.Finish();
  if (end.wait_status == 0) return OkStatus();
  return journal_.Ended(end.pid, end.wait_status);
}

}  // namespace assay::worker
