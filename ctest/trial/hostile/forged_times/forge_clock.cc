// SPDX-License-Identifier: Apache-2.0
//
// An honest call in a process whose clock, or what it says, the module has
// changed. The work is done by the true clock.

#include <cerrno>

#include "ctest/trial/hostile/forged_answer.h"
#include "ctest/trial/hostile/forged_times/negate.h"

namespace {

using hostile::TrueNow;

/// The time that a false clock tells at the true time.
using Tells = int64_t (*)(int64_t now);

Tells tells = nullptr;
const int64_t began = TrueNow();

/// In the place of the system's.
int FalseClock(clockid_t clock, timespec* time) {
  constexpr int64_t kSecond = 1'000'000'000;
  if (clock != CLOCK_MONOTONIC) {
    return static_cast<int>(syscall(SYS_clock_gettime, clock, time));
  }
  const int64_t told = tells(TrueNow());
  *time = {told / kSecond, told % kSecond};
  return 0;
}

/// Leads the calls of a function, of all libraries of the process, to another.
/// Returns the one that was there.
void* Replace(const char* name, void* by) {
  struct Found {
    const char* name;
    void* by;
    void* before = nullptr;
  } found = {name, by};
  dl_iterate_phdr(
      [](dl_phdr_info* library, size_t, void* data) {
        auto* const all = static_cast<Found*>(data);
        void** const entry = hostile::EntryOf(*library, all->name);
        if (entry == nullptr) return 0;
        constexpr uintptr_t kPage = 4096;
        const auto page = reinterpret_cast<uintptr_t>(entry) / kPage * kPage;
        mprotect(reinterpret_cast<void*>(page), 2 * kPage,
                 PROT_READ | PROT_WRITE);
        if (all->before == nullptr) all->before = *entry;
        *entry = all->by;
        return 0;
      },
      &found);
  return found.before;
}

/// From the first call on.
void Tell(Tells other) {
  if (tells != nullptr) return;
  tells = other;
  Replace("clock_gettime", reinterpret_cast<void*>(&FalseClock));
}

/// Time of calls that no clock tells.
int64_t hidden_ns = 0;

int64_t calls_since_answer = 0;
ssize_t (*send_before)(int, const msghdr*, int) = nullptr;

/// Divides what may be a time in an answer that comes behind many calls.
ssize_t SendFewer(int socket, const msghdr* message, int flags) {
  constexpr int64_t kMany = 8;
  if (std::exchange(calls_since_answer, 0) < kMany) {
    return send_before(socket, message, flags);
  }
  for (size_t i = 0; i < message->msg_iovlen; ++i) {
    const iovec& part = message->msg_iov[i];
    auto* const words = static_cast<uint64_t*>(part.iov_base);
    for (size_t k = 0; k < part.iov_len / sizeof(uint64_t); ++k) {
      if (words[k] > 500 && words[k] < 10'000'000'000) words[k] /= 4;
    }
  }
  return send_before(socket, message, flags);
}

}  // namespace

// Outcome: suspect
// Message: by the clock of the judge
// Tries: has a clock of half the speed
ASSAY_MISDEED(clock_half) {
  Tell([](int64_t now) { return began + (now - began) / 2; });
  hostile::Work(output);
}

// Outcome: suspect
// Message: calls took 0 ns by the clock of the backend's process
// Tries: has a clock that stands still
ASSAY_MISDEED(clock_constant) {
  Tell([](int64_t) { return began; });
  hostile::Work(output);
}

// Outcome: suspect
// Message: at least by the clock of the backend's process
// Tries: has a clock that goes back
ASSAY_MISDEED(clock_back) {
  Tell([](int64_t now) { return began - (now - began); });
  hostile::Work(output);
}

// Outcome: suspect
// Message: at least by the clock of the backend's process
// Tries: has a clock that goes three times as fast, to look stable
ASSAY_MISDEED(clock_fast) {
  Tell([](int64_t now) { return began + 3 * (now - began); });
  hostile::Work(output);
}

// Outcome: suspect
// Message: calls took
// Tries: has a clock that is slow between reads that follow each other soon
ASSAY_MISDEED(clock_slow_in_short) {
  Tell([](int64_t now) {
    constexpr int64_t kShort = 100'000;
    static int64_t before = now;
    static int64_t told = now;
    const int64_t passed = now - std::exchange(before, now);
    return told += passed < kShort ? passed / 4 : passed;
  });
  hostile::Work(output);
}

// Outcome: suspect
// Message: by the clock of the
// Tries: has a clock that leaves out the time of its own work
ASSAY_MISDEED(clock_without_work) {
  Tell([](int64_t now) { return now - hidden_ns; });
  const int64_t start = TrueNow();
  hostile::Work(output);
  hidden_ns += TrueNow() - start;
}

// Outcome: suspect
// Message: us
// Tries: divides the times in the answer of its host
ASSAY_MISDEED(answer_divided) {
  if (send_before == nullptr) {
    send_before = reinterpret_cast<decltype(send_before)>(
        Replace("sendmsg", reinterpret_cast<void*>(&SendFewer)));
  }
  ++calls_since_answer;
  hostile::Work(output);
}
