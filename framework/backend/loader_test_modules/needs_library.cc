// SPDX-License-Identifier: Apache-2.0
//
// A module linked with a library that is not there when it is loaded.

extern "C" int LoaderTestVendor();
extern "C" int LoaderTestCall() { return LoaderTestVendor(); }
