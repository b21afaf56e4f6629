// SPDX-License-Identifier: Apache-2.0
//
// The ELF note that ASSAY_REGISTER_BACKEND leaves in a module: what it was
// built for and with. The loader reads it before it runs a line of the module.
//
// Section .note.assay, name "Assay", type 1, and lines of key=value:
//
//     release=0.1.0
//     headers=5f1c9a0e7d3b2468
//     library=libstdc++ cxx11-abi=1
//     sanitizer=none
//     compiler=12.2.0

#pragma once

#include <string>  // for the macros of the standard library

#include "framework/backend/identity/build_facts.h"

#define ASSAY_INTERNAL_AS_TEXT(...) #__VA_ARGS__
#define ASSAY_INTERNAL_TEXT(...) ASSAY_INTERNAL_AS_TEXT(__VA_ARGS__)

#ifdef _GLIBCXX_DEBUG
#define ASSAY_INTERNAL_DEBUG " debug"
#else
#define ASSAY_INTERNAL_DEBUG ""
#endif

#if defined(_LIBCPP_ABI_VERSION)
#define ASSAY_INTERNAL_LIBRARY \
  "libc++ abi=" ASSAY_INTERNAL_TEXT(_LIBCPP_ABI_VERSION)
#elif defined(_GLIBCXX_USE_CXX11_ABI)
#define ASSAY_INTERNAL_LIBRARY                                       \
  "libstdc++ cxx11-abi=" ASSAY_INTERNAL_TEXT(_GLIBCXX_USE_CXX11_ABI) \
      ASSAY_INTERNAL_DEBUG
#else
#define ASSAY_INTERNAL_LIBRARY "unknown"
#endif

#if defined(__has_feature)
#define ASSAY_INTERNAL_HAS(feature) __has_feature(feature)
#else
#define ASSAY_INTERNAL_HAS(feature) 0
#endif

#if defined(__SANITIZE_ADDRESS__) || ASSAY_INTERNAL_HAS(address_sanitizer)
#define ASSAY_INTERNAL_SANITIZER "address"
#elif defined(__SANITIZE_THREAD__) || ASSAY_INTERNAL_HAS(thread_sanitizer)
#define ASSAY_INTERNAL_SANITIZER "thread"
#elif ASSAY_INTERNAL_HAS(memory_sanitizer)
#define ASSAY_INTERNAL_SANITIZER "memory"
#else
#define ASSAY_INTERNAL_SANITIZER "none"
#endif

/// The lines of the note, with the end of a line as `end`.
#define ASSAY_INTERNAL_NOTE_LINES(end)                             \
  "release=" ASSAY_RELEASE end "headers=" ASSAY_HEADERS_DIGEST end \
  "library=" ASSAY_INTERNAL_LIBRARY end                            \
  "sanitizer=" ASSAY_INTERNAL_SANITIZER end "compiler=" __VERSION__ end

/// The assembler, unlike an attribute of the compiler's, makes it a note.
#define ASSAY_INTERNAL_LEAVE_NOTE \
  asm(".pushsection .note.assay, \"a\", %note\n"                        \
      ".balign 4\n"                                                     \
      ".long 2f - 1f\n.long 4f - 3f\n.long 1\n"                         \
      "1: .asciz \"Assay\"\n2: .balign 4\n"                             \
      "3: .ascii \"" ASSAY_INTERNAL_NOTE_LINES("\\n") "\"\n4: .balign 4\n" \
      ".popsection")
