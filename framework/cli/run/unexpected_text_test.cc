// SPDX-License-Identifier: Apache-2.0

#include "framework/cli/run/unexpected_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::run {
namespace {

using ::testing::HasSubstr;

// Kills: a line for each of 5,000 cases that one fault failed; two faults in one
// group.
TEST(UnexpectedTextTest, GroupsByWhyTheMostFrequentFirst) {
  verdict::Verdicts verdicts;
  const auto add = [&](const char* id, const char* outcome,
                       std::string reason) {
    verdicts.unexpected.push_back({"acme", id, outcome, std::move(reason)});
    record::Record& record = verdicts.final.emplace_back();
    record.result.backend = "acme";
    record.result.test_id = id;
    record.result.repro = StrCat("assay run ", id);
  };
  add("node/Abs/a", "crash", "SIGSEGV; see acme.1.log");
  for (const char* id : {"node/Add/a", "node/Add/b", "node/Add/c"}) {
    add(id, "fail",
        StrCat("output y: ", verdicts.final.size(), " of 24 out of limit"));
  }
  add("node/Abs/b", "fail", "output z: 1 of 24 out of limit");
  EXPECT_EQ(UnexpectedText(verdicts),
            "\nunexpected: 5\n"
            "  acme: 3 fail: output y: 1 of 24 out of limit; first node/Add/a\n"
            "    repeat: assay run node/Add/a\n"
            "  acme: 1 crash: SIGSEGV; see acme.1.log; first node/Abs/a\n"
            "    repeat: assay run node/Abs/a\n"
            "  acme: 1 fail: output z: 1 of 24 out of limit; first node/Abs/b\n"
            "    repeat: assay run node/Abs/b\n");
  verdicts.unexpected[1].reason = std::string(1 << 20, 'x');
  EXPECT_LT(UnexpectedText(verdicts).size(), 2000U);
}

TEST(UnexpectedTextTest, CountsTheKindsThatAreNotShown) {
  verdict::Verdicts verdicts;
  EXPECT_EQ(UnexpectedText(verdicts), "");
  for (char c = 'a'; c < 'a' + 12; ++c) {
    verdicts.unexpected.push_back({"acme", "", "lost", std::string(1, c)});
  }
  EXPECT_THAT(UnexpectedText(verdicts), HasSubstr("  and 2 more kinds: "));
}

TEST(UnavailableTextTest, SaysWhyABackendIsNotThere) {
  verdict::Verdicts verdicts;
  verdicts.backends.emplace_back().backend = "good";
  EXPECT_EQ(UnavailableText(verdicts), "");
  record::BackendRow& acme = verdicts.backends.emplace_back();
  acme.backend = "acme";
  acme.unavailable_reason = "no ACME card";
  EXPECT_THAT(UnavailableText(verdicts),
              HasSubstr("acme is unavailable: no ACME card (--allow-"));
}

}  // namespace
}  // namespace assay::run
