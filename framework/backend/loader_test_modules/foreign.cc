// SPDX-License-Identifier: Apache-2.0
//
// A module of another build: the build says in what it differs, or the test
// changes its note. To be loaded ends the process, but for one that is empty:
// it is of this build, and registers nothing.

#include <string>

#include "framework/backend/identity/module_note.h"

ASSAY_INTERNAL_LEAVE_NOTE;

#ifndef ASSAY_TEST_EMPTY
namespace {

[[maybe_unused]] const int loaded = [] {
  __builtin_trap();
  return 0;
}();

}  // namespace
#endif
