// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/host/link.h"

#include <gmock/gmock.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <functional>
#include <string_view>
#include <thread>

#include "framework/testing/host/end_like.h"
#include "framework/testing/host/remote_backend.h"
#include "framework/testing/host/wire/arena.h"
#include "framework/testing/support/statuses_fixture.h"
#include "framework/testing/support/tensors_fixture.h"

namespace assay::host {
namespace {

/// The outcome of Inspect for a given other side of the channel.
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
  EXPECT_THAT(seen.status, IsStatus(StatusCode::kInternal,
                                    "the process of the backend ended"));
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
    EXPECT_THAT(seen.fault, Says("cannot be read")) << seen.status.ToString();
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

/// A link, and the other end of its channel.
class LinkEndTest : public testing::Test {
 protected:
  LinkEndTest() {
    wire::Arena::Open();
    Attach({});
  }
  void Attach(wire::Descriptor process) {
    auto ends = Got(wire::Channel::MakePair());
    link_.Attach(std::move(ends.first), std::move(process));
    host_ = std::move(ends.second);
  }
  /// The request that reaches the host; it answers `answer`.
  wire::Message Asked(wire::Call call, std::string_view answer = "ok") {
    wire::Message request;
    std::thread host([&] {
      request = Got(host_.Receive());
      static_cast<void>(host_.Send(answer));
    });
    EXPECT_EQ(Got(link_.Ask(call, wire::Written(uint64_t{77}))), answer);
    host.join();
    EXPECT_EQ(link_.last_call(), call);
    return request;
  }

  Link link_;
  wire::Channel host_;
};

/// The head of a request: what is closed and released, and the segments.
struct Head {
  std::vector<std::pair<uint64_t, uint64_t>> closed;
  std::vector<uint64_t> released;
  uint64_t generation = 0;
  std::vector<uint64_t> segments;
};

Head ReadHead(const wire::Message& request) {
  wire::Reader in(request.text);
  static_cast<void>(in.Number());  // the call
  Head head;
  for (uint64_t n = in.Number(); n > 0; --n) {
    const uint64_t kind = in.Number();
    head.closed.emplace_back(kind, in.Number());
  }
  head.released = in.ReadAll<uint64_t>();
  head.generation = in.Number();
  if (head.generation != 0) head.segments = in.ReadAll<uint64_t>();
  for (size_t i = 0; i < request.descriptors.size(); ++i) {
    EXPECT_THAT(head.segments, testing::Contains(in.Number()));
  }
  EXPECT_EQ(in.Number(), 77U);
  EXPECT_TRUE(in.Fault().ok());
  return head;
}

// Kills: telling a thing never, or again with each request.
TEST_F(LinkEndTest, ARequestSaysOnceWhatIsClosedAndReleased) {
  {
    const Numbered binding(link_, wire::Kind::kBinding, 5);
    EXPECT_EQ(binding.get(), 5U);
    link_.Issue(9, Floats({1}));
    Tensor held = Floats({1, 2});
    link_.Issue(10, held);
    const Head first = ReadHead(Asked(wire::Call::kForward));
    EXPECT_TRUE(first.closed.empty());
    EXPECT_EQ(first.released, (std::vector<uint64_t>{9}));
    const float changed[] = {3, 4};
    const std::string_view bytes(reinterpret_cast<const char*>(changed), 8);
    link_.Rewrite(10, bytes.substr(4));
    link_.Rewrite(11, bytes);
    EXPECT_EQ(FloatsOf(held), (std::vector<float>{1, 2}));
    link_.Rewrite(10, bytes);
    EXPECT_EQ(FloatsOf(held), (std::vector<float>{3, 4}));
  }
  const Head second = ReadHead(Asked(wire::Call::kBind));
  const auto binding = static_cast<uint64_t>(wire::Kind::kBinding);
  EXPECT_EQ(second.closed,
            (std::vector<std::pair<uint64_t, uint64_t>>{{binding, 5}}));
  EXPECT_EQ(second.released, (std::vector<uint64_t>{10}));
  const Head third = ReadHead(Asked(wire::Call::kBind));
  EXPECT_TRUE(third.closed.empty());
  EXPECT_TRUE(third.released.empty());
}

TEST_F(LinkEndTest, SegmentsComeOnceAndAreToldWhenOthersAreThere) {
  const auto memory = wire::Arena::Allocate(64);
  const wire::Message first = Asked(wire::Call::kForward);
  const size_t all = wire::Arena::Segments().size();
  EXPECT_EQ(first.descriptors.size(), all);
  EXPECT_EQ(ReadHead(first).segments.size(), all);
  EXPECT_EQ(ReadHead(first).generation, wire::Arena::Generation() + 1);
  EXPECT_EQ(ReadHead(Asked(wire::Call::kForward)).generation, 0U);
  const auto great = wire::Arena::Allocate(size_t{20} << 20);
  const wire::Message third = Asked(wire::Call::kForward);
  EXPECT_EQ(third.descriptors.size(), 1U);
  EXPECT_EQ(ReadHead(third).segments.size(), all + 1);
}

// Kills: a number of the host before, or its fault, that the next one gets.
TEST_F(LinkEndTest, AnotherHostBeginsAnew) {
  const Numbered network(link_, wire::Kind::kNetwork, 3);
  link_.CloseLater(wire::Kind::kNetwork, 4);
  link_.Issue(9, Floats({1}));
  const uint64_t number = link_.NewNumber();
  EXPECT_EQ(link_.NewNumber(), number + 1);
  const Status fault = link_.Refuse(DataLoss("first"));
  EXPECT_THAT(fault, Says("answered what cannot be read: first"));
  EXPECT_EQ(link_.Refuse(DataLoss("second")).message(), fault.message());
  EXPECT_TRUE(link_.is_gone());
  EXPECT_THAT(link_.Ask(wire::Call::kForward, wire::Written(uint64_t{1})),
              Says("first"));
  Attach({});
  EXPECT_FALSE(link_.is_gone());
  EXPECT_TRUE(link_.fault().ok());
  EXPECT_EQ(network.get(), 0U);
  const Head head = ReadHead(Asked(wire::Call::kInspect));
  EXPECT_TRUE(head.closed.empty());
  EXPECT_TRUE(head.released.empty());
}

// Kills: a host that lives, and is said to have ended.
TEST_F(LinkEndTest, AHostThatCannotBeAskedIsAskedNoMoreAndSaysWhy) {
  link_.Attach(wire::Channel());
  const auto ask = [&] {
    return link_.Ask(wire::Call::kForward, wire::Written(uint64_t{1})).status();
  };
  constexpr char kWhy[] = "cannot be asked: cannot send: Bad file descriptor";
  Status seen;
  std::thread([&] { seen = ask(); }).join();
  EXPECT_THAT(seen, Says(kWhy));
  EXPECT_TRUE(link_.is_gone());
  EXPECT_THAT(link_.fault(), Says(kWhy));
  EXPECT_THAT(ask(), Says(kWhy));
}

TEST_F(LinkEndTest, AHostThatEndedMeanwhileIsSeenWithoutAsking) {
  EXPECT_FALSE(link_.EndedMeanwhile());
  host_.Close();
  EXPECT_TRUE(link_.EndedMeanwhile());
  link_.Detach();
  EXPECT_FALSE(link_.EndedMeanwhile());
  EXPECT_THAT(link_.Ask(wire::Call::kForward, wire::Written(uint64_t{1})),
              IsStatus(StatusCode::kInternal, "ended"));
}

// Kills: waiting for a process that ended and left its end to another.
TEST_F(LinkEndTest, AHostThatEndedIsGoneForEveryThread) {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  Attach(wire::Descriptor(static_cast<int>(syscall(SYS_pidfd_open, child, 0))));
  WaitFor(child);
  const auto ask = [&] {
    return link_.Ask(wire::Call::kForward, wire::Written(uint64_t{1})).status();
  };
  Status seen;
  std::thread([&] { seen = ask(); }).join();
  EXPECT_THAT(seen, Says("the process of the backend ended"));
  EXPECT_THAT(ask(), Says("the process of the backend ended"));
}

// Kills: a thread that takes another's answer, or asks for a channel each time.
TEST_F(LinkEndTest, AnotherThreadHasAChannelOfItsOwn) {
  static_cast<void>(Asked(wire::Call::kInspect));
  std::string first, second;
  std::thread caller([&] {
    first = Got(link_.Ask(wire::Call::kForward, wire::Written(uint64_t{77})));
    second = Got(link_.Ask(wire::Call::kForward, wire::Written(uint64_t{77})));
  });
  wire::Message brought = Got(host_.Receive());
  wire::Reader in(brought.text);
  EXPECT_EQ(in.Read<uint64_t>(), static_cast<uint64_t>(wire::Call::kThread));
  EXPECT_EQ(brought.text.size(), 4 * sizeof(uint64_t));
  ASSERT_EQ(brought.descriptors.size(), 1U);
  wire::Channel own(std::move(brought.descriptors[0]));
  for (const std::string_view answer : {"one", "two"}) {
    const wire::Message request = Got(own.Receive());
    EXPECT_EQ(ReadHead(request).generation > 0, answer == "one");
    ASSERT_TRUE(own.Send(answer).ok());
  }
  caller.join();
  EXPECT_EQ(first + " " + second, "one two");
}

}  // namespace
}  // namespace assay::host
