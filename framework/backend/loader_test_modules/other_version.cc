// SPDX-License-Identifier: Apache-2.0
//
// A module built for a core whose namespace has another version.

#include "framework/backend/identity/module_note.h"

ASSAY_INTERNAL_LEAVE_NOTE;

namespace assay::inline v0 {
void RegisterBackend();
}  // namespace assay::inline v0

extern "C" void LoaderTestCall() { assay::v0::RegisterBackend(); }
