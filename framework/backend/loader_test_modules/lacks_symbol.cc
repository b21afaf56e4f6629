// SPDX-License-Identifier: Apache-2.0
//
// A module that calls a function which no library has.

extern "C" void LoaderTestVendorFunction();
extern "C" void LoaderTestCall() { LoaderTestVendorFunction(); }
