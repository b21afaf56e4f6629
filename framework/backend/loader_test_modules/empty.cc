// SPDX-License-Identifier: Apache-2.0
//
// A module that registers nothing.

#include "framework/backend/identity/module_note.h"

ASSAY_INTERNAL_LEAVE_NOTE;

extern "C" int LoaderTestEmpty() { return 0; }
