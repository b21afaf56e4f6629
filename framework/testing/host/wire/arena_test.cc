// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/host/wire/arena.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "framework/file/file.h"
#include "framework/testing/support/statuses_fixture.h"

namespace assay::wire {
namespace {

constexpr size_t kSegment = size_t{8} << 20;

using Block = std::shared_ptr<std::byte>;

bool IsMapped(std::byte* page) { return msync(page, 1, MS_ASYNC) == 0; }

/// The other tests have given back their blocks.
class ArenaTest : public testing::Test {
 protected:
  ArenaTest() { Arena::Open(); }

  static Place PlaceOf(const Block& block) {
    const auto place = Arena::Find(block.get(), 1);
    EXPECT_TRUE(place.has_value());
    return place.value_or(Place());
  }
  static int DescriptorOf(uint32_t segment) {
    const auto all = Arena::Segments();
    const auto found =
        std::ranges::find(all, segment, &Arena::Described::segment);
    return found == all.end() ? -1 : found->descriptor;
  }
};

TEST_F(ArenaTest, BlocksStandBesideOneAnother) {
  const struct {
    size_t size;
    int64_t takes;
  } rows[] = {{0, 64}, {1, 64}, {63, 64}, {64, 64}, {65, 128}, {129, 192}};
  for (const auto& row : rows) {
    const Block block = Arena::Allocate(row.size);
    const Block next = Arena::Allocate(1);
    EXPECT_EQ(next.get() - block.get(), row.takes) << row.size;
    EXPECT_EQ(reinterpret_cast<uintptr_t>(block.get()) % 64, 0U);
  }
}

// Kills: parts that are free and stay apart, so that memory runs out.
TEST_F(ArenaTest, FreePartsBesideOneAnotherAreOne) {
  std::array<size_t, 3> order = {0, 1, 2};
  do {
    std::array<Block, 3> blocks = {Arena::Allocate(64), Arena::Allocate(64),
                                   Arena::Allocate(64)};
    const Block behind = Arena::Allocate(64);
    std::byte* const begin = blocks[0].get();
    std::byte* const freed = blocks[order[0]].get();
    blocks[order[0]].reset();
    EXPECT_NE(Arena::Allocate(128).get(), freed) << "64 bytes are free";
    EXPECT_EQ(Arena::Allocate(64).get(), freed);
    for (Block* const block : {&blocks[order[1]], &blocks[order[2]]}) {
      block->reset();
    }
    const Block third = Arena::Allocate(64);
    EXPECT_EQ(third.get(), begin);
    const Block rest = Arena::Allocate(128);
    EXPECT_EQ(rest.get(), begin + 64);
    EXPECT_GT(Arena::Allocate(64).get(), behind.get()) << "none is free twice";
  } while (std::ranges::next_permutation(order).found);
}

// Kills: a part of no bytes that stays where another begins.
TEST_F(ArenaTest, AFreePartIsTakenWhole) {
  Block first = Arena::Allocate(64);
  Block second = Arena::Allocate(64);
  const Block behind = Arena::Allocate(64);
  for (Block* const block : {&first, &second}) {
    std::byte* const freed = block->get();
    block->reset();
    *block = Arena::Allocate(64);
    EXPECT_EQ(block->get(), freed);
  }
}

TEST_F(ArenaTest, AGreatTensorHasASegmentAsLongAsItLives) {
  const size_t count = Arena::Segments().size();
  uint64_t generation = Arena::Generation();
  uint32_t number = 0;
  std::byte* start = nullptr;
  {
    const Block great = Arena::Allocate(kSegment + 1);
    ASSERT_NE(great, nullptr);
    EXPECT_EQ(Arena::Segments().size(), count + 1);
    EXPECT_GT(Arena::Generation(), generation);
    number = PlaceOf(great).segment;
    start = great.get();
    EXPECT_TRUE(IsMapped(start));
    const int file = DescriptorOf(number);
    struct stat info = {};
    ASSERT_EQ(fstat(file, &info), 0);
    EXPECT_EQ(static_cast<size_t>(info.st_size), kSegment + 64);
    EXPECT_EQ(fcntl(file, F_GET_SEALS),
              F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
    EXPECT_EQ(fcntl(file, F_GETFD), FD_CLOEXEC);
    generation = Arena::Generation();
  }
  EXPECT_EQ(DescriptorOf(number), -1);
  EXPECT_FALSE(IsMapped(start));
  EXPECT_GT(Arena::Generation(), generation);
  const Block other = Arena::Allocate(kSegment + 1);
  EXPECT_EQ(PlaceOf(other).segment, number + 1) << "numbers are used once";
}

TEST_F(ArenaTest, OtherSegmentsAreKept) {
  const Block block = Arena::Allocate(1);
  Block whole = Arena::Allocate(kSegment);
  const uint64_t generation = Arena::Generation();
  const uint32_t number = PlaceOf(whole).segment;
  EXPECT_NE(number, PlaceOf(block).segment);
  whole.reset();
  EXPECT_GE(DescriptorOf(number), 0);
  EXPECT_EQ(Arena::Generation(), generation);
  whole = Arena::Allocate(kSegment);
  EXPECT_EQ(PlaceOf(whole).segment, number);
}

TEST_F(ArenaTest, OnlySharedBytesHaveAPlace) {
  const Block block = Arena::Allocate(kSegment + 64);
  std::byte* const data = block.get();
  const struct {
    const std::byte* data;
    size_t size;
    std::optional<uint64_t> offset;
  } rows[] = {
      {data, 1, 0},
      {data, kSegment + 64, 0},
      {data, kSegment + 65, std::nullopt},
      {data + 64, kSegment, 64},
      {data + 64, kSegment + 1, std::nullopt},
      {data + kSegment + 63, 1, kSegment + 63},
      {reinterpret_cast<const std::byte*>(&block), 1, std::nullopt},
  };
  for (const auto& row : rows) {
    const auto place = Arena::Find(row.data, row.size);
    ASSERT_EQ(place.has_value(), row.offset.has_value()) << row.size;
    if (!place.has_value()) continue;
    EXPECT_EQ(place->offset, row.offset);
    EXPECT_EQ(DescriptorOf(place->segment),
              Arena::Segments().back().descriptor);
  }
}

// Kills: bytes beyond a segment; a segment that is mapped for ever, or twice.
TEST_F(ArenaTest, TheOtherSideSeesTheSameBytes) {
  const Block block = Arena::Allocate(kSegment + 64);
  const uint32_t number = PlaceOf(block).segment;
  const uint64_t size = kSegment + 64;
  SharedSegments segments;
  EXPECT_EQ(segments.At({number, 0}, 1), nullptr);
  ASSERT_TRUE(segments.Add(number, DescriptorOf(number)).ok());
  std::byte* const begin = segments.At({number, 0}, size);
  ASSERT_NE(begin, nullptr);
  EXPECT_NE(begin, block.get());
  block.get()[size - 1] = std::byte{7};
  EXPECT_EQ(begin[size - 1], std::byte{7});
  begin[0] = std::byte{8};
  EXPECT_EQ(block.get()[0], std::byte{8});
  EXPECT_EQ(segments.At({number, 64}, size - 64), begin + 64);
  EXPECT_EQ(segments.At({number, 64}, size - 63), nullptr);
  EXPECT_EQ(segments.At({number, size}, 0), begin + size);
  EXPECT_EQ(segments.At({number, size + 1}, 0), nullptr);
  EXPECT_EQ(segments.At({number + 1, 0}, 1), nullptr);
  EXPECT_TRUE(segments.Holds(begin) && segments.Holds(begin + size - 1));
  EXPECT_FALSE(segments.Holds(begin + size) || segments.Holds(begin - 1));
  ASSERT_TRUE(segments.Add(number, DescriptorOf(number)).ok());
  EXPECT_EQ(segments.At({number, 0}, 1), begin) << "it was mapped already";
  segments.KeepOnly({number});
  EXPECT_EQ(segments.At({number, 0}, 1), begin);
  segments.KeepOnly({number + 1});
  EXPECT_EQ(segments.At({number, 0}, 1), nullptr);
  EXPECT_FALSE(segments.Holds(begin));
  EXPECT_FALSE(IsMapped(begin));
  std::byte* again = nullptr;
  {
    SharedSegments others;
    ASSERT_TRUE(others.Add(number, DescriptorOf(number)).ok());
    again = others.At({number, 0}, 1);
    EXPECT_TRUE(IsMapped(again));
  }
  EXPECT_FALSE(IsMapped(again));
}

TEST_F(ArenaTest, ADescriptorWithoutBytesIsNoSegment) {
  SharedSegments segments;
  EXPECT_TRUE(segments.Add(1, -1).ok()) << "who sends it is gone";
  EXPECT_EQ(segments.At({1, 0}, 0), nullptr);
  int ends[2] = {};
  ASSERT_EQ(pipe(ends), 0);
  const file::Descriptor out(ends[0]);
  const file::Descriptor in(ends[1]);
  EXPECT_THAT(segments.Add(1, ends[0]), IsStatus(StatusCode::kResourceExhausted,
                                                 "cannot map 0 shared bytes"));
}

/// Runs alone in a program of its own.
int HeapBlocks() {
  const Block block = Arena::Allocate(65);
  std::fill_n(block.get(), 128, std::byte{1});
  const bool is_heap = !Arena::Find(block.get(), 1).has_value() &&
                       Arena::Segments().empty() &&
                       reinterpret_cast<uintptr_t>(block.get()) % 64 == 0;
  Arena::Open();
  const bool is_shared = Arena::Find(Arena::Allocate(1).get(), 1).has_value();
  return is_heap && is_shared ? 0 : 1;
}

TEST(ClosedArenaDeathTest, MemoryIsTheHeapsUntilItIsOpen) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(_exit(HeapBlocks()), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace assay::wire
