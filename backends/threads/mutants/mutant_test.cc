// SPDX-License-Identifier: Apache-2.0

#include "backends/threads/mutants/mutant.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "framework/testing/policy/mutant_line.h"

namespace assay::threads {
namespace {

// A name that no table has would be an error of every case, and so be seen.
TEST(MutantTest, TheListAndTheTablesHaveTheSameNames) {
  std::set<std::string> listed;
  const auto lines = policy::ReadMutantLines(ASSAY_THREADS_POLICY).value();
  for (const policy::MutantLine& line : lines) {
    listed.insert(line.name);
    EXPECT_NE(FindMutant(line.name), nullptr) << line.name;
    EXPECT_FALSE(line.where.empty()) << line.name;
  }
  size_t tabled = 0;
  for (const auto table :
       {MessageMutants(), ReductionMutants(), CollectiveMutants(),
        NeighborMutants(), LaunchMutants()}) {
    tabled += table.size();
    for (const Mutant& mutant : table) {
      EXPECT_TRUE(listed.contains(std::string(mutant.name))) << mutant.name;
    }
  }
  EXPECT_EQ(listed.size(), tabled);
  EXPECT_GE(tabled, 60U);
}

}  // namespace
}  // namespace assay::threads
