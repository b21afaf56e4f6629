// SPDX-License-Identifier: Apache-2.0
//
// A module that calls a function which no library has.

#include "framework/backend/identity/module_note.h"

ASSAY_INTERNAL_LEAVE_NOTE;

extern "C" void LoaderTestVendorFunction();
extern "C" void LoaderTestCall() { LoaderTestVendorFunction(); }
