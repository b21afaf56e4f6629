// SPDX-License-Identifier: Apache-2.0
//
// Over the whole corpus: what is listed can be drawn, and what is not has a
// reason.

#include "conformance/redrawn/subject.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "conformance/redrawn/case.h"
#include "framework/testing/case/read_corpus.h"
#include "framework/testing/measure/recheck.h"

namespace assay::redrawn {
namespace {

record::PlanRow RowOf(const cases::TestCase& c) {
  record::PlanRow row;
  row.test_id = c.test_id;
  row.suite = c.suite;
  row.directory = c.directory.string();
  return row;
}

class RedrawnCorpus : public testing::Test {
 protected:
  void SetUp() override {
    auto corpus = cases::ReadCorpus(ASSAY_CORPUS);
    ASSERT_TRUE(corpus.ok()) << corpus.status().ToString();
    corpus_ = *std::move(corpus);
    cases_ = RedrawnCases({&corpus_, 1});
  }

  cases::Corpus corpus_;
  std::vector<cases::TestCase> cases_;
};

// Kills: a case that is listed and has no other inputs at some seed, or whose
// inputs are of another type or shape than the model takes.
TEST_F(RedrawnCorpus, EachCaseHasOtherInputsOfTheSameForm) {
  for (const cases::TestCase& c : cases_) {
    const auto own = cases::ReadCaseInputs(c.directory, 1);
    ASSERT_TRUE(own.ok()) << c.test_id;
    for (const int64_t seed : {0, 1, 2}) {
      record::RunFacts facts;
      facts.seed = seed;
      const auto subject = SubjectOf(RowOf(c), facts);
      ASSERT_TRUE(subject.ok()) << c.test_id << " with seed " << seed << ": "
                                << subject.status().ToString();
      const auto& inputs = subject->inputs[0];
      const auto& before = own->sets[0].inputs;
      ASSERT_EQ(inputs.size(), before.size()) << c.test_id;
      EXPECT_FALSE(std::ranges::equal(inputs, before, measure::SameBits));
      for (size_t i = 0; i < inputs.size(); ++i) {
        const Tensor* const tensor = inputs[i].tensor();
        if (tensor == nullptr) continue;
        EXPECT_EQ(tensor->Signature(), before[i].tensor()->Signature());
      }
    }
  }
}

// Kills: a case that is in neither list, and operators that are left out one by
// one.
TEST_F(RedrawnCorpus, WhatIsLeftOutHasAReason) {
  std::map<std::string, int> reasons;
  size_t left_out = 0;
  for (const cases::TestCase& c : corpus_.cases) {
    const std::string why = WhyNot(c);
    if (why.empty()) continue;
    ++reasons[why];
    ++left_out;
  }
  EXPECT_EQ(cases_.size() + left_out, corpus_.cases.size());
  for (const auto& [why, count] : reasons) {
    RecordProperty(why, count);
    std::cout << count << " cases: " << why << "\n";
  }
  std::cout << cases_.size() << " cases are redrawn\n";
  EXPECT_GT(cases_.size(), 4 * left_out);
}

}  // namespace
}  // namespace assay::redrawn
