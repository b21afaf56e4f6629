// SPDX-License-Identifier: Apache-2.0
//
// Outcome: error
// Message: outside of the shared memory
// Tries: answers an output that lies beside the memory that it shares
// Noted: sent

#include "ctest/trial/hostile/intercepted.h"

ASSAY_MISDEED(answer_elsewhere) {
  hostile::ForgedAnswer answer = hostile::AnswerToRun();
  // A value that is the caller's: in segment 0, just before its end.
  answer.Put({2, 1, 1, 0, 0, 3, 3, 4, 5, 2, 0, (8U << 20U) - 4});
  hostile::Note(hostile::SendInstead(answer) ? "sent" : "not sent");
}
