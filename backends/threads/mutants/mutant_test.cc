// SPDX-License-Identifier: Apache-2.0

#include "backends/threads/mutants/mutant.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "framework/testing/policy/policy_line.h"

namespace assay::threads {
namespace {

// A name that no table has would be an error of every case, and so be seen.
TEST(MutantTest, TheListAndTheTablesHaveTheSameNames) {
  std::set<std::string> listed, tabled;
  const auto lines = policy::ReadMutantLines(ASSAY_THREADS_POLICY).value();
  for (const policy::MutantLine& line : lines) {
    listed.insert(line.name);
    EXPECT_FALSE(line.where.empty()) << line.name;
  }
  size_t count = 0;
  for (const std::span<const Mutant> table : MutantTables()) {
    count += table.size();
    for (const Mutant& mutant : table) tabled.emplace(mutant.name);
  }
  EXPECT_EQ(tabled, listed);
  EXPECT_EQ(tabled.size(), count);
  EXPECT_GE(count, 60U);
}

}  // namespace
}  // namespace assay::threads
