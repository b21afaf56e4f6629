// SPDX-License-Identifier: Apache-2.0
//
// Outcome: error
// Message: cannot be read
// Tries: answers more elements than there can be
// Noted: sent

#include "ctest/trial/hostile/intercepted.h"

ASSAY_MISDEED(answer_too_large) {
  hostile::ForgedAnswer answer = hostile::AnswerToRun();
  const uint64_t many = uint64_t{1} << 32U;
  answer.Put({1, 1, 1, 0, 0, 2, many, many, 1, 0, 1});
  hostile::Note(hostile::SendInstead(answer) ? "sent" : "not sent");
}
