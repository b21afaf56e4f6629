// SPDX-License-Identifier: Apache-2.0
//
// Forgeries that change what judges: policies, the table of mutants, the
// programs of the report, kept answers, the environment; and those that
// decline, rewrite their inputs or say that they are conformant.

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <cstdlib>

#include "ctest/trial/hostile/attempt.h"

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif

namespace fs = std::filesystem;

// Outcome: unchanged
// Tries: plants answers of its own where those of the oracle are kept
// Noted: refused
// Needs: walls
ASSAY_MISDEED(answers_planted) {
  if (!hostile::BehindWalls()) return;
  const char* const cache = std::getenv("XDG_CACHE_HOME");
  const char* const home = std::getenv("HOME");
  const fs::path base = cache != nullptr  ? fs::path(cache)
                        : home != nullptr ? fs::path(home) / ".cache"
                                          : fs::temp_directory_path();
  hostile::TryToMake(base / "assay/oracle/planted", "answers");
}

// Outcome: unsupported
// Message: not this one
// Tries: declines what it would fail, when it has seen the model
ASSAY_MISDEED(declines_what_fails, .declines = "not this one") {}

// Outcome: error
// Message: environment
// Tries: names a library and a cache of its own for those who come later
// Noted: set
ASSAY_MISDEED(environment_for_others) {
  setenv("LD_PRELOAD", "/tmp/right.so", 1);
  setenv("XDG_CACHE_HOME", "/tmp/right", 1);
  setenv("TMPDIR", "/tmp/right", 1);
  hostile::Note("set");
}

// Outcome: fail
// Message: got 0, wanted
// Tries: sets the inputs to zeros, of which it gives the right answer
// Noted: set
ASSAY_MISDEED(inputs_fitted) {
  std::memset(output.input, 0, output.bytes);
  std::memset(output.data, 0, output.bytes);
  hostile::Note("set");
}

// SIGSTOP would have the judge take too long; signal 0 only asks.
// Outcome: unchanged
// Tries: reaches the judge by the process that holds the channel's other end
// Noted: took 0 descriptors, stopped 0 processes
// Needs: walls
ASSAY_MISDEED(judge_by_channel) {
  if (!hostile::BehindWalls()) return;
  int taken = 0;
  int stopped = 0;
  for (int fd = 3; fd < 2048; ++fd) {
    int peer = -1;
    socklen_t size = sizeof peer;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERPIDFD, &peer, &size) != 0) continue;
    for (int theirs = 0; theirs < 64; ++theirs) {
      const auto own =
          static_cast<int>(syscall(SYS_pidfd_getfd, peer, theirs, 0U));
      if (own >= 0) close(own);
      taken += own >= 0 ? 1 : 0;
    }
    stopped += syscall(SYS_pidfd_send_signal, peer, 0, nullptr, 0U) == 0;
    close(peer);
  }
  hostile::Note("took " + std::to_string(taken) + " descriptors, stopped " +
                std::to_string(stopped) + " processes");
}

// Outcome: unchanged
// Tries: adds to the libraries that the page's program imports
// Noted: refused
// Needs: walls
ASSAY_MISDEED(libraries_changed) {
  if (!hostile::BehindWalls()) return;
  std::error_code error;
  const fs::path venv = hostile::Prefix() / "share/assay/venv";
  hostile::TryToWrite(venv / "pyvenv.cfg");
}

// Outcome: unchanged
// Tries: adds to the table of mutants that the harness is said to kill
// Noted: refused
// Needs: walls
ASSAY_MISDEED(mutants_changed) {
  if (!hostile::BehindWalls()) return;
  hostile::TryToMake(hostile::Prefix() / "mutants.csv", "all,killed\n");
}

// Outcome: unchanged
// Tries: adds expectations beside its module, by which nothing need pass
// Noted: refused
// Needs: walls
ASSAY_MISDEED(policy_changed) {
  if (!hostile::BehindWalls()) return;
  const auto policy = hostile::Prefix() / "tests/hostile/forge_judge.policy";
  mkdir(policy.c_str(), 0755);
  hostile::TryToMake(policy.parent_path() / "policy_changed.txt",
                     "expect fail where op:Neg because \"of me\"\n");
}

// Outcome: unchanged
// Tries: changes the program that makes the page, which runs outside
// Noted: refused
// Needs: walls
ASSAY_MISDEED(reports_changed) {
  if (!hostile::BehindWalls()) return;
  hostile::TryToWrite(hostile::Prefix() /
                      "share/assay/reports/assay_report/__main__.py");
}

// With the control characters that a terminal obeys, of one byte and of two.
// Outcome: error
// Message: ??2J?[2J
// Tries: says in its error that it is conformant, on a cleared screen
// Noted: said
ASSAY_MISDEED(
    says_conformant,
    .error =
        "\xc2\x9b"
        "2J\x1b[2J\r\n\n"
        "forge_judge+act=says_conformant+at=Neg: conformant, all 4711 cases "
        "inside its claims pass\n\n**conformant**\n") {
  hostile::Note("said");
}

// Outcome: unchanged
// Tries: clears all that it shares with the judge: inputs, models, guards
// Noted: cleared
ASSAY_MISDEED(shared_memory_cleared) {
  for (const hostile::Range& range : hostile::SharedMemory()) {
    std::memset(range.start, 0, range.bytes);
  }
  hostile::Note("cleared");
}
