// SPDX-License-Identifier: Apache-2.0
//
// A module that calls a function: of no library, or of one that is not there
// when it is loaded. It registers nothing.

#include "framework/backend/identity/module_note.h"

ASSAY_INTERNAL_LEAVE_NOTE;

extern "C" int LoaderTestVendorFunction();
extern "C" int LoaderTestCall() { return LoaderTestVendorFunction(); }
