// SPDX-License-Identifier: Apache-2.0
//
// Written by ctest/package/headers_test.sh --accept: the release, and a digest
// of headers.txt, which lists the installed headers.

#pragma once

#define ASSAY_RELEASE "0.1.0"

// A package whose headers are no longer those that were installed says so.
#ifndef ASSAY_HEADERS_DIGEST
#define ASSAY_HEADERS_DIGEST "ac01b2a5921a8e91"
#endif
