// SPDX-License-Identifier: Apache-2.0
//
// Ten thousand broken models, each of which must end in a Status, within a
// limit of time and one of memory. Processes of their own take a thousand each,
// so that a crash names its model and spoils nothing else.
//
//   ASSAY_FUZZ_MODEL=1234 build/tests/fuzz_test    # that one alone, in here

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string>

#include "ctest/trial/fuzz/mutate.h"

// A macro of <sys/mman.h>, and an enumerator of onnx/defs/parser.h, which a
// source that is joined to this one includes.
#undef MAP_TYPE

#if defined(__has_feature)
#if __has_feature(address_sanitizer) && !defined(__SANITIZE_ADDRESS__)
#define __SANITIZE_ADDRESS__
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
// AddressSanitizer's shadow needs all addresses: it bounds memory itself.
extern "C" const char* __asan_default_options() {
  return "max_allocation_size_mb=1024:hard_rss_limit_mb=3072";
}
constexpr bool kLimitAddresses = false;
#elif defined(__SANITIZE_THREAD__)
constexpr bool kLimitAddresses = false;
#else
constexpr bool kLimitAddresses = true;
#endif

namespace assay::fuzz {
namespace {

constexpr int kModels = 10'000;
constexpr int kEachProcess = 1'000;
constexpr unsigned kSeconds = 20;  // for one model, on a loaded machine
constexpr rlim_t kBytes = rlim_t{2} << 30;

const std::vector<std::string>& Seeds() {
  static const char* const kCorpus = std::getenv("ASSAY_CORPUS");
  static const auto kSeeds = SeedModels(kCorpus == nullptr ? "" : kCorpus);
  return kSeeds;
}

std::string Model(int number) {
  Random random(static_cast<uint64_t>(number));
  return Mutate(Seeds()[static_cast<size_t>(number) % Seeds().size()], random);
}

/// How many of the models [first, last) were refused. `current` tells the
/// parent which one is at work.
int Take(int first, int last, volatile int* current) {
  int refused = 0;
  for (int number = first; number < last; ++number) {
    *current = number;
    const std::string bytes = Model(number);
    alarm(kSeconds);
    refused += TakeThrough(std::as_bytes(std::span(bytes))).ok() ? 0 : 1;
    alarm(0);
  }
  return refused;
}

/// The state that both processes see.
struct Shared {
  volatile int current = -1;
  volatile int refused = 0;
};

TEST(MalformedModels, EndInAStatusWithinTimeAndMemory) {
  if (const char* const only = std::getenv("ASSAY_FUZZ_MODEL")) {
    int current = 0;
    const int number = std::atoi(only);
    Take(number, number + 1, &current);
    return;
  }
  ASSERT_FALSE(Seeds().empty());
  auto* const shared =
      static_cast<Shared*>(mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE,
                                MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(shared, MAP_FAILED);
  for (int first = 0; first < kModels; first += kEachProcess) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      const struct rlimit limit = {kBytes, kBytes};
      if (kLimitAddresses) setrlimit(RLIMIT_AS, &limit);
      shared->refused =
          shared->refused + Take(first, first + kEachProcess, &shared->current);
      _exit(0);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0)
        << "model " << shared->current << " ended the process by "
        << (WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "exit");
  }
  // Nearly all lack kernels; what counts is that all were taken.
  EXPECT_GT(shared->refused, kModels / 2);
  munmap(shared, sizeof(Shared));
}

TEST(MalformedModels, AreTheSameEveryTime) {
  for (const int number : {0, 1, 17, 999}) {
    EXPECT_EQ(Model(number), Model(number)) << number;
  }
  EXPECT_NE(Model(0), Model(static_cast<int>(Seeds().size())));
}

TEST(MalformedModels, TheSeedsThemselvesAreRead) {
  for (const std::string& seed : Seeds()) {
    const Status status = TakeThrough(std::as_bytes(std::span(seed)));
    // Without kernels a model is declined; it is never wrong.
    EXPECT_TRUE(status.ok() || status.code() == StatusCode::kUnsupported)
        << status.ToString();
  }
}

}  // namespace
}  // namespace assay::fuzz
