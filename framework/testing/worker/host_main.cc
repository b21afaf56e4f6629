// SPDX-License-Identifier: Apache-2.0
//
// assay-host: loads a module and serves its backend to a worker
// (host_process.h), which starts it; nobody else does.
//
// The messages of its door: the request; why there are no walls, if so; what
// came of opening the backend; for each "serve", which brings a channel, the
// process that serves it; and how that one ended.

#include <fcntl.h>
#include <malloc.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <string_view>

#include "framework/file/csv.h"
#include "framework/graph/model_text.h"
#include "framework/graph/types/check.h"
#include "framework/testing/host/crash_report.h"
#include "framework/testing/host/end_like.h"
#include "framework/testing/host/server.h"
#include "framework/testing/host/wire/channel.h"
#include "framework/testing/host/wire/wire.h"
#include "framework/testing/request/request.h"
#include "framework/testing/walls/walls.h"
#include "framework/testing/worker/forked_batch.h"
#include "framework/testing/worker/host_process.h"
#include "framework/testing/worker/open_backend.h"
#include "framework/testing/worker/process_state.h"

namespace assay::worker {
namespace {

constexpr int kUsage = 2;

struct stat StatOf(int fd) {
  struct stat info = {};
  fstat(fd, &info);
  return info;
}

/// The channel at a number that others seldom close and use again.
wire::Channel OutOfTheWay(wire::Channel channel) {
  constexpr int kHigh = 1000;
  const int high = fcntl(channel.descriptor(), F_DUPFD_CLOEXEC, kHigh);
  return high < 0 ? std::move(channel) : wire::Channel(wire::Descriptor(high));
}

/// Answers until the worker closes its end, then ends as a program does, with
/// what the backend does at exit.
[[noreturn]] void Serve(Backend& backend, wire::Channel given) {
  wire::Channel channel = OutOfTheWay(std::move(given));
  const struct stat socket = StatOf(channel.descriptor());
  const ProcessState before = ProcessState::Capture();
  const Leftovers clean;
  if (!channel.Send("serves").ok()) _exit(EXIT_FAILURE);
  host::Server server(backend, [&] {
    host::CaseEnd end;
    end.changed = before.Restore();
    end.replace = !end.changed.empty() || !clean.Found().empty();
    end.n_libraries = LibrariesLoaded();
    end.peak_rss_kb = PeakRssKilobytes();
    return end;
  });
  server.Serve(&channel);
  const struct stat now = StatOf(channel.descriptor());
  if (now.st_dev != socket.st_dev || now.st_ino != socket.st_ino) {
    _exit(kChannelLost);
  }
  std::exit(EXIT_SUCCESS);
}

/// Closes all descriptors but the door and the standard streams: one that the
/// worker's parents left open may be a folder outside of the walls.
void CloseAllBut(int door) {
  const auto number = static_cast<unsigned>(door);
  if (number > STDERR_FILENO + 1) {
    close_range(STDERR_FILENO + 1, number - 1, 0);
  }
  close_range(number + 1, ~0U, 0);
}

template <class... Items>
bool Tell(wire::Channel* door, const Items&... items) {
  return door->Send(wire::Written(items...).bytes()).ok();
}

/// Ends all that can be seen from here but the first process and this one.
void EndOthers() {
  constexpr int kMostLooks = 1000;
  for (int i = 0; i < kMostLooks && kill(-1, SIGKILL) == 0; ++i) usleep(1000);
}

/// Forks a process that serves, and tells how it ended. With `alone` nothing
/// that it has started goes on.
bool ServeInChild(Backend& backend, wire::Channel* door, wire::Channel channel,
                  bool alone) {
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(EXIT_FAILURE);
    door->Close();
    Serve(backend, std::move(channel));
  }
  channel.Close();
  if (child < 0) {
    return Tell(door, ResourceExhausted("cannot fork: ", std::strerror(errno)));
  }
  if (!Tell(door, OkStatus())) return false;
  const auto ended = static_cast<uint64_t>(host::WaitFor(child));
  if (alone) EndOthers();
  return Tell(door, ended);
}

constexpr char kHelp[] =
    "assay-host DESCRIPTOR\n\n"
    "Serves the backend of a module to a worker, which starts it and sends the "
    "request\nas the first message through a socket that it leaves open at "
    "that number.\n\nFields of a request, a line each, FIELD,VALUE:\n";

/// The door at the number that is the one argument, closing all else.
Result<wire::Channel> OpenDoor(int argc, char** argv) {
  const auto number = argc == 2 ? file::ParseInt(argv[1]) : std::nullopt;
  if (!number.has_value() || *number <= STDERR_FILENO ||
      fcntl(static_cast<int>(*number), F_GETFD) < 0) {
    return InvalidArgument("found ", argc == 2 ? argv[1] : "no one argument",
                           ", wanted the number of an open descriptor, as "
                           "--help says");
  }
  CloseAllBut(static_cast<int>(*number));
  return wire::Channel(wire::Descriptor(static_cast<int>(*number)));
}

/// The request that comes through the door.
Result<request::HostRequest> ReadRequest(wire::Channel* door) {
  const Result<wire::Message> message = door->Receive();
  if (!message.ok()) return message.status().WithContext("a request");
  return request::Parse<request::HostRequest>(message->text);
}

/// Loads the module of the request and serves its backend, as often as somebody
/// asks.
int ServeModule(const request::HostRequest& wanted, wire::Channel door) {
  // Memory is kept for the next case rather than given back to the system.
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  const Status walls = walls::BuildWalls(wanted.walls);
  // Before the module could say it.
  if (!door.Send(walls.message()).ok()) return 0;
  host::ReportCrashes();
  host::EnterPhase("the load of the module");
  auto backend = OpenBackend({wanted.module, wanted.name, wanted.version});
  host::EnterPhase(nullptr);
  const bool forks = backend.ok() && wanted.forks && ForkedBatch::IsPossible();
  // ONNX's schemas are made at the first check, which else each child would do.
  if (forks) {
    static_cast<void>(types::CheckModel(*graph::ModelOfText(
        "warm (float[1] x) => (float[1] y) { y = Relu(x) }")));
  }
  if (!Tell(&door, backend.status(), forks) || !backend.ok()) return 0;
  // A helper that the module has started when it was loaded stays.
  const bool alone = walls.ok() && kill(-1, 0) != 0;
  while (true) {
    auto message = door.Receive();
    if (!message.ok() || message->descriptors.size() != 1) return 0;
    wire::Channel channel(std::move(message->descriptors[0]));
    if (!forks) {
      if (!Tell(&door, OkStatus())) return 0;
      door.Close();
      Serve(**backend, std::move(channel));
    }
    if (!ServeInChild(**backend, &door, std::move(channel), alone)) return 0;
  }
}

int Main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "--help") {
    std::cout << kHelp << request::FieldsOf(request::HostRequest::form());
    return 0;
  }
  Result<wire::Channel> door = OpenDoor(argc, argv);
  Result<request::HostRequest> wanted = door.status();
  if (door.ok()) wanted = ReadRequest(&*door);
  if (!wanted.ok()) {
    std::cerr << "assay-host: " << wanted.status().message() << "\n";
    return kUsage;
  }
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (wanted->parent != 0 && getppid() != wanted->parent) return kUsage;
  return ServeModule(*wanted, *std::move(door));
}

}  // namespace
}  // namespace assay::worker

int main(int argc, char** argv) { return assay::worker::Main(argc, argv); }
