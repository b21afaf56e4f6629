// SPDX-License-Identifier: Apache-2.0

#include "framework/timing/machine/caches.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string_view>

#include "framework/core/text.h"
#include "framework/file/scratch_folder.h"

namespace assay::machine {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

void WriteCache(const file::ScratchFolder& root, int index,
                const std::array<std::string_view, 4>& facts) {
  constexpr std::array kFiles = {"level", "type", "size", "shared_cpu_list"};
  for (size_t i = 0; i < kFiles.size(); ++i) {
    root.Write(StrCat("sys/devices/system/cpu/cpu0/cache/index", index, "/",
                      kFiles[i]),
               StrCat(facts[i], "\n"));
  }
}

// Kills: a cache of instructions for one of data, a size in other units, a
// share of too many or too few, the order of folders.
TEST(CachesOf, TellsThoseForDataTheNearestFirst) {
  const file::ScratchFolder root;
  WriteCache(root, 3, {"3", "Unified", "32M", "0-3,8"});
  WriteCache(root, 1, {"1", "Instruction", "64K", "0"});
  WriteCache(root, 0, {"1", "Data", "48K", "0,4"});
  WriteCache(root, 2, {"2", "Unified", "2048K", "0"});
  EXPECT_THAT(CachesOf(root.path()),
              ElementsAre(Cache{1, 48 << 10, 2}, Cache{2, 2 << 20, 1},
                          Cache{3, 32 << 20, 5}));
}

TEST(CachesOf, TellsNothingThatNoFileTells) {
  const file::ScratchFolder root;
  EXPECT_THAT(CachesOf(root.path()), IsEmpty());
  WriteCache(root, 0, {"1", "Data", "", "0"});
  WriteCache(root, 1, {"2", "Unified", "some", "0"});
  WriteCache(root, 2, {"3", "Unified", "8M", "3-1"});
  EXPECT_THAT(CachesOf(root.path()), ElementsAre(Cache{3, 8 << 20, 1}));
}

}  // namespace
}  // namespace assay::machine
