// SPDX-License-Identifier: Apache-2.0
//
// A message of its own on the way between its host and the judge, before the
// host says one.

#include "ctest/trial/hostile/forged_answer.h"

namespace {

// Opened, and may fork.
const bool kSent = [] {
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
