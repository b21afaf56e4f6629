// SPDX-License-Identifier: Apache-2.0
//
// A module linked with a library that is not there when it is loaded.

#include "framework/backend/identity/module_note.h"

ASSAY_INTERNAL_LEAVE_NOTE;

extern "C" int LoaderTestVendor();
extern "C" int LoaderTestCall() { return LoaderTestVendor(); }
