// SPDX-License-Identifier: Apache-2.0

#include "framework/backend/communicator/carried_backend.h"

#include <gtest/gtest.h>

#include <memory>
#include <string_view>
#include <utility>

#include "framework/backend/communicator/communicator_backend.h"
#include "framework/backend/communicator/no_rank_fixture.h"
#include "framework/core/status.h"

namespace assay::communicator {
namespace {

class Library final : public CommunicatorBackend {
 public:
  explicit Library(Ranks* ranks) : ranks_(ranks) {}
  std::string_view name() const override { return "library"; }
  Result<Probe> Inspect() override { return Probe{"2.0", "links"}; }

 private:
  Result<Ranks*> RanksWith(const Settings&) override { return ranks_; }
  Ranks* ranks_;
};

class Networks final : public Backend {
 public:
  std::string_view name() const override { return "networks"; }
  Result<Probe> Inspect() override { return Probe{"1.0", "cpu"}; }
  Result<std::unique_ptr<Network>> Load(std::shared_ptr<const Model>,
                                        const LoadOptions&) override {
    return Unsupported(Reason::kOperator, "the networks were asked");
  }
};

TEST(CarriedBackendTest, NetworksAreOfTheFirstAndRanksOfTheSecond) {
  NoRank ranks;
  const auto carried = CarriedBy(std::make_unique<Networks>(),
                                 std::make_unique<Library>(&ranks));
  ASSERT_TRUE(carried.ok()) << carried.status().ToString();
  Backend& backend = **carried;
  EXPECT_EQ(backend.name(), "networks");
  EXPECT_EQ(backend.Inspect().value().version, "1.0");
  EXPECT_EQ(backend.Load(nullptr, {}).status().message(),
            "the networks were asked");
  EXPECT_EQ(backend.ranks({}).value(), &ranks);
}

// Kills: settings of the networks that reach a library, which has no such.
TEST(CarriedBackendTest, SettingsAreNotThoseOfTheLibrary) {
  NoRank ranks;
  const auto carried = CarriedBy(std::make_unique<Networks>(),
                                 std::make_unique<Library>(&ranks));
  ASSERT_TRUE(carried.ok()) << carried.status().ToString();
  const Result<Ranks*> found = (*carried)->ranks({{"threads", "2"}});
  ASSERT_TRUE(found.ok()) << found.status().ToString();
  EXPECT_EQ(*found, &ranks);
}

TEST(CarriedBackendTest, ALibraryWithoutRanksIsRefused) {
  const auto carried = CarriedBy(std::make_unique<Networks>(),
                                 std::make_unique<Library>(nullptr));
  EXPECT_EQ(carried.status().code(), StatusCode::kFailedPrecondition);
  EXPECT_EQ(carried.status().message(),
            "library carries no messages between ranks");
}

}  // namespace
}  // namespace assay::communicator
