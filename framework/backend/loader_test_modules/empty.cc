// SPDX-License-Identifier: Apache-2.0
//
// A module that registers nothing.

extern "C" int LoaderTestEmpty() { return 0; }
