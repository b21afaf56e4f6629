// SPDX-License-Identifier: Apache-2.0
//
// Outcome: error
// Message: cannot be read
// Tries: answers before it is through, and so twice
// Noted: sends

#include "ctest/trial/hostile/forged_answer.h"

ASSAY_MISDEED(answer_twice) {
  hostile::ForgedAnswer answer = hostile::AnswerToRun();
  answer.Put({0});         // in the memory that was given
  hostile::Note("sends");  // its host may be gone behind it
  answer.Send();
}
