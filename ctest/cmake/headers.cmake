# SPDX-License-Identifier: Apache-2.0
#
# Writes the list of the installed headers, and build_facts.h, into a folder.
#
#   cmake -D HEADERS=/opt/assay/include/assay -D RELEASE=0.1.0 -D OUT=folder
#         -P headers.cmake   (one line)

include(${CMAKE_CURRENT_LIST_DIR}/AssayHeaders.cmake)
assay_headers_digest(${HEADERS} lines digest)
file(WRITE ${OUT}/headers.txt "${lines}")
file(WRITE ${OUT}/build_facts.h "// SPDX-License-Identifier: Apache-2.0
//
// Written by ctest/package/headers_test.sh --accept: the release, and a digest
// of headers.txt, which lists the installed headers.

#pragma once

#define ASSAY_RELEASE \"${RELEASE}\"

// A package whose headers are no longer those that were installed says so.
#ifndef ASSAY_HEADERS_DIGEST
#define ASSAY_HEADERS_DIGEST \"${digest}\"
#endif
")
