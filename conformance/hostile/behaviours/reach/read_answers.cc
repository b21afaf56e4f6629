// SPDX-License-Identifier: Apache-2.0
//
// Outcome: unchanged
// Needs: walls

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>

#include "conformance/hostile/misdeed.h"

namespace {
const int kHere = 0;
}  // namespace

// What test_neg should give, from the corpus of the build.
ASSAY_MISDEED(read_answers) {
  namespace fs = std::filesystem;
  Dl_info info = {};
  dladdr(&kHere, &info);
  std::error_code error;
  const fs::path build = fs::absolute(info.dli_fname, error)
                             .parent_path()
                             .parent_path()
                             .parent_path();
  std::ifstream file(fs::canonical(build / "corpus" / "onnx", error) / "node" /
                     "test_neg" / "test_data_set_0" / "output_0.pb");
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  if (bytes.size() > output.bytes) std::abort();  // they were there
}
