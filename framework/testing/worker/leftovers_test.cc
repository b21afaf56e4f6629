// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/worker/leftovers.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <ctime>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace assay::worker {
namespace {

/// What is found after `misdeed`, in a process of its own: some cannot be put
/// back.
std::string FoundAfter(const std::function<void()>& misdeed) {
  int ends[2] = {};
  if (pipe(ends) != 0) return "no pipe";
  const pid_t child = fork();
  if (child == 0) {
    setpgid(0, 0);
    const Leftovers before;
    misdeed();
    // With an end: what is left may keep the pipe open.
    const std::string found = before.Found() + "\n";
    [[maybe_unused]] const auto said =
        write(ends[1], found.data(), found.size());
    _exit(0);
  }
  close(ends[1]);
  std::string found(256, '\0');
  found.resize(static_cast<size_t>(
      std::max<ssize_t>(0, read(ends[0], found.data(), found.size()))));
  close(ends[0]);
  kill(-child, SIGKILL);  // and what it has left
  waitpid(child, nullptr, 0);
  return found.substr(0, found.find('\n'));
}

struct Misdeed {
  std::string found;
  std::function<void()> done;
};

TEST(LeftoversTest, WhatCannotBePutBackIsFound) {
  const Misdeed misdeeds[] = {
      {"", [] {}},
      {"limits, descriptors",
       [] {
         const struct rlimit few = {3, 3};
         setrlimit(RLIMIT_NOFILE, &few);
       }},
      {"descriptors",
       [] {
         for (int i = 0; i < 100; ++i) {
           [[maybe_unused]] const int fd = open("/dev/null", O_RDONLY);
         }
       }},
      {"timers",
       [] {
         timer_t timer = {};
         timer_create(CLOCK_MONOTONIC, nullptr, &timer);
       }},
      {"processors",
       [] {
         cpu_set_t one;
         CPU_ZERO(&one);
         CPU_SET(static_cast<size_t>(sched_getcpu()), &one);
         sched_setaffinity(0, sizeof one, &one);
       }},
      {"threads",
       [] {
         std::thread([] {
           std::this_thread::sleep_for(std::chrono::hours(1));
         }).detach();
       }},
      {"processes",
       [] {
         if (fork() != 0) return;
         sleep(60);
         _exit(0);
       }},
  };
  for (const Misdeed& misdeed : misdeeds) {
    if (misdeed.found == "processors" &&
        std::thread::hardware_concurrency() < 2)
      continue;  // one is all there are
    EXPECT_EQ(FoundAfter(misdeed.done), misdeed.found);
  }
}

TEST(LeftoversTest, APoolThatWaitsIsNone) {
  EXPECT_EQ(FoundAfter([] {
              static std::mutex& mutex = *new std::mutex;
              static auto& never = *new std::condition_variable;
              std::thread([] {
                std::unique_lock lock(mutex);
                never.wait(lock, [] { return false; });
              }).detach();
              std::this_thread::sleep_for(std::chrono::milliseconds(50));
            }),
            "");
}

}  // namespace
}  // namespace assay::worker
