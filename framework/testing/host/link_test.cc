// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/host/link.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <functional>
#include <thread>
#include <utility>

#include "framework/testing/host/remote_backend.h"
#include "framework/testing/host/wire/arena.h"
#include "framework/testing/host/wire/channel.h"

namespace assay::host {
namespace {

/// What Inspect says when the other side does this to its end of the channel.
struct Outcome {
  Status status;
  bool gone = false;
  Status fault;
};

Outcome InspectWhere(const std::function<void(wire::Channel)>& other_side) {
  auto ends = wire::Channel::MakePair();
  Link link;
  link.Attach(std::move(ends->first));
  std::thread host([&, channel = std::move(ends->second)]() mutable {
    other_side(std::move(channel));
  });
  RemoteBackend backend("acme", link);
  Outcome outcome{backend.Inspect().status(), link.is_gone(), link.fault()};
  link.Detach();
  host.join();
  return outcome;
}

TEST(LinkTest, AHostThatEndsIsGone) {
  const Outcome seen = InspectWhere([](wire::Channel) {});
  EXPECT_EQ(seen.status.code(), StatusCode::kInternal);
  EXPECT_TRUE(seen.gone);
  EXPECT_TRUE(seen.fault.ok());
}

TEST(LinkTest, AnAnswerThatCannotBeReadIsAFaultAndTheHostIsAskedNoMore) {
  for (const std::string_view answer : {"", "nonsense", "\x09\0\0\0\0\0\0\0"}) {
    const Outcome seen = InspectWhere([&](wire::Channel channel) {
      static_cast<void>(channel.Receive());
      static_cast<void>(channel.Send(answer));
    });
    EXPECT_EQ(seen.status.code(), StatusCode::kInternal) << answer;
    EXPECT_TRUE(seen.gone);
    EXPECT_NE(seen.fault.message().find("cannot be read"), std::string::npos);
  }
}

TEST(LinkTest, ALengthThatIsALieTakesNoMemory) {
  const Outcome seen = InspectWhere([](wire::Channel channel) {
    static_cast<void>(channel.Receive());
    const uint64_t header[] = {uint64_t{3} << 30, 0};  // 3 GiB will follow
    static_cast<void>(::write(channel.descriptor(), header, sizeof header));
  });
  EXPECT_TRUE(seen.gone);
}

TEST(ArenaTest, MemoryIsFoundOnTheOtherSideAndGivenBack) {
  wire::Arena::Open();
  auto memory = wire::Arena::Allocate(1000);
  auto great = wire::Arena::Allocate(size_t{20} << 20);
  std::memset(memory.get(), 7, 1000);
  const auto place = wire::Arena::Find(memory.get() + 8, 992);
  ASSERT_TRUE(place.has_value());
  wire::SharedSegments other;
  for (const auto& [segment, descriptor] : wire::Arena::Segments()) {
    ASSERT_TRUE(other.Add(segment, dup(descriptor)).ok());
  }
  ASSERT_NE(other.At(*place, 992), nullptr);
  EXPECT_EQ(*other.At(*place, 992), std::byte{7});
  EXPECT_EQ(other.At({place->segment, uint64_t{1} << 40}, 1), nullptr);
  EXPECT_EQ(other.At({place->segment, (uint64_t{8} << 20) - 8}, 64), nullptr);
  EXPECT_EQ(other.At({99, 0}, 1), nullptr);
  EXPECT_FALSE(wire::Arena::Find(reinterpret_cast<std::byte*>(&other), 1));

  const size_t before = wire::Arena::Segments().size();
  great.reset();
  EXPECT_EQ(wire::Arena::Segments().size(), before - 1);
  const std::byte* const was = memory.get();
  memory.reset();
  EXPECT_EQ(wire::Arena::Allocate(1000).get(), was);
}

TEST(ArenaTest, ASegmentCannotBeMadeShorter) {
  wire::Arena::Open();
  const auto memory = wire::Arena::Allocate(64);
  EXPECT_NE(ftruncate(wire::Arena::Segments()[0].descriptor, 0), 0);
}

}  // namespace
}  // namespace assay::host
