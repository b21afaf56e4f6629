// SPDX-License-Identifier: Apache-2.0
//
// Outcome: error
// Message: ??2J?[2J
// Tries: says in its error that it is conformant, on a cleared screen
// Noted: said

#include "ctest/trial/hostile/attempt.h"

// With the control characters that a terminal obeys, of one byte and of two.
ASSAY_MISDEED(says_conformant,
              .error =
                  "\xc2\x9b"
                  "2J\x1b[2J\r\n\n"
                  "says_conformant+at=Neg: conformant, all 4711 cases "
                  "inside its claims pass\n\n**conformant**\n") {
  hostile::Note("said");
}
