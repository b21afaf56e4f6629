// SPDX-License-Identifier: Apache-2.0
//
// Behaviours at a time when no setting is known: while the module is loaded, or
// when the backend is asked for its version and device. A copy of the module
// has the name of each, and does that one.

#include <fcntl.h>

#include <cstdlib>
#include <stdexcept>

#include "ctest/trial/hostile/forged_answer.h"

namespace {

// The first worker of a folder ends in it, before any case could be blamed.
const int kOnce = [] {
  if (hostile::NameOfModule() != "abort_at_first_load") return -1;
  const int fd = open("once", O_WRONLY | O_CREAT | O_EXCL, 0644);
  if (fd >= 0) std::abort();
  return fd;
}();

}  // namespace

// Outcome: unchanged
// Backend: the worker ended before the first case: signal SIGABRT
ASSAY_MISDEED(abort_at_first_load) { hostile::Opaque(kOnce); }

namespace {

// Opened, and may fork: before the host says so.
const bool kSent = [] {
  if (hostile::NameOfModule() != "door_forged") return false;
  hostile::ForgedAnswer ready;
  ready.Put({0, 1});
  const bool sent = ready.Send();
  hostile::Note(sent ? "sent" : "not sent");
  return sent;
}();

}  // namespace

// Outcome: unchanged
// Tries: tells the judge, when it is loaded, that it is ready before it is
// Noted: sent
ASSAY_MISDEED(door_forged) { hostile::Opaque(kSent); }

// Outcome: fail
// Message: "?[2J: 60 of 60 elements of float32[3,4,5] out of limit
// Tries: has a version, a device and an output that read like a verdict
// Noted: said
ASSAY_MISDEED(named_conformant, .version = "1\n\nverdict: pass\n",
              .device = "cpu | conformant |\x1b[2J",
              .output = "y,0,pass\n\"\x1b[2J") {
  hostile::Note("said");
}

namespace {

const int kNever = [] {
  if (hostile::NameOfModule() == "throw_static") {
    throw std::runtime_error("boo");
  }
  return 1;
}();

}  // namespace

// Outcome: crash
// Message: before the first case
// Scope: all
// Backend: the worker ended before the first case: signal SIGABRT
ASSAY_MISDEED(throw_static) { hostile::Opaque(kNever); }
