// SPDX-License-Identifier: Apache-2.0
//
// The library that needs_library is linked with.

extern "C" int LoaderTestVendorFunction() { return 1; }
