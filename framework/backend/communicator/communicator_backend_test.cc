// SPDX-License-Identifier: Apache-2.0

#include "framework/backend/communicator/communicator_backend.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "framework/backend/communicator/no_rank_fixture.h"
#include "framework/core/status.h"

namespace assay {
namespace {

class Acme final : public CommunicatorBackend {
 public:
  std::string_view name() const override { return "acme"; }
  Result<Probe> Inspect() override { return Probe{"1.0", "cpu"}; }

 private:
  std::vector<std::string> setting_names() const override { return {"links"}; }
  Result<Ranks*> RanksWith(const Settings& settings) override {
    if (settings.contains("links")) return InvalidArgument("found links");
    return &ranks_;
  }

  communicator::NoRank ranks_;
};

TEST(CommunicatorBackendTest, DeclinesModels) {
  const Status status = Acme().Load(nullptr, {}).status();
  EXPECT_EQ(status.code(), StatusCode::kUnsupported);
  EXPECT_EQ(status.message(),
            "acme carries messages between ranks and runs no model");
}

TEST(CommunicatorBackendTest, SettingsReachTheModuleIfItNamesThem) {
  Acme acme;
  EXPECT_NE(acme.ranks({}).value(), nullptr);
  EXPECT_EQ(acme.ranks({{"links", "2"}}).status().message(), "found links");
  EXPECT_EQ(acme.ranks({{"lanes", "2"}}).status().message(),
            "backend 'acme' has no setting 'lanes'");
}

}  // namespace
}  // namespace assay
