// SPDX-License-Identifier: Apache-2.0
//
// Backends that would be called fast for work that they do not do, and clocks
// that lie. None is accepted, and what is honest is.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <thread>

#include "framework/backend/forwarding_network.h"
#include "framework/testing/host/hosted_backend.h"
#include "perf/times/made_fixture.h"

namespace assay::times {
namespace {

using record::Outcome;
using testing::HasSubstr;

using Numbers = std::array<float, kElements>;

/// One is enough: what is drawn hangs on the machine's times as well.
constexpr std::array<uint64_t, 1> kSeeds = {1};

/// About the longest work of which a sample has several calls.
int64_t ShortWork() {
  static const double least =
      timing::LeastSampleNs(timing::CostOf(timing::SteadyNow));
  return static_cast<int64_t>(0.6 * least);
}

void ExpectVerdict(Backend& backend, Outcome outcome, const char* says) {
  for (const uint64_t seed : kSeeds) {
    const auto verdict = TimesOf(backend, seed).verdict;
    EXPECT_EQ(verdict.outcome, outcome) << seed << verdict.message;
    EXPECT_THAT(verdict.message, HasSubstr(says));
  }
}

void ExpectWrong(Backend& backend) {
  ExpectVerdict(backend, Outcome::kFail, "in a timed call, found other");
}

void ExpectSuspect(Backend& backend, const char* says) {
  ExpectVerdict(backend, Outcome::kSuspect, says);
}

// Kills: an honest backend that is suspected, as one behind a host is.
TEST(ForgeryTest, HonestOnesPass) {
  for (const int64_t work : {int64_t{0}, ShortWork(), int64_t{200'000}}) {
    auto honest = MadeOf([work](const Bound& bound) {
      Spin(work);
      Negate(bound);
    });
    ExpectVerdict(honest, Outcome::kPass, "");
    host::HostedBackend hosted(honest);
    ExpectVerdict(hosted.backend(), Outcome::kPass, "");
  }
}

// Kills: outputs of timed calls that nobody looks at, or only of the first.
TEST(ForgeryTest, AResultThatIsKeptIsWrong) {
  auto keeping = MadeBackend([] {
    auto kept = std::make_shared<std::map<const void*, Numbers>>();
    return [kept](const Bound& bound) {
      Tensor y = bound.y;
      const auto [old, is_first] = kept->try_emplace(y.data());
      if (is_first) {
        Negate(bound);
        Copy(y.data(), old->second.data());
      }
      Copy(old->second.data(), y.mutable_data());
    };
  });
  ExpectWrong(keeping);
  host::HostedBackend hosted(keeping);
  ExpectWrong(hosted.backend());
}

// Kills: memory that is not cleared, in which an old answer stands.
TEST(ForgeryTest, AnOutputThatIsLeftUnwrittenIsWrong) {
  auto lazy = MadeBackend([] {
    auto written = std::make_shared<std::set<const void*>>();
    return [written](const Bound& bound) {
      if (written->insert(bound.y.data()).second) Negate(bound);
    };
  });
  ExpectWrong(lazy);
}

// Kills: the same where all inputs are alike, and so is what they give.
TEST(ForgeryTest, AnOutputThatIsLeftUnwrittenIsWrongAtTheSameInputsToo) {
  auto lazy = MadeBackend([] {
    auto written = std::make_shared<std::set<const void*>>();
    return [written](const Bound& bound) {
      if (written->insert(bound.y.data()).second) Negate(bound);
    };
  });
  record::Record record;
  const auto verdict =
      JudgeSubject(NegativesOf(std::vector<float>(kElements, 3)), lazy,
                   FactsOf(0.2), 1, MadeMachine(/*is_noisy=*/false), &record);
  EXPECT_EQ(verdict.outcome, Outcome::kFail) << verdict.message;
}

// Kills: judged inputs that are always those which a backend has seen.
TEST(ForgeryTest, OneThatKnowsTheJudgedInputsIsWrongElsewhere) {
  auto knowing = MadeBackend([known = std::make_shared<std::vector<float>>()] {
    return [known](const Bound& bound) {
      const std::vector<float> x = FloatsOf(bound.x);
      if (known->empty()) *known = x;
      x == *known ? Negate(bound) : Fill(bound, 1);
    };
  });
  ExpectWrong(knowing);
}

// Kills: inputs of which each set that is judged comes more than once.
TEST(ForgeryTest, OneThatLearnsTheJudgedInputsIsWrongAtTheLast) {
  struct Learnt {
    int calls = 0;
    std::vector<float> before;
    std::set<std::vector<float>> seen, twice;
  };
  for (const uint64_t seed : kSeeds) {
    auto learning = MadeBackend([learnt = std::make_shared<Learnt>()] {
      return [learnt](const Bound& bound) {
        const std::vector<float> x = FloatsOf(bound.x);
        if (x != learnt->before && !learnt->seen.insert(x).second) {
          learnt->twice.insert(x);
        }
        learnt->before = x;
        const bool is_known =
            ++learnt->calls < 200 || learnt->twice.contains(x);
        is_known ? Negate(bound) : Fill(bound, 1);
      };
    });
    EXPECT_EQ(TimesOf(learning, seed).verdict.outcome, Outcome::kFail) << seed;
  }
}

/// Wrong in the calls of a network whose number says so, the first excepted.
StubBackend WrongIn(const std::function<bool(int64_t call)>& is_wrong) {
  return MadeBackend([is_wrong] {
    auto calls = std::make_shared<int64_t>(0);
    return [is_wrong, calls](const Bound& bound) {
      const int64_t call = ++*calls;
      call > 1 && is_wrong(call) ? Fill(bound, 1) : Negate(bound);
    };
  });
}

TEST(ForgeryTest, OneThatIsWrongInSomeCallsIsFound) {
  auto third = WrongIn([](int64_t call) { return call % 3 == 0; });
  ExpectWrong(third);
  auto odd = WrongIn([](int64_t call) { return call % 2 == 1; });
  ExpectWrong(odd);
  auto even = WrongIn([](int64_t call) { return call % 2 == 0; });
  ExpectWrong(even);
}

TEST(ForgeryTest, OneThatIsWrongFromSomeCallOnIsFound) {
  for (const int64_t first : {50, 200}) {
    auto late = WrongIn([first](int64_t call) { return call >= first; });
    ExpectWrong(late);
  }
}

// Kills: a warm-up that nobody judges.
TEST(ForgeryTest, OneThatComputesNothingUntilSomeCallIsFound) {
  for (const int64_t last : {50, 200}) {
    auto fast = WrongIn([last](int64_t call) { return call <= last; });
    ExpectWrong(fast);
  }
}

/// A busy machine may make samples of so few calls that each is slow.
void ExpectSuspectIfFast(Backend& backend) {
  for (const uint64_t seed : kSeeds) {
    const auto times = TimesOf(backend, seed);
    if (times.verdict.outcome == Outcome::kPass) {
      EXPECT_GT(2 * times.Of("warm").median_ns.value() + 500,
                0.9 * static_cast<double>(ShortWork()));
      continue;
    }
    // An old output may be judged before its call is found too short.
    if (times.verdict.outcome == Outcome::kFail) continue;
    EXPECT_EQ(times.verdict.outcome, Outcome::kSuspect);
    EXPECT_THAT(times.verdict.message,
                HasSubstr("a call with inputs that were not seen before"));
  }
}

/// Results by their inputs, of which the last of a kind stays.
struct Remembered {
  static constexpr size_t kSize = 4096;
  std::vector<Numbers> x = std::vector<Numbers>(kSize);
  std::vector<Numbers> y = std::vector<Numbers>(kSize);

  static size_t PlaceOf(const void* inputs) {
    std::array<uint64_t, kElements / 2> words = {};
    Copy(inputs, words.data());
    uint64_t hash = 0;
    for (const uint64_t word : words) hash = 31 * hash + (word ^ (word >> 23U));
    return hash % kSize;
  }
};

// Kills: results by inputs that are found again in each sample.
TEST(ForgeryTest, OneThatRemembersInputsIsSuspect) {
  auto remembering = MadeBackend([] {
    auto known = std::make_shared<Remembered>();
    return [known](const Bound& bound) {
      Tensor y = bound.y;
      const size_t place = Remembered::PlaceOf(bound.x.data());
      Numbers& old = known->x[place];
      if (std::memcmp(old.data(), bound.x.data(), sizeof old) != 0) {
        Spin(ShortWork());
        Negate(bound);
        Copy(bound.x.data(), old.data());
        Copy(y.data(), known->y[place].data());
      }
      Copy(known->y[place].data(), y.mutable_data());
    };
  });
  ExpectSuspectIfFast(remembering);
}

TEST(ForgeryTest, OneThatWorksBehindNewInputsOnlyIsSuspect) {
  auto first = MadeBackend([] {
    auto last = std::make_shared<Numbers>();
    return [last](const Bound& bound) {
      if (std::memcmp(last->data(), bound.x.data(), sizeof *last) == 0) return;
      Copy(bound.x.data(), last->data());
      Spin(ShortWork());
      Negate(bound);
    };
  });
  ExpectSuspectIfFast(first);
}

/// Negates in a thread, some time after it was told to.
class Later {
 public:
  Later() : thread_([this] { Work(); }) {}
  ~Later() {
    end_ = true;
    thread_.join();
  }
  /// Nothing where it still works.
  void Start(const Bound& bound) {
    if (busy_) return;
    bound_ = bound;
    busy_ = true;
  }
  void Wait() const {
    while (busy_) std::this_thread::yield();
  }

 private:
  void Work() {
    while (!end_) {
      if (!busy_) {
        std::this_thread::yield();
        continue;
      }
      std::this_thread::sleep_for(std::chrono::microseconds(500));
      Negate(bound_);
      busy_ = false;
    }
  }

  std::atomic<bool> busy_ = false, end_ = false;
  Bound bound_;
  std::thread thread_;
};

// Kills: outputs that are read when the work is long done.
TEST(ForgeryTest, WorkThatGoesOnAfterSynchronizeIsWrong) {
  auto late = MadeBackend([] {
    auto later = std::make_shared<Later>();
    auto calls = std::make_shared<int>(0);
    return [later, calls](const Bound& bound) {
      later->Start(bound);
      if (++*calls == 1) later->Wait();
    };
  });
  ExpectWrong(late);
}

using TimesTold = std::function<int64_t(int64_t ns)>;

/// A network whose process says other times.
class OtherTimes : public ForwardingNetwork, public host::TimedThere {
 public:
  OtherTimes(std::unique_ptr<Network> inner, TimesTold times)
      : ForwardingNetwork(std::move(inner)), times_(std::move(times)) {}

  Result<host::Timed> TimeRuns(Binding& binding,
                               const host::TimedAsk& ask) override {
    ASSAY_ASSIGN_OR_RETURN(host::Timed timed,
                           host::TimeRuns(inner(), binding, ask));
    for (auto& sample : timed.samples) {
      sample = std::chrono::nanoseconds(times_(sample.count()));
    }
    return timed;
  }
  Result<std::vector<host::Life>> TimeLives(std::span<const Value>,
                                            int64_t count) override {
    return std::vector<host::Life>(static_cast<size_t>(count));
  }

 private:
  TimesTold times_;
};

/// An honest backend of some work, whose process says other times.
StubBackend Saying(TimesTold times, int64_t work_ns = 2'000) {
  return StubBackend([times = std::move(times), work_ns](
                         auto model, const LoadOptions& options)
                         -> Result<std::unique_ptr<Network>> {
    ASSAY_ASSIGN_OR_RETURN(Signature signature, SignatureOf(*model, options));
    auto network = std::make_unique<MadeNetwork>(std::move(signature),
                                                 [work_ns](const Bound& bound) {
                                                   Spin(work_ns);
                                                   Negate(bound);
                                                 });
    return std::make_unique<OtherTimes>(std::move(network), times);
  });
}

TEST(ForgeryTest, AClockThatTellsTheTruthPasses) {
  auto honest = Saying([](int64_t ns) { return ns; });
  ExpectVerdict(honest, Outcome::kPass, "");
}

TEST(ForgeryTest, AClockOfHalfTheSpeedIsSuspect) {
  auto half = Saying([](int64_t ns) { return ns / 2; });
  ExpectSuspect(half, "by the clock of the judge and");
}

// Kills: a host that is believed since its clock is right now and then.
TEST(ForgeryTest, AClockOfHalfTheSpeedMostOfTheTimeIsSuspect) {
  auto half = Saying(
      [n = 0](int64_t ns) mutable { return ++n % 5 == 0 ? ns : ns / 2; });
  ExpectSuspect(half, "by the clock of the judge and");
}

// Kills: noise that is called a forgery, and noise that makes one a pass.
TEST(ForgeryTest, OnANoisyMachineAWrongClockIsUndecided) {
  auto half = Saying([](int64_t ns) { return ns / 2; });
  const Times times = TimesOn(MadeMachine(/*is_noisy=*/true), half, 1, 0.1);
  EXPECT_EQ(times.verdict.outcome, Outcome::kUnsupported);
  EXPECT_EQ(times.verdict.reason.text(), record::kUndecided);
  EXPECT_THAT(times.verdict.message, HasSubstr("the machine was not quiet: "));
}

// Kills: a clock that is held to the truth where samples are long alone.
TEST(ForgeryTest, AClockThatIsSlowInShortSamplesIsSuspect) {
  auto slow = Saying([](int64_t ns) { return ns < 100'000 ? ns / 4 : ns; });
  ExpectSuspect(slow, ", and as many by their own times");
}

TEST(ForgeryTest, TimesThatAreAllTheSameAreSuspect) {
  auto one = Saying([](int64_t) { return 2'000; });
  ExpectSuspect(one, "by the clock of the");
}

// Kills: times that are longer than the call that gave them.
TEST(ForgeryTest, TimesOfMoreThanThereWasAreSuspect) {
  auto more = Saying([](int64_t ns) { return 10'000'000 + ns; });
  ExpectSuspect(more, " at least by the clock of the backend's process, and ");
  auto huge = Saying([](int64_t) { return int64_t{1} << 62; });
  ExpectSuspect(huge, " at least by the clock of the backend's process, and ");
}

// Kills: a warm-up that goes on until times of nothing are long enough.
TEST(ForgeryTest, TimesOfNothingOrLessAreSuspect) {
  auto none = Saying([](int64_t) { return 0; });
  ExpectSuspect(none, " calls took 0 ns by the clock of the backend's process");
  auto less = Saying([](int64_t ns) { return -ns; });
  ExpectSuspect(less, " calls took -");
  // Few calls, among others whose times are right.
  auto now_and_then =
      Saying([n = 0](int64_t ns) mutable { return ++n % 7 == 0 ? -ns : ns; },
             /*work_ns=*/100'000);
  ExpectSuspect(now_and_then, " ns by the clock of the backend's process");
}

}  // namespace
}  // namespace assay::times
