// SPDX-License-Identifier: Apache-2.0
//
// A module that was built elsewhere: the build says in what it differs.

#include <string>

#include "framework/backend/identity/module_note.h"

#ifdef ASSAY_TEST_RELEASE
#undef ASSAY_RELEASE
#define ASSAY_RELEASE ASSAY_TEST_RELEASE
#endif
#ifdef ASSAY_TEST_SANITIZER
#undef ASSAY_INTERNAL_SANITIZER
#define ASSAY_INTERNAL_SANITIZER ASSAY_TEST_SANITIZER
#endif
#ifndef ASSAY_TEST_WITHOUT_NOTE
ASSAY_INTERNAL_LEAVE_NOTE;
#endif

namespace {

/// To be loaded is to have run.
[[maybe_unused]] const int loaded = [] {
  __builtin_trap();
  return 0;
}();

}  // namespace
