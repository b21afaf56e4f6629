// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/host/wire/channel.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>

#include "framework/testing/host/end_like.h"
#include "framework/testing/support/statuses_fixture.h"

namespace assay::wire {
namespace {

using Ends = std::pair<Channel, Channel>;
Ends Pair() { return Got(Channel::MakePair()); }

/// The other end's view of a message that is sent meanwhile.
Result<Message> Sent(Ends& ends, std::string_view head, std::string_view body) {
  Status sent;
  std::thread sender([&] { sent = ends.first.Send(head, body); });
  auto received = ends.second.Receive();
  sender.join();
  EXPECT_TRUE(sent.ok());
  return received;
}

/// The status of receiving a packet that no channel sent.
Status Forged(std::string_view packet, uint64_t size, uint64_t descriptors) {
  Ends ends = Pair();
  std::string bytes(reinterpret_cast<const char*>(&size), sizeof size);
  bytes.append(reinterpret_cast<const char*>(&descriptors), sizeof descriptors);
  bytes += packet;
  EXPECT_GT(send(ends.first.descriptor(), bytes.data(), bytes.size(), 0), 0);
  ends.first.Close();
  return ends.second.Receive().status();
}

// The pidfd of a child that has ended.
Descriptor EndedProcess() {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  Descriptor process(static_cast<int>(syscall(SYS_pidfd_open, child, 0)));
  host::WaitFor(child);
  return process;
}

// Kills: a part of a text that is lost, or comes twice, where a packet ends.
TEST(ChannelTest, TextsOfManyPacketsComeWhole) {
  constexpr size_t kPacket = 65536;
  Ends ends = Pair();
  for (const size_t head : {size_t{0}, size_t{1}, kPacket, kPacket + 1}) {
    for (const size_t body : {size_t{0}, kPacket - 1, kPacket, 3 * kPacket}) {
      std::string text(head + body, '\0');
      for (size_t i = 0; i < text.size(); ++i) {
        text[i] = static_cast<char>(i % 251);
      }
      const std::string_view all = text;
      const auto got = Sent(ends, all.substr(0, head), all.substr(head));
      ASSERT_TRUE(got.ok()) << head << " and " << body;
      EXPECT_TRUE(got->text == text) << head << " and " << body;
    }
  }
}

TEST(ChannelTest, AMessageBringsAsManyDescriptorsAsItMay) {
  Ends ends = Pair();
  const std::vector<int> most(Channel::kMostDescriptors,
                              ends.first.descriptor());
  for (const size_t count : {size_t{0}, size_t{1}, most.size()}) {
    ASSERT_TRUE(
        ends.first.Send("a", "b", {most.begin(), most.begin() + count}).ok());
    const auto got = Got(ends.second.Receive());
    EXPECT_EQ(got.text, "ab");
    ASSERT_EQ(got.descriptors.size(), count);
    for (const Descriptor& descriptor : got.descriptors) {
      EXPECT_GE(fcntl(descriptor.get(), F_GETFD), FD_CLOEXEC);
    }
  }
  std::vector<int> more = most;
  more.push_back(most[0]);
  EXPECT_THAT(ends.first.Send("a", "b", more),
              IsStatus(StatusCode::kInternal,
                       "found 251 descriptors, wanted 250 at most"));
}

TEST(ChannelTest, TheOtherSideIsGoneWhenItClosesItsEnd) {
  Ends ends = Pair();
  EXPECT_TRUE(ends.first.open());
  EXPECT_FALSE(ends.first.IsGone());
  ASSERT_TRUE(ends.second.Send("last").ok());
  EXPECT_FALSE(ends.first.IsGone());
  ends.second.Close();
  EXPECT_FALSE(ends.second.open());
  EXPECT_EQ(Got(ends.first.Receive()).text, "last");
  EXPECT_TRUE(ends.first.IsGone());
  EXPECT_EQ(ends.first.Send("more").code(), StatusCode::kCancelled);
  EXPECT_EQ(ends.first.Receive().status().code(), StatusCode::kCancelled);
  EXPECT_TRUE(Channel().IsGone());
}

// Kills: a process that lives, and is said to be gone.
TEST(ChannelTest, AMessageThatTheKernelRefusesSaysWhy) {
  Ends ends = Pair();
  EXPECT_THAT(
      ends.first.Send("a", {}, {-1}),
      IsStatus(StatusCode::kDataLoss, "cannot send: Bad file descriptor"));
  EXPECT_EQ(Got(Sent(ends, "b", {})).text, "b");
}

// Kills: a length that is believed; a message that ends in another one.
TEST(ChannelTest, APacketThatIsNoMessageIsRefused) {
  const uint64_t most = uint64_t{4} << 30;
  EXPECT_TRUE(Forged("text", 4, 0).ok());
  EXPECT_THAT(Forged("text", 3, 0), Says("found 4 bytes of a message of 3"));
  EXPECT_THAT(Forged("text", 4, 1), Says("with 0 of 1 descriptors"));
  EXPECT_THAT(Forged("text", most + 1, 0),
              IsStatus(StatusCode::kDataLoss, "found a packet of 20 bytes"));
  EXPECT_EQ(Forged("text", most, 0).code(), StatusCode::kCancelled);
  EXPECT_EQ(Forged("text", 5, 0).code(), StatusCode::kCancelled);
  Ends ends = Pair();
  ASSERT_EQ(send(ends.first.descriptor(), "short", 5, 0), 5);
  EXPECT_THAT(ends.second.Receive(), Says("found a packet of 5 bytes"));
}

TEST(ChannelTest, TheFirstMessageNamesItsSenderWhereItIsAsked) {
  Ends ends = Pair();
  ASSERT_TRUE(ends.second.AskWhoSends().ok());
  for (const pid_t sender : {getpid(), 0}) {
    ASSERT_TRUE(ends.first.Send("a").ok());
    EXPECT_EQ(Got(ends.second.Receive()).sender, sender);
  }
  EXPECT_THAT(Channel().AskWhoSends(), Says("cannot ask who sends"));
}

// Kills: waiting for whoever else holds the other end; losing what was sent.
TEST(ChannelTest, AProcessThatEndedIsGoneThoughItsEndIsOpen) {
  const Descriptor ended = EndedProcess();
  const Descriptor running(
      static_cast<int>(syscall(SYS_pidfd_open, getpid(), 0)));
  Ends ends = Pair();
  ends.first.Watch(running.get());
  EXPECT_FALSE(ends.first.IsGone());
  ends.first.Watch(ended.get());
  EXPECT_TRUE(ends.first.IsGone());
  ASSERT_TRUE(ends.second.Send("last").ok());
  EXPECT_EQ(Got(ends.first.Receive()).text, "last");
  EXPECT_EQ(ends.first.Receive().status().code(), StatusCode::kCancelled);
  // The rest of a text does not come.
  const uint64_t header[] = {5, 0};
  ASSERT_GT(send(ends.second.descriptor(), header, sizeof header, 0), 0);
  EXPECT_EQ(ends.first.Receive().status().code(), StatusCode::kCancelled);
}

// Kills: a signal, or a wait without news, that ends a message.
TEST(ChannelTest, ASignalEndsNoMessage) {
  struct sigaction act = {};
  act.sa_handler = [](int) {};
  struct sigaction before = {};
  sigaction(SIGUSR1, &act, &before);
  const Descriptor running(
      static_cast<int>(syscall(SYS_pidfd_open, getpid(), 0)));
  const std::string text(size_t{1} << 20, 't');
  Ends ends = Pair();
  ends.first.Watch(running.get());
  Result<Message> got = Internal("nothing");
  Status sent;
  std::atomic<bool> done = false;
  std::thread receiver([&] {
    got = ends.first.Receive();
    // Nobody receives for a while: the sender waits, too.
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    got = ends.first.Receive();
    done = true;
  });
  std::thread sender([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    sent = ends.second.Send("first");
    if (sent.ok()) sent = ends.second.Send(text);
  });
  while (!done) {
    pthread_kill(receiver.native_handle(), SIGUSR1);
    pthread_kill(sender.native_handle(), SIGUSR1);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  receiver.join();
  sender.join();
  sigaction(SIGUSR1, &before, nullptr);
  EXPECT_TRUE(sent.ok());
  ASSERT_TRUE(got.ok());
  EXPECT_TRUE(got->text == text);
}

}  // namespace
}  // namespace assay::wire
