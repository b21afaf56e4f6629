// SPDX-License-Identifier: Apache-2.0

#include "framework/backend/forwarding_network.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <regex>
#include <set>
#include <string>

namespace assay::backend {
namespace {

struct NoBinding final : Binding {
  std::span<const Value> outputs() const override { return {}; }
};

/// Offers everything. The interfaces are only handed on, never called.
class Everything final : public Network {
 public:
  std::span<const ValueInfo> inputs() const override { return {infos, 2}; }
  std::span<const ValueInfo> outputs() const override { return {infos, 1}; }
  Result<std::unique_ptr<Binding>> Bind(std::span<const Value>,
                                        std::span<const Value>) override {
    ++binds;
    return std::unique_ptr<Binding>(std::make_unique<NoBinding>());
  }
  Status Forward(Binding&) override { return NotFound("forward"); }
  Status Synchronize() override { return NotFound("synchronize"); }
  Differentiable* differentiable() override { return At<Differentiable>(1); }
  Parameters* parameters() override { return At<Parameters>(2); }
  NativeStep* native_step() override { return At<NativeStep>(3); }
  Placement* placement() override { return At<Placement>(4); }
  Exact* exact() override { return At<Exact>(5); }
  Draws* draws() override { return At<Draws>(6); }

  template <class T>
  T* At(size_t place) {
    return reinterpret_cast<T*>(&places[place]);
  }

  ValueInfo infos[2];
  void* places[7] = {};
  int binds = 0;
};

class Passing final : public ForwardingNetwork {
 public:
  using ForwardingNetwork::ForwardingNetwork;
};

TEST(ForwardingNetwork, KeepsAllThatANetworkOffers) {
  auto owned = std::make_unique<Everything>();
  Everything& all = *owned;
  Passing passing(std::move(owned));
  Network& network = passing;
  EXPECT_EQ(network.inputs().data(), all.infos);
  EXPECT_EQ(network.inputs().size(), 2U);
  EXPECT_EQ(network.outputs().size(), 1U);
  const auto binding = network.Bind({}, {});
  ASSERT_TRUE(binding.ok());
  EXPECT_EQ(all.binds, 1);
  EXPECT_EQ(network.Forward(**binding).message(), "forward");
  EXPECT_EQ(network.Synchronize().message(), "synchronize");
  EXPECT_EQ(network.differentiable(), all.differentiable());
  EXPECT_EQ(network.parameters(), all.parameters());
  EXPECT_EQ(network.native_step(), all.native_step());
  EXPECT_EQ(network.placement(), all.placement());
  EXPECT_EQ(network.exact(), all.exact());
  EXPECT_EQ(network.draws(), all.draws());
}

/// The functions of a class in a header that match the pattern's only group.
std::set<std::string> Functions(const std::string& header,
                                const std::string& name,
                                const std::string& pattern) {
  std::ifstream file(std::string(ASSAY_SOURCE_DIR) + "/framework/backend/" +
                     header);
  std::string text((std::istreambuf_iterator<char>(file)), {});
  text = text.substr(text.find("class " + name + " "));
  text = text.substr(0, text.find("\n};"));
  const std::regex function(pattern);
  std::set<std::string> names;
  for (std::sregex_iterator i(text.begin(), text.end(), function), end;
       i != end; ++i) {
    names.insert((*i)[1]);
  }
  return names;
}

/// A new function of Network is one that ForwardingNetwork may forget, and that
/// the test above has to ask for.
TEST(ForwardingNetwork, OverridesEveryVirtualFunction) {
  const auto wanted =
      Functions("backend.h", "Network", R"(virtual\s+[^~;{(]*?(\w+)\()");
  EXPECT_EQ(wanted.size(), 11U);
  EXPECT_EQ(Functions("forwarding_network.h", "ForwardingNetwork",
                      R"((\w+)\([^()]*\)\s*(?:const\s*)?override)"),
            wanted);
}

}  // namespace
}  // namespace assay::backend
