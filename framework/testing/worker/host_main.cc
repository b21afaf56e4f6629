// SPDX-License-Identifier: Apache-2.0
//
// assay-host: loads a module and serves its backend to a worker
// (host_process.h), which starts it; nobody else does.
//
// The messages of its door: why there are no walls, if so; what came of opening
// the backend; for each "serve", which brings a channel, the process that serves
// it; and how that one ended.

#include <fcntl.h>
#include <malloc.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include "framework/graph/model_text.h"
#include "framework/graph/types/check.h"
#include "framework/testing/host/end_like.h"
#include "framework/testing/host/server.h"
#include "framework/testing/host/wire/channel.h"
#include "framework/testing/host/wire/wire.h"
#include "framework/testing/walls/walls.h"
#include "framework/testing/worker/forked_batch.h"
#include "framework/testing/worker/host_process.h"
#include "framework/testing/worker/leftovers.h"
#include "framework/testing/worker/mapped_files.h"
#include "framework/testing/worker/open_backend.h"
#include "framework/testing/worker/process_state.h"

namespace assay::worker {
namespace {

constexpr int kUsage = 2;

struct HostOptions {
  ModuleUse use;
  int door = -1;
  int parent = 0;
  bool forks = true;
  walls::Walls walls;
};

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

/// What the worker's parents have left open may be a folder outside of the
/// walls.
void CloseAllBut(int door) {
  const auto number = static_cast<unsigned>(door);
  if (number > STDERR_FILENO + 1) {
    close_range(STDERR_FILENO + 1, number - 1, 0);
  }
  close_range(number + 1, ~0U, 0);
}

bool Tell(wire::Channel* door, const Status& status) {
  wire::Writer out;
  out.Put(status);
  return door->Send(out.bytes()).ok();
}

/// What came of opening the backend, and may the program fork.
bool TellReady(wire::Channel* door, const Status& opened, bool forks) {
  wire::Writer out;
  out.Put(opened);
  out.Put(uint64_t{forks ? 1U : 0U});
  return door->Send(out.bytes()).ok();
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
  wire::Writer out;
  out.Put(static_cast<uint64_t>(host::WaitFor(child)));
  if (alone) EndOthers();
  return door->Send(out.bytes()).ok();
}

int ParseOptions(int argc, char** argv, HostOptions* options) {
  CLI::App app("serves the backend of a module to a worker", "assay-host");
  app.add_option("--module", options->use.file, "its file")->required();
  app.add_option("--name", options->use.name, "of the backend")->required();
  app.add_option("--version", options->use.version,
                 "it must be of; any if none");
  app.add_option("--door", options->door, "descriptor of the worker's messages")
      ->required();
  app.add_option("--parent", options->parent, "process to die with");
  app.add_option("--forks", options->forks, "may it fork to serve");
  app.add_option("--hide", options->walls.hidden,
                 "folder that the module must not see");
  app.add_option("--keep", options->walls.kept,
                 "folder that the module must not change");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? -1 : kUsage;
  }
  return 0;
}

int Main(int argc, char** argv) {
  HostOptions options;
  if (const int code = ParseOptions(argc, argv, &options); code != 0) {
    return code < 0 ? 0 : code;
  }
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (options.parent != 0 && getppid() != options.parent) return kUsage;
  // Memory is kept for the next case rather than given back to the system.
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  CloseAllBut(options.door);
  const Status walls = walls::BuildWalls(options.walls);
  wire::Channel door{wire::Descriptor(options.door)};
  // Before the module could say it.
  if (!door.Send(walls.message()).ok()) return 0;
  auto backend = OpenBackend(options.use);
  const bool forks = backend.ok() && options.forks && ForkedBatch::IsPossible();
  // ONNX's schemas are made at the first check, which else each child would do.
  if (forks) {
    static_cast<void>(types::CheckModel(*graph::ModelOfText(
        "warm (float[1] x) => (float[1] y) { y = Relu(x) }")));
  }
  if (!TellReady(&door, backend.status(), forks) || !backend.ok()) return 0;
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

}  // namespace
}  // namespace assay::worker

int main(int argc, char** argv) { return assay::worker::Main(argc, argv); }
