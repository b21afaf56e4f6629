// SPDX-License-Identifier: Apache-2.0
//
// Outcome: unchanged
// Tries: changes the program that makes the page, which runs outside
// Noted: refused
// Needs: walls

#include "ctest/trial/hostile/attempt.h"

ASSAY_MISDEED(reports_changed) {
  if (!hostile::BehindWalls()) return;
  hostile::TryToWrite(hostile::Prefix() /
                      "share/assay/reports/assay_report/__main__.py");
}
