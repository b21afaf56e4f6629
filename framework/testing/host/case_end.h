// SPDX-License-Identifier: Apache-2.0
//
// CaseEnd: what the process of a backend says of itself behind a case.

#pragma once

#include <cstdint>
#include <string>

namespace assay::host {

struct CaseEnd {
  std::string changed;       // of its state, and put back; empty: nothing
  uint64_t n_libraries = 0;  // that it has loaded so far
  bool replace = false;      // what is left behind could reach a later case
  int64_t peak_rss_kb = 0;   // so far
};

}  // namespace assay::host
