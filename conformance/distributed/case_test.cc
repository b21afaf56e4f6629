// SPDX-License-Identifier: Apache-2.0

#include "conformance/distributed/case.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "conformance/distributed/ranks/distributed_row.h"
#include "conformance/distributed/ranks/ranks_fixture.h"
#include "conformance/distributed/scheme/scheme_run.h"

namespace assay::distributed {
namespace {

using Values = std::vector<int64_t>;
using ::testing::ElementsAre;
using ::testing::Pair;

TEST(CaseNamedTest, HasEveryCaseOfThePlan) {
  for (const AnyCase& each : AllCases()) {
    const std::optional<AnyCase> found = CaseNamed(IdOf(each));
    ASSERT_TRUE(found.has_value()) << IdOf(each);
    EXPECT_EQ(IdOf(*found), IdOf(each));
    if (const auto* const own = std::get_if<OwnCase>(&each);
        own != nullptr && own->tier > cases::Tier::kCi) {
      continue;
    }
    // Its own numbers are the last of those that there are.
    Values own;
    for (const suite::Extent& extent : ExtentsOf(each)) {
      ASSERT_FALSE(extent.values.empty()) << IdOf(each) << " " << extent.what;
      own.push_back(extent.values.back());
    }
    EXPECT_EQ(IdOf(Resized(each, own)), IdOf(each));
  }
}

// Kills: a name that is written otherwise; more than the plan has; numbers that
// a case has not, or that promise nothing.
TEST(CaseNamedTest, HasCasesOfLessThanThePlanAndNoOthers) {
  const struct {
    const char* test_id;
    bool is_case;
  } rows[] = {
      {"distributed/allreduce/ring.float32.sum.6#n6", true},
      {"distributed/allreduce/ring.float32.sum.2#n3.drawn", true},
      {"distributed/allreduce/ring.float32.sum.1031#n63", true},
      {"distributed/barrier/dissemination#n6", true},
      {"distributed/gather/own_split.float32.60#n6", true},
      {"distributed/reduce/own_in_place.float32.sum.1021#n2", true},
      {"distributed/reduce/own_in_place.int8.bit_or.65544#n8", true},
      {"distributed/allreduce/own.float32.sum.20000#n3", true},
      {"distributed/train_all_reduce/ring.adam#n4.steps3", true},
      {"distributed/train_all_reduce/own.momentum#n1.steps2", true},
      {"distributed/gossip/torus#n7", true},
      {"distributed/lenet5/train_all_reduce.ring.momentum#n3.steps1", true},
      {"", false},
      {"node/Abs/test_abs", false},
      {"distributed/allreduce/tree.float32.sum.5#n3", false},
      {"distributed/allreduce/ring.float32.sum#n3", false},
      {"distributed/allreduce/ring.float32.sum.6", false},
      {"distributed/allreduce/ring.float32.sum.6#n0", false},
      {"distributed/allreduce/ring.float32.sum.-1#n3", false},
      {"distributed/allreduce/ring.float32.sum.06#n3", false},
      {"distributed/allreduce/ring.float32.sum.6#n03", false},
      {"distributed/allreduce/ring.float32.sum.1032#n3", false},
      {"distributed/allreduce/ring.float32.sum.5#n1025", false},
      {"distributed/allreduce/ring.float32.sum.5#n3.steps2", false},
      {"distributed/barrier/linear.5#n3", false},
      {"distributed/reduce/own_in_place.int8.bit_or.65545#n8", false},
      {"distributed/reduce/own_in_place.float32.bit_or.5#n8", false},
      {"distributed/allreduce/own.float32.sum.20000#n9", false},
      {"distributed/gather/own_split.float32.61#n5", false},
      {"distributed/train_average/ring.gradient_descent#n3", false},
      {"distributed/train_all_reduce/ring.adam#n4.steps0", false},
      {"distributed/train_all_reduce/ring.adam#n4.steps5", false},
      {"distributed/train_all_reduce/ring.adam#n4.steps6", false},
      {"distributed/gossip/ring#n1", false},
      {"distributed/push_sum/one_peer#n6", false},
      {"distributed/ad_psgd/ring#n3", false},
      {"distributed/lenet5_to_95/train_all_reduce.ring.momentum#n3", false},
      {"distributed/lenet5_to_95/train_all_reduce.ring.momentum#n4.steps2",
       false},
  };
  for (const auto& row : rows) {
    const std::optional<AnyCase> found = CaseNamed(row.test_id);
    EXPECT_EQ(found.has_value(), row.is_case) << row.test_id;
    EXPECT_EQ(found.has_value() ? IdOf(*found) : row.test_id, row.test_id);
  }
}

// Kills: the nearest names, of which none says what is wrong with this one.
TEST(WhyNoneTest, SaysWhatThereIs) {
  const struct {
    const char* test_id;
    const char* why;
  } rows[] = {
      {"distributed/allreduce/ring.float32.sum.20000#n3",
       "found 20000 elements, wanted 0 to 1031 with 3 ranks"},
      {"distributed/allreduce/own.float32.sum.20000#n9",
       "found 20000 elements, wanted 0 to 1021 with 9 ranks"},
      {"distributed/allreduce/own.float32.sum.999999#n3",
       "found 999999 elements, wanted 0 to 262146 with 3 ranks"},
      {"distributed/allreduce/ring.float32.sum.5#n1025",
       "found 1025 ranks, wanted 1 to 1024"},
      {"distributed/gather/own_split.float32.61#n5",
       "the case is not defined for 5 ranks"},
      {"distributed/barrier/linear.5#n3", "found 5 elements, wanted none"},
      {"distributed/gather/linear.float32#n3",
       "found no number of elements, wanted 0 to"},
      {"distributed/train_all_reduce/ring.adam#n4.steps9",
       "found 9 steps, wanted 1 to 5 with 4 ranks"},
      {"distributed/allreduce/ring.float32.sum.06#n3",
       "wanted a name that is written as distributed/allreduce/ring."},
      {"distributed/allreduce/own_inplace.float32.sum.5#n3",
       "found 'own_inplace' behind distributed allreduce, wanted binomial or "},
      {"distributed/reduce/own.float16.bit_and.5#n3",
       "found 'bit_and' behind distributed reduce own float16, wanted max or "
       "min or product or sum"},
      {"distributed/allgather/own.float32.sum.5#n3",
       "found 'sum' behind distributed allgather own float32, wanted no more"},
      {"distributed/reduce/own.float64#n3",
       "found 'no more' behind distributed reduce own float64, wanted max or "},
      {"distributed/barrier/own.float32.5#n3",
       "found 'float32' behind distributed barrier own, wanted no more"},
  };
  for (const auto& row : rows) {
    EXPECT_THAT(WhyNone(row.test_id), ::testing::StartsWith(row.why))
        << row.test_id;
  }
}

TEST(PlannedCasesTest, OneRankProvesNothing) {
  for (const cases::TestCase& c : PlannedCases({})) {
    if (c.kind == "collective" && c.n_ranks == 1) {
      EXPECT_FALSE(c.vacuous.empty()) << c.test_id;
    }
    if (c.kind != "collective" || c.n_ranks > 2) {
      EXPECT_TRUE(c.vacuous.empty()) << c.test_id;
    }
  }
}

std::string TextOf(const suite::Extent& extent) {
  return StrCat(extent.what, " ", Joined(extent.values, " "));
}

TEST(ExtentsTest, AreTheNumbersOfANameAndWhatTheyCouldBe) {
  const struct {
    const char* test_id;
    const char* extents;
    const char* least;
  } rows[] = {
      {"distributed/allreduce/ring.float32.sum.3#n2",
       "ranks 1 2; elements 0 1 2 3",
       "distributed/allreduce/ring.float32.sum.0#n1"},
      {"distributed/allreduce/own_split.float32.sum.1#n4",
       "ranks 2 4; elements 0 1",
       "distributed/allreduce/own_split.float32.sum.0#n2"},
      {"distributed/neighbor_alltoall/own.uneven.int64.1#n2",
       "ranks 1 2; elements 0 1",
       "distributed/neighbor_alltoall/own.uneven.int64.0#n1"},
      {"distributed/barrier/linear#n3", "ranks 1 2 3",
       "distributed/barrier/linear#n1"},
      {"distributed/train_all_reduce/ring.adam#n2",
       "ranks 1 2; steps 1 2 3 4 5",
       "distributed/train_all_reduce/ring.adam#n1.steps1"},
      {"distributed/train_average/ring.gradient_descent#n8.steps2",
       "ranks 1 2 4 8; steps 1 2",
       "distributed/train_average/ring.gradient_descent#n1.steps1"},
      {"distributed/push_sum/one_peer#n8", "ranks 2 4 8",
       "distributed/push_sum/one_peer#n2"},
      {"distributed/push_sum/uneven#n5", "ranks 2 3 4 5",
       "distributed/push_sum/uneven#n2"},
      {"distributed/ad_psgd/ring#n8", "ranks 2 4 6 8",
       "distributed/ad_psgd/ring#n2"},
      {"distributed/lenet5/train_buckets.ring.momentum#n2",
       "ranks 1 2; steps 1 2 3 4",
       "distributed/lenet5/train_buckets.ring.momentum#n1.steps1"},
      {"distributed/lenet5_to_95/train_buckets.ring.momentum#n4", "ranks 1 2 4",
       "distributed/lenet5_to_95/train_buckets.ring.momentum#n1"},
  };
  for (const auto& row : rows) {
    const std::optional<AnyCase> found = CaseNamed(row.test_id);
    ASSERT_TRUE(found.has_value()) << row.test_id;
    const std::vector<suite::Extent> extents = ExtentsOf(*found);
    EXPECT_EQ(Joined(extents, "; ", TextOf), row.extents) << row.test_id;
    Values own, least;
    for (const suite::Extent& extent : extents) {
      own.push_back(extent.values.back());
      least.push_back(extent.values.front());
    }
    EXPECT_EQ(IdOf(Resized(*found, own)), row.test_id);
    EXPECT_EQ(IdOf(Resized(*found, least)), row.least);
  }
}

measure::Judgement RanByName(const std::string& test_id) {
  WrappedRanks ranks;
  record::PlanRow row;
  row.test_id = test_id;
  row.transport = "threads";
  record::RunFacts facts;
  facts.seed = 3;
  record::Record record;
  return RunPlanned(row, ranks, /*networks=*/nullptr, facts, &record);
}

// Kills: a smaller case whose rules are those of its plan's sizes, so that a
// library which is right fails it.
TEST(SmallerCaseTest, PassesOnThreads) {
  for (const cases::TestCase& each : PlannedCases({})) {
    const std::string_view id = each.test_id;
    const bool is_trained = id.find("/train_") != std::string_view::npos;
    if (each.n_ranks != 4 || each.ranks_train ||
        (is_trained && id.find(".gradient_descent#") == std::string::npos)) {
      continue;
    }
    const AnyCase planned = CaseNamed(id).value();
    Values least, middle;
    for (const suite::Extent& extent : ExtentsOf(planned)) {
      least.push_back(extent.values.front());
      middle.push_back(extent.values[extent.values.size() / 2]);
    }
    for (const Values& values : {least, middle}) {
      const std::string smaller = IdOf(Resized(planned, values));
      const measure::Judgement judged = RanByName(smaller);
      EXPECT_EQ(judged.outcome, record::Outcome::kPass)
          << smaller << ": " << judged.message;
    }
  }
}

TEST(SmallerCaseTest, TrainsAsManyStepsAsItsNameSays) {
  const AnyCase named =
      CaseNamed("distributed/train_all_reduce/ring.momentum#n2.steps3").value();
  const RanCase ran = PassedOn(std::get<SchemeCase>(named));
  ASSERT_EQ(ran.rows.size(), 1U);
  EXPECT_EQ(ran.rows[0].steps, 3);
  // Nobody has the name of more steps than the plan has.
  EXPECT_EQ(
      RanByName("distributed/train_all_reduce/ring.momentum#n2.steps9").outcome,
      record::Outcome::kError);
}

TEST(TellTest, LossesAndSimulatedTimeAreSaidWhereTheyAre) {
  DistributedRow row;
  row.scheme = "lenet5/train_all_reduce";
  row.collective = "ring";
  row.transport = "smpi";
  row.ranks = 4;
  const auto told = [&] {
    record::Record record;
    record.Add(row);
    return Tell({}, {}, record);
  };
  const auto ranks =
      Pair("ranks", "4 of smpi: lenet5/train_all_reduce by ring");
  EXPECT_THAT(told(), ElementsAre(ranks));
  row.loss_first = 2.5;
  row.loss_last = 0.25;
  row.simulated_us = 1536.5;
  EXPECT_THAT(told(),
              ElementsAre(ranks,
                          Pair("loss",
                               "2.5 before the first step, 0.25 before "
                               "the last"),
                          Pair("simulated", "1536.5 us by the clock of smpi")));
}

}  // namespace
}  // namespace assay::distributed
