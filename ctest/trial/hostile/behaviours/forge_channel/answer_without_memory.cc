// SPDX-License-Identifier: Apache-2.0
//
// Outcome: error
// Message: without memory
// Tries: answers an output that has no elements to compare
// Noted: sent

#include "ctest/trial/hostile/intercepted.h"

ASSAY_MISDEED(answer_without_memory) {
  hostile::ForgedAnswer answer = hostile::AnswerToRun();
  // A value: a tensor of float32 on a device, of 3 x 4 x 5, of nothing.
  answer.Put({1, 1, 1, 1, 0, 3, 3, 4, 5, 0, 1});
  hostile::Note(hostile::SendInstead(answer) ? "sent" : "not sent");
}
