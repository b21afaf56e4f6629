// SPDX-License-Identifier: Apache-2.0

#include "framework/ranks/scheme/async.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <set>
#include <utility>

#include "framework/ranks/collective.h"
#include "framework/ranks/scheme/bundle.h"
#include "framework/ranks/scheme/scheme_fixture.h"
#include "framework/ranks/threads/world.h"
#include "framework/testing/support/statuses_fixture.h"

namespace assay::ranks {
namespace {

using ::testing::Each;
using ::testing::Property;

using Numbers = std::vector<double>;

/// One number. Its gradient is the rank, which gives one sum in every order,
/// or, where `is_pulled`, the rank times the number, which tells orders apart.
PulledObjective OneNumber(int rank, bool is_pulled) {
  const double slope = is_pulled ? rank : 0;
  return {/*start=*/64, /*goal=*/0, slope, /*steady=*/rank - slope};
}

struct Served {
  double number = 0;
  Staleness seen;
};

/// A run of a server and workers of so many steps each.
Served ServedBy(int workers, const ServerOptions& options, bool is_pulled,
                Choices* choices) {
  Served served;
  const auto ended = RunThreads(
      workers + 1,
      [&](Endpoint& mine) {
        PulledObjective objective = OneNumber(mine.rank(), is_pulled);
        if (mine.rank() > 0) {
          WorkerScheme scheme(mine);
          for (int64_t i = 0; i < options.steps; ++i) {
            ASSAY_RETURN_IF_ERROR(scheme.Step(objective).status());
          }
          return OkStatus();
        }
        const auto optimizer = Made("gradient_descent");
        ASSAY_ASSIGN_OR_RETURN(
            served.seen, ServeGradients(mine, *optimizer, objective, options));
        served.number = objective.number();
        return OkStatus();
      },
      choices);
  EXPECT_THAT(ended, kAllWell);
  return served;
}

// Kills: a gradient that is lost or taken twice in some order.
TEST(ServeGradientsTest, EveryGradientCountsOnceInEveryOrder) {
  int64_t ways = 0;
  ListedChoices listed;
  do {
    ++ways;
    const Served served =
        ServedBy(3, {.steps = 2}, /*is_pulled=*/false, &listed);
    ASSERT_EQ(served.number, 64 - 0.125 * 2 * (1 + 2 + 3));
  } while (listed.GoOn());
  // Two of each worker in any order, since an answer goes out at once.
  EXPECT_EQ(ways, 90);
}

// The numbers stand on a grid of 2^-3: nothing is rounded.
TEST(ServeGradientsTest, EveryGradientCountsOnceInDrawnOrders) {
  constexpr int kWorkers = 4;
  std::set<int64_t> staleness;
  for (uint64_t seed = 0; seed < 1000; ++seed) {
    DrawnChoices drawn(seed);
    const Served served =
        ServedBy(kWorkers, {.steps = 6}, /*is_pulled=*/false, &drawn);
    ASSERT_EQ(served.number, 64 - 0.125 * 6 * (1 + 2 + 3 + 4)) << seed;
    staleness.insert(served.seen.updates);
  }
  EXPECT_GT(staleness.size(), 3U);
}

// Kills: a slack that is not kept. Bounds: the gap is what the slack allows and
// the step that is under way; while a gradient is, each other worker makes at
// most twice the slack and one more.
TEST(ServeGradientsTest, NobodyIsFartherAheadThanTheSlack) {
  constexpr int kWorkers = 4;
  for (const int64_t slack : {0, 1, 3}) {
    Staleness worst;
    std::set<double> numbers;
    for (uint64_t seed = 0; seed < 1000; ++seed) {
      DrawnChoices drawn(seed);
      const Served served = ServedBy(kWorkers, {.steps = 6, .slack = slack},
                                     /*is_pulled=*/true, &drawn);
      worst.clock_gap = std::max(worst.clock_gap, served.seen.clock_gap);
      worst.updates = std::max(worst.updates, served.seen.updates);
      numbers.insert(served.number);
    }
    EXPECT_EQ(worst.clock_gap, slack + 1);
    EXPECT_LE(worst.updates, (2 * slack + 1) * (kWorkers - 1));
    EXPECT_GE(worst.updates, kWorkers - 1);
    // Without slack no order shows; with it, or one was run again and again.
    if (slack == 0) {
      EXPECT_EQ(numbers.size(), 1U);
    } else {
      EXPECT_GT(numbers.size(), 50U) << slack;
    }
  }
}

// Kills: a slack of 0 that lets a worker go on before all have followed.
TEST(ServeGradientsTest, WithoutSlackAllStepTogether) {
  ListedChoices listed;
  do {
    const Served served =
        ServedBy(2, {.steps = 3, .slack = 0}, /*is_pulled=*/true, &listed);
    // Both workers' gradients are of the number that a step began with.
    double number = 64;
    for (int i = 0; i < 3; ++i) number -= 0.125 * (1 + 2) * number;
    ASSERT_EQ(served.number, number);
    ASSERT_EQ(served.seen.updates, 1);
  } while (listed.GoOn());
}

TEST(ServeGradientsTest, WantsRankZeroAndWorkers) {
  const auto ended = RunThreads(1, [](Endpoint& mine) {
    PulledObjective objective = OneNumber(0, false);
    const auto optimizer = Made("gradient_descent");
    return ServeGradients(mine, *optimizer, objective, {}).status();
  });
  EXPECT_THAT(ended[0], Says("found rank 0 of 1, wanted rank 0 of 2 or more"));
}

constexpr uint64_t kSeed = 7;
constexpr double kRate = 0.125;

/// A message is sent once it is received, as an MPI may do that has no room for
/// it: each is answered by an empty one in a communicator of its own.
class Synchronous final : public ForwardingEndpoint {
 public:
  Synchronous(Endpoint& inner, Endpoint& receipts)
      : ForwardingEndpoint(inner), receipts_(receipts) {}

  Status Exchange(int to, std::span<const std::byte> out, int from,
                  std::span<std::byte> in) override {
    ASSAY_RETURN_IF_ERROR(inner_.Exchange(to, out, from, in));
    ASSAY_RETURN_IF_ERROR(receipts_.Exchange(from, {}, kNobody, {}));
    return receipts_.Exchange(kNobody, {}, to, {});
  }
  Result<int> ReceiveAny(std::span<std::byte> in) override {
    ASSAY_ASSIGN_OR_RETURN(const int sender, inner_.ReceiveAny(in));
    ASSAY_RETURN_IF_ERROR(receipts_.Exchange(sender, {}, kNobody, {}));
    return sender;
  }

 private:
  Endpoint& receipts_;
};

/// The numbers of all ranks after a run, and the bytes that all sent.
struct Ended {
  Numbers numbers;
  int64_t bytes = 0;
};

template <class Model>
Ended EndOf(std::vector<Model> models, int64_t steps, Choices* choices) {
  std::vector<int64_t> bytes(models.size());
  const auto ended = RunThreads(
      static_cast<int>(models.size()),
      [&](Endpoint& mine) {
        const auto rank = static_cast<size_t>(mine.rank());
        WatchedEndpoint watched(mine);
        AdPsgdScheme scheme(watched, Made("gradient_descent"), {steps, kSeed});
        for (int64_t i = 0; i < steps; ++i) {
          ASSAY_RETURN_IF_ERROR(scheme.Step(models[rank]).status());
        }
        ASSAY_RETURN_IF_ERROR(scheme.Finish(models[rank]));
        bytes[rank] = watched.sent().bytes;
        return OkStatus();
      },
      choices);
  Ended run;
  for (size_t rank = 0; rank < models.size(); ++rank) {
    EXPECT_TRUE(ended[rank].ok()) << ended[rank].ToString();
    run.numbers.push_back(models[rank].number());
    run.bytes += bytes[rank];
  }
  return run;
}

/// One rank of a run without messages.
struct Place {
  double number = 0;
  int64_t step = 0;

  /// A step that is pulled to 0 from where the rank was, on a number that is
  /// another now.
  void StepFrom(double mean, int64_t steps) {
    number = mean - (step < steps ? kRate * number : 0);
    ++step;
  }
};

/// Adds the numbers that ranks end with, for each order in which active ranks
/// are served.
void AddEnds(const std::vector<Place>& places, int64_t steps,
             std::set<Numbers>* ends) {
  const int ranks = static_cast<int>(places.size());
  bool is_end = true;
  for (int active = 1; active < ranks; active += 2) {
    std::vector<Place> next = places;
    Place& asks = next[static_cast<size_t>(active)];
    if (asks.step == steps) continue;
    is_end = false;
    Place& answers =
        next[static_cast<size_t>(PassiveOf(kSeed, active, ranks, asks.step))];
    const double mean = (asks.number + answers.number) / 2;
    asks.StepFrom(mean, steps);
    answers.StepFrom(mean, steps);
    AddEnds(next, steps, ends);
  }
  if (!is_end) return;
  Numbers numbers;
  for (Place place : places) {
    while (place.step < steps) place.StepFrom(place.number, steps);
    numbers.push_back(place.number);
  }
  ends->insert(numbers);
}

// Kills: a gradient that is taken or applied on the wrong side of the average
// in some order, a request that is answered twice or by the wrong numbers.
TEST(AdPsgdSchemeTest, EndsAsInOneThreadInEveryOrder) {
  constexpr int kRanks = 4;
  constexpr int64_t kOfEach = 3;
  std::set<Numbers> wanted;
  AddEnds({{0}, {1}, {4}, {9}}, kOfEach, &wanted);
  EXPECT_GT(wanted.size(), 5U);
  std::set<Numbers> found;
  int64_t ways = 0;
  ListedChoices listed;
  do {
    ++ways;
    found.insert(EndOf(FromSquares(kRanks, 1), kOfEach, &listed).numbers);
  } while (listed.GoOn());
  EXPECT_EQ(found, wanted);
  // 6! / (3! 3!): the orders of two active ranks with three requests each.
  EXPECT_EQ(ways, 20);
}

// The numbers stand on a grid of 2^-3, which each of 24 averages halves at
// most: nothing is rounded. Kills: a mean that only one of the two takes, a
// step that is lost.
TEST(AdPsgdSchemeTest, TheSumIsExactInEveryOrder) {
  constexpr int kRanks = 8;
  constexpr int64_t kOfEach = 6;
  std::set<Numbers> ends;
  for (uint64_t seed = 0; seed < 1000; ++seed) {
    std::vector<SteadyObjective> models;
    double wanted = 0;
    for (int rank = 0; rank < kRanks; ++rank) {
      models.emplace_back(rank * rank, rank - 2);
      wanted += rank * rank - kRate * kOfEach * (rank - 2);
    }
    DrawnChoices drawn(seed);
    const Ended run = EndOf(std::move(models), kOfEach, &drawn);
    ASSERT_EQ(TotalOf(run.numbers), wanted) << "seed " << seed;
    ends.insert(run.numbers);
  }
  EXPECT_GT(ends.size(), 50U);
}

// Kills: a mean with another weight than a half.
TEST(AdPsgdSchemeTest, NobodyLeavesTheHullWithoutGradients) {
  constexpr int kRanks = 6;
  for (uint64_t seed = 0; seed < 1000; ++seed) {
    DrawnChoices drawn(seed);
    const Ended run = EndOf(FromSquares(kRanks, 0), /*steps=*/5, &drawn);
    const auto [least, greatest] = std::ranges::minmax(run.numbers);
    ASSERT_GE(least, 0) << "seed " << seed;
    ASSERT_LE(greatest, 25) << "seed " << seed;
    ASSERT_EQ(TotalOf(run.numbers), 55) << "seed " << seed;
  }
}

// Kills: ranks that ask the same passive rank in each step.
TEST(AdPsgdSchemeTest, RanksComeTogether) {
  constexpr int64_t kOfEach = 600;
  for (const int ranks : {2, 4, 8}) {
    const double mean = MeanOfSquares(ranks);
    DrawnChoices drawn(1);
    const Ended run = EndOf(FromSquares(ranks, 0), kOfEach, &drawn);
    for (const double number : run.numbers) {
      EXPECT_NEAR(number, mean, 1e-12 * mean) << ranks << " ranks";
    }
    // There and back, a header and a number of float64.
    EXPECT_EQ(run.bytes, ranks / 2 * kOfEach * 2 * (16 + 8));
  }
}

// Every order, with room for messages and without. Kills: ranks that wait for
// each other; an active rank that is through while a passive one waits for a
// request, and gets what is sent next in its place.
TEST(AdPsgdSchemeTest, NobodyStandsStillAndOtherMessagesMayFollow) {
  const auto program = [](Endpoint& mine) -> Status {
    PulledObjective model(mine.rank(), /*goal=*/0, /*pull=*/1);
    for (const uint64_t seed : {kSeed, kSeed + 1}) {
      AdPsgdScheme scheme(mine, Made("gradient_descent"), {2, seed});
      for (int i = 0; i < 2; ++i) {
        ASSAY_RETURN_IF_ERROR(scheme.Step(model).status());
      }
      ASSAY_RETURN_IF_ERROR(scheme.Finish(model));
    }
    std::vector<Tensor> values = ValuesOf(model);
    return MeanOfAll(values, {Algorithm::kLinear}, mine);
  };
  for (const int ranks : {2, 4}) {
    for (const bool has_room : {true, false}) {
      ListedChoices listed;
      int runs = 0;
      do {
        const auto ended = RunThreads(
            ranks,
            [&](Endpoint& mine) -> Status {
              if (has_room) return program(mine);
              ASSAY_ASSIGN_OR_RETURN(const auto receipts,
                                     mine.Split(0, mine.rank()));
              Synchronous synchronous(mine, *receipts);
              return program(synchronous);
            },
            &listed);
        ASSERT_THAT(ended, Each(Property(&Status::message, ""))) << runs;
        ++runs;
      } while (listed.GoOn());
      // With four ranks each of the two schemes has 4! / (2! 2!) orders.
      EXPECT_EQ(runs, ranks == 2 ? 1 : 6 * 6);
    }
  }
}

TEST(AdPsgdSchemeTest, AppliesAGradientToTheMean) {
  // Both go to 4, and then by an eighth of where they were.
  const Ended run = EndOf(std::vector<PulledObjective>{{0, 0, 1}, {8, 0, 1}},
                          /*steps=*/1, nullptr);
  EXPECT_EQ(run.numbers, (Numbers{4, 3}));
}

// Tensors of float32, on a grid that no average leaves. Kills: tensors that
// stand in a message in another order, or in part.
TEST(AdPsgdSchemeTest, KeepsTheMeanOfEachElement) {
  const std::string plain = "gradient_descent";
  for (const int ranks : {2, 4}) {
    const Trained trained =
        TrainedBy(Making<AdPsgdScheme>(AdPsgdScheme::Options{kSteps, kSeed}),
                  plain, ranks);
    std::vector<float> mean(trained.parameters[0].size());
    for (const auto& parameters : trained.parameters) {
      for (size_t i = 0; i < mean.size(); ++i) {
        mean[i] += parameters[i] / static_cast<float>(ranks);
      }
    }
    EXPECT_EQ(mean, Alone(plain, ranks)) << ranks << " ranks";
    EXPECT_NE(trained.parameters[0], mean);
  }
}

TEST(PassiveOfTest, IsOneOfTheTwoBesideDrawn) {
  std::set<int> drawn;
  std::set<std::vector<int>> rows;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    std::vector<int> row;
    for (int64_t step = 0; step < 20; ++step) {
      row.push_back(PassiveOf(seed, /*rank=*/7, /*ranks=*/8, step));
      EXPECT_EQ(PassiveOf(seed, 1, 2, step), 0);
    }
    drawn.insert(row.begin(), row.end());
    rows.insert(row);
  }
  EXPECT_EQ(drawn, (std::set{0, 6}));
  EXPECT_EQ(rows.size(), 20U);
}

TEST(AdPsgdSchemeTest, WantsAnEvenNumberOfRanksAndItsSteps) {
  for (const int ranks : {1, 3}) {
    const auto ended = RunThreads(ranks, [](Endpoint& mine) {
      PulledObjective model(0, 0, 0);
      AdPsgdScheme scheme(mine, Made("gradient_descent"), {.steps = 1});
      return scheme.Step(model).status();
    });
    EXPECT_THAT(ended[0],
                IsStatus(StatusCode::kInvalidArgument,
                         StrCat("found ", ranks, " ranks, wanted an even")));
  }
  const auto ended = RunThreads(2, [](Endpoint& mine) {
    PulledObjective model(0, 0, 0);
    AdPsgdScheme scheme(mine, Made("gradient_descent"), {.steps = 1});
    EXPECT_THAT(scheme.Finish(model), Says("found 0 steps, wanted 1"));
    ASSAY_RETURN_IF_ERROR(scheme.Step(model).status());
    return scheme.Step(model).status();
  });
  for (const Status& status : ended) {
    EXPECT_THAT(status, IsStatus(StatusCode::kInvalidArgument,
                                 "behind the last one, wanted 1"));
  }
}

using Header = ModelMessage::Header;
std::vector<Header> Headers(auto... each) { return {each...}; }

/// A rank that sends headers of its own, which the rank of the scheme does not
/// take.
struct RequestLie {
  std::string name;
  int ranks, liar;
  std::vector<Header> headers;
  std::string message;
};

const RequestLie kRequestLies[] = {
    {"a request of a later step", 2, 1, Headers(Header{1, 1}),
     "found a request of step 1 at version 1 from rank 1, wanted step 0 at "
     "version 0"},
    {"a request of the step before", 2, 1, Headers(Header{0, 0}, Header{0, 0}),
     "found a request of step 0 at version 0 from rank 1, wanted step 1 at "
     "version 1"},
    {"a request of other parameters", 2, 1, Headers(Header{0, 0}, Header{0, 1}),
     "found a request of step 1 at version 0 from rank 1, wanted step 1 at "
     "version 1"},
    {"a request of a rank that is passive", 4, 2, Headers(Header{0, 0}),
     "found a request of step 0 from rank 2, wanted none from there"},
    {"an answer to another step", 2, 0, Headers(Header{0, 1}),
     "found an answer to step 1 at version 0 from rank 0, wanted one to step 0 "
     "at version 0 or after"},
    {"an answer of parameters that are older", 2, 0,
     Headers(Header{5, 0}, Header{5, 1}),
     "found an answer to step 1 at version 5 from rank 0, wanted one to step 1 "
     "at version 6 or after"},
};

/// An active liar asks rank 0, and a passive one answers rank 1.
Status TellLies(const RequestLie& lie, Endpoint& mine) {
  const bool asks = lie.liar != 0;
  PulledObjective model(0, 0, 0);
  ModelMessage sent, came;
  const std::vector<Tensor> values = ValuesOf(model);
  for (const Header& header : lie.headers) {
    sent.Write(header, values);
    if (!asks) {
      ASSAY_RETURN_IF_ERROR(
          mine.Exchange(kNobody, {}, 1, came.RoomFor(values)));
    }
    ASSAY_RETURN_IF_ERROR(
        mine.Exchange(asks ? 0 : 1, sent.bytes(), asks ? 0 : kNobody,
                      asks ? came.RoomFor(values) : std::span<std::byte>()));
  }
  return OkStatus();
}

TEST(AdPsgdSchemeTest, MessagesOfOtherStepsAreDataLoss) {
  for (const RequestLie& lie : kRequestLies) {
    const int honest = lie.liar == 0 ? 1 : 0;
    const auto ended = RunThreads(lie.ranks, [&](Endpoint& mine) -> Status {
      if (mine.rank() == lie.liar) return TellLies(lie, mine);
      if (mine.rank() != honest) return OkStatus();
      PulledObjective model(0, 0, 0);
      AdPsgdScheme scheme(mine, Made("gradient_descent"), {5, kSeed});
      ASSAY_RETURN_IF_ERROR(scheme.Step(model).status());
      return scheme.Step(model).status();
    });
    const Status& status = ended[static_cast<size_t>(honest)];
    EXPECT_THAT(status, IsStatus(StatusCode::kDataLoss, lie.message))
        << lie.name;
  }
}

}  // namespace
}  // namespace assay::ranks
