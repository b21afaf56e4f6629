// SPDX-License-Identifier: Apache-2.0
//
// libFuzzer's entry: bytes, or a model changed in structure, through all that
// loading does. Preset `fuzz` builds it with clang.
//
//   build-fuzz/bin/model_fuzzer --seeds DIR      # writes the seed corpus
//   build-fuzz/bin/model_fuzzer -max_total_time=300 -rss_limit_mb=2048 DIR

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>

#include "ctest/trial/fuzz/mutate.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  if (*argc != 3 || std::strcmp((*argv)[1], "--seeds") != 0) return 0;
  const char* const corpus = std::getenv("ASSAY_CORPUS");
  const std::filesystem::path folder = (*argv)[2];
  std::filesystem::create_directories(folder);
  int count = 0;
  for (const std::string& seed :
       assay::fuzz::SeedModels(corpus == nullptr ? "" : corpus)) {
    std::ofstream(folder / ("seed" + std::to_string(count++)), std::ios::binary)
        << seed;
  }
  std::exit(count > 0 ? 0 : 1);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // Any Status is right; a crash, a hang or an exception is not.
  (void)assay::fuzz::TakeThrough(std::as_bytes(std::span(data, size)));
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size,
                                          size_t max_size, unsigned seed) {
  if (seed % 4 == 0) return LLVMFuzzerMutate(data, size, max_size);
  assay::fuzz::Random random(seed);
  const std::string model(reinterpret_cast<const char*>(data), size);
  const std::string changed = assay::fuzz::Mutate(model, random);
  if (changed.size() > max_size) return size;
  std::memcpy(data, changed.data(), changed.size());
  return changed.size();
}
