// SPDX-License-Identifier: Apache-2.0

#include "framework/backend/communicator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "framework/backend/registry.h"
#include "framework/backend/toy/toy_backend.h"
#include "framework/core/status.h"

namespace assay::toy {
namespace {

using ::testing::HasSubstr;

class NoRanks final : public Ranks {
 public:
  Result<std::vector<RankEnd>> Run(
      int, const std::function<Status(Endpoint&)>&) override {
    return std::vector<RankEnd>();
  }
};

class Acme final : public Communicator {
 public:
  std::string_view name() const override { return "communicator_test_acme"; }
  Result<Probe> Inspect() override { return Probe{"1.0", "cpu"}; }

 private:
  std::vector<std::string> setting_names() const override { return {"links"}; }
  Result<Ranks*> RanksWith(const Settings& settings) override {
    if (settings.contains("links")) return InvalidArgument("found links");
    return &ranks_;
  }

  NoRanks ranks_;
};

TEST(CommunicatorTest, SettingsReachTheModuleIfItNamesThem) {
  Acme acme;
  EXPECT_NE(acme.ranks({}).value(), nullptr);
  EXPECT_EQ(acme.ranks({{"links", "2"}}).status().message(), "found links");
  EXPECT_EQ(acme.ranks({{"lanes", "2"}}).status().message(),
            "backend 'communicator_test_acme' has no setting 'lanes'");
}

// Kills: a communicator that is made a backend, or a backend whose ranks train
// the networks of another one.
TEST(CommunicatorTest, IsAKindOfModuleOfItsOwn) {
  RegisterCommunicator("Acme", "acme.cc",
                       [] { return std::make_unique<Acme>(); });
  RegisterBackend("Toy", "toy.cc", [] { return std::make_unique<Toy>(); });
  const std::string toy(Toy().name());
  EXPECT_TRUE(IsCommunicator("communicator_test_acme"));
  EXPECT_FALSE(IsCommunicator(toy));
  EXPECT_FALSE(IsCommunicator("communicator_test_nobody"));
  EXPECT_EQ(MakeCommunicator("communicator_test_acme").value()->name(),
            "communicator_test_acme");
  const Status no_backend = MakeBackend("communicator_test_acme").status();
  EXPECT_EQ(no_backend.code(), StatusCode::kFailedPrecondition);
  EXPECT_EQ(no_backend.message(),
            "communicator_test_acme carries messages between ranks and runs no "
            "model");
  const Status no_ranks = MakeCommunicator(toy).status();
  EXPECT_EQ(no_ranks.code(), StatusCode::kFailedPrecondition);
  EXPECT_EQ(no_ranks.message(), toy + " carries no messages between ranks");
}

TEST(CommunicatorTest, HasItsNameAlone) {
  const size_t before = RegistrationErrors().size();
  RegisterCommunicator(
      "First", "first.cc",
      []() -> std::unique_ptr<Communicator> { return nullptr; });
  RegisterCommunicator("Again", "again.cc",
                       [] { return std::make_unique<Acme>(); });
  RegisterCommunicator("Again", "again.cc",
                       [] { return std::make_unique<Acme>(); });
  const std::vector<Status> errors = RegistrationErrors();
  ASSERT_GT(errors.size(), before + 1);
  EXPECT_THAT(errors[before].message(), HasSubstr("First in first.cc"));
  EXPECT_THAT(errors.back().message(),
              HasSubstr("'communicator_test_acme' of Again in again.cc"));
}

}  // namespace
}  // namespace assay::toy
