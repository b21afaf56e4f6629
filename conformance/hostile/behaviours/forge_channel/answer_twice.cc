// SPDX-License-Identifier: Apache-2.0
//
// Outcome: error
// Message: cannot be read
// Tries: answers before it is through, and so twice
// Noted: sent

#include "conformance/hostile/forged_answer.h"

ASSAY_MISDEED(answer_twice) {
  hostile::ForgedAnswer answer = hostile::AnswerToForward();
  answer.Put({0});  // in the memory that was given
  hostile::Note(answer.Send() ? "sent" : "not sent");
}
