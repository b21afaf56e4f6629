// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/host/counts/counts.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "framework/testing/host/counts/counted_malloc.h"

namespace assay::counts {
namespace {

/// The compiler may not leave an allocation out.
void* Kept(void* memory) {
  asm volatile("" : "+r"(memory));
  return memory;
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
struct AllocationRow {
  const char* what;
  int64_t allocations, bytes;
  void (*act)();
};

// Kills: a way to allocate that is not counted, one that is counted twice, and
// bytes of one element for those of all.
TEST(CounterTest, CountsEachWayToAllocate) {
  const AllocationRow rows[] = {
      {"nothing", 0, 0, [] {}},
      {"malloc", 1, 40, [] { std::free(Kept(std::malloc(40))); }},
      {"calloc", 1, 40, [] { std::free(Kept(std::calloc(5, 8))); }},
      {"realloc", 2, 60,
       [] { std::free(Kept(std::realloc(Kept(std::malloc(20)), 40))); }},
      {"aligned_alloc", 1, 128,
       [] { std::free(Kept(std::aligned_alloc(64, 128))); }},
      {"posix_memalign", 1, 24,
       [] {
         void* memory = nullptr;
         if (posix_memalign(&memory, 32, 24) == 0) std::free(Kept(memory));
       }},
      {"new", 1, 8, [] { delete static_cast<double*>(Kept(new double())); }},
  };
  for (const AllocationRow& row : rows) {
    Counter counter;
    row.act();
    const Counts counts = counter.Stop();
    EXPECT_EQ(counts.allocations, row.allocations) << row.what;
    EXPECT_EQ(counts.allocated_bytes, row.bytes) << row.what;
  }
}

// Kills: a count that goes on, or begins where the one before ended.
TEST(CounterTest, CountsOnlyMeanwhile) {
  const int64_t before = allocation_count.calls;
  std::free(Kept(std::malloc(8)));
  EXPECT_EQ(allocation_count.calls, before);
  Counter counter;
  std::jthread([] { std::free(Kept(std::malloc(8))); }).join();
  EXPECT_GE(counter.Stop().allocations, 1);
  EXPECT_FALSE(allocation_count.is_on);
  Counter();
  EXPECT_FALSE(allocation_count.is_on);
}

TEST(CounterTest, AWrongAlignmentIsRefused) {
  void* memory = nullptr;
  EXPECT_EQ(posix_memalign(&memory, 24, 8), EINVAL);
  EXPECT_EQ(posix_memalign(&memory, 0, 8), EINVAL);
  EXPECT_EQ(memory, nullptr);
}
#endif

// Kills: a peak of what was there before, and one that is lost for later.
TEST(CounterTest, MemoryIsThatOfMeanwhile) {
  constexpr size_t kBytes = size_t{16} << 20;
  constexpr int64_t kHalf = kBytes >> 11;
  const auto use = [] {
    std::vector<char> used(kBytes, 'x');
    Kept(used.data());
    return used;
  };
  use();
  const Counts none = Counter().Stop();
  ASSERT_TRUE(none.steady_rss_kb.has_value());
  const file::Descriptor reset(open("/proc/self/clear_refs", O_WRONLY));
  EXPECT_EQ(none.peak_rss_kb.has_value(), write(reset.get(), "5", 1) == 1);
  if (none.peak_rss_kb.has_value()) {
    EXPECT_LT(*none.peak_rss_kb, *none.steady_rss_kb + kHalf);
    EXPECT_GE(PeakRssBeforeKilobytes(), *none.steady_rss_kb + kHalf);
  } else {
    EXPECT_EQ(PeakRssBeforeKilobytes(), 0);
  }
  Counter counter;
  const std::vector<char> used = use();
  const Counts some = counter.Stop();
  EXPECT_GT(*some.steady_rss_kb, *none.steady_rss_kb + kHalf);
  EXPECT_LT(*some.steady_rss_kb, *none.steady_rss_kb + 4 * kHalf);
  EXPECT_GE(some.peak_rss_kb.value_or(*some.steady_rss_kb),
            *some.steady_rss_kb);
}

// Kills: a descriptor that stays open.
TEST(CounterTest, CountsLeaveNoFileOpen) {
  const auto next = [] { return file::Descriptor(dup(STDIN_FILENO)).get(); };
  const int before = next();
  Counter().Stop();
  EXPECT_EQ(next(), before);
}

// Kills: instructions of another time, or of the kernel.
TEST(CounterTest, InstructionsGrowWithTheWork) {
  const auto instructions_of = [](int64_t steps) {
    Counter counter;
    for (int64_t i = 0; i < steps; ++i) asm volatile("" ::: "memory");
    return counter.Stop().instructions;
  };
  const auto few = instructions_of(1'000);
  if (!few.has_value()) GTEST_SKIP() << "no instructions are counted here";
  EXPECT_GT(*instructions_of(1'000'000), *few + 1'000'000);
}

}  // namespace
}  // namespace assay::counts
