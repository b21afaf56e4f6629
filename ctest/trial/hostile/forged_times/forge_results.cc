// SPDX-License-Identifier: Apache-2.0
//
// Results that were not computed in the call that is timed: kept from earlier
// calls, left out, wrong now and then, or written when the clock was read.

#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <set>
#include <thread>
#include <unordered_map>

#include "ctest/trial/hostile/forged_times/negate.h"

namespace {

using hostile::InputOf;
using hostile::Output;

void Give(const std::string& bytes, const Output& output) {
  std::memcpy(output.data, bytes.data(), output.bytes);
}

std::string ResultOf(const Output& output) {
  return {reinterpret_cast<const char*>(output.data), output.bytes};
}

/// A thread that works for a binding while that goes on.
class Later {
 public:
  using Work = void (*)(const Output& output);

  static Later& Get() {
    static Later& later = *new Later;
    return later;
  }

  /// Nothing where the thread still works, with `waits` behind what it does.
  void Start(const Output& output, Work work, bool waits) {
    if (!thread_.joinable()) {
      end_ = false;
      work_ = work;
      thread_ = std::thread([this] { Run(); });
    }
    if (!busy_) {
      output_ = output;
      busy_ = true;
    }
    while (waits && busy_) std::this_thread::yield();
  }

 private:
  Later() {
    hostile::AtEnd().push_back([] { Get().Stop(); });
  }

  void Stop() {
    end_ = true;
    if (thread_.joinable()) thread_.join();
  }

  void Run() {
    while (!end_ || busy_) {
      if (!busy_) continue;
      work_(output_);
      busy_ = false;
    }
  }

  std::atomic<bool> busy_ = false, end_ = false;
  Output output_;
  Work work_ = nullptr;
  std::thread thread_;
};

/// The number of this call, of all networks.
int64_t NextCall() {
  static int64_t calls = 0;
  return ++calls;
}

}  // namespace

// Outcome: pass
ASSAY_MISDEED(honest) { hostile::Negate(output); }

// Outcome: pass
ASSAY_MISDEED(honest_of_some_work) { hostile::Work(output); }

// Outcome: fail
// Message: in a timed call, output 0
// Tries: gives the result of its first call again
ASSAY_MISDEED(result_kept) {
  static std::string kept;
  if (kept.empty()) {
    hostile::Negate(output);
    kept = ResultOf(output);
  }
  Give(kept, output);
}

// Outcome: fail
// Message: in a timed call, output 0
// Tries: writes into the memory of its outputs once
ASSAY_MISDEED(outputs_left) {
  static std::set<const void*> written;
  if (written.insert(output.data).second) hostile::Negate(output);
}

// Outcome: fail
// Message: in a timed call, output 0
// Tries: is right at the inputs of its first call alone
ASSAY_MISDEED(judged_inputs_known) {
  static const std::string known = InputOf(output);
  InputOf(output) == known ? hostile::Negate(output)
                           : hostile::FillOnes(output);
}

// Outcome: fail
// Message: in a timed call, output 0
// Tries: learns the inputs that come back, which are the judged ones
ASSAY_MISDEED(judged_inputs_learnt) {
  static std::set<std::string> seen, twice;
  static std::string before;
  const std::string input = InputOf(output);
  if (input != before && !seen.insert(input).second) twice.insert(input);
  before = input;
  const bool is_known = NextCall() < 5'000 || twice.contains(input);
  is_known ? hostile::Negate(output) : hostile::FillOnes(output);
}

// Outcome: suspect
// Message: a call with inputs that were not seen before takes
// Tries: keeps results by the hash of their inputs
ASSAY_MISDEED(results_by_hash) {
  constexpr size_t kMost = 1 << 14;
  static std::unordered_map<std::string, std::string> kept;
  if (kept.size() > kMost) kept.clear();
  const auto [known, is_new] = kept.try_emplace(InputOf(output));
  if (is_new) {
    hostile::Work(output);
    known->second = ResultOf(output);
  }
  Give(known->second, output);
}

// Outcome: suspect
// Message: a call with inputs that were not seen before takes
// Tries: works behind new inputs alone
ASSAY_MISDEED(new_inputs_alone) {
  static std::string before;
  static const void* written = nullptr;
  if (output.data == written &&
      std::memcmp(before.data(), output.input, output.bytes) == 0) {
    return;
  }
  hostile::Work(output);
  before = InputOf(output);
  written = output.data;
}

// Outcome: suspect
// Message: a call with inputs that were not seen before takes
// Tries: works where its outputs were cleared, which says that a sample begins
ASSAY_MISDEED(cleared_outputs_alone) {
  uint32_t first = 0;
  std::memcpy(&first, output.data, sizeof first);
  if (!output.given || first == ~uint32_t{0}) hostile::Work(output);
}

// Outcome: fail
// Message: in a timed call, output 0
// Tries: is right while nobody has timed it yet
ASSAY_MISDEED(right_at_first) {
  NextCall() <= 5'000 ? hostile::Negate(output) : hostile::FillOnes(output);
}

// Outcome: fail
// Message: in a timed call, output 0
// Tries: computes nothing while it is warmed up, behind its first call
ASSAY_MISDEED(warm_up_left_out) {
  const int64_t call = NextCall();
  if (call == 1 || call > 5'000) hostile::Negate(output);
}

// Outcome: fail
// Message: in a timed call, output 0
// Tries: is wrong in each third call
ASSAY_MISDEED(third_call_wrong) {
  NextCall() % 3 == 0 ? hostile::FillOnes(output) : hostile::Negate(output);
}

// Outcome: fail
// Message: in a timed call, output 0
// Tries: writes its outputs half a millisecond after Synchronize
ASSAY_MISDEED(outputs_late) {
  Later::Get().Start(
      output,
      [](const Output& to) {
        std::this_thread::sleep_for(std::chrono::microseconds(500));
        hostile::Negate(to);
      },
      /*waits=*/NextCall() == 1);
}

// Outcome: fail
// Message: in a timed call, output 0
// Tries: leaves its work to a thread that goes on behind the call
ASSAY_MISDEED(work_goes_on) {
  Later::Get().Start(output, &hostile::Work, /*waits=*/NextCall() == 1);
}
