// SPDX-License-Identifier: Apache-2.0
//
// Outcome: error
// Message: cannot be read
// Tries: has its host call a function of its own that says all is well
// Noted: in place of sendmsg

#include "ctest/trial/hostile/intercepted.h"

ASSAY_MISDEED(calls_intercepted) {
  hostile::ForgedAnswer answer = hostile::AnswerToRun();
  answer.Put({0});  // in the memory that was given
  const bool done = hostile::SendInstead(answer, /*always=*/true);
  hostile::Note(done ? "in place of sendmsg" : "not found");
}
