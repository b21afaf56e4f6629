// SPDX-License-Identifier: Apache-2.0

#include "framework/core/status.h"

#include <gtest/gtest.h>

#include <vector>

namespace assay::core {
namespace {

TEST(Status, SaysCodeReasonAndMessage) {
  const struct {
    Status status;
    std::string text;
  } rows[] = {
      {OkStatus(), "OK"},
      {Status(StatusCode::kOk, Reason::kValue, "ignored"), "OK"},
      {InvalidArgument("axis ", 3, " is too large"),
       "invalid argument: axis 3 is too large"},
      {Unsupported(Reason::kDType, "no bfloat16"),
       "unsupported (dtype): no bfloat16"},
      {Unavailable("no device"), "unavailable (device): no device"},
      {DataLoss("file ends"), "data loss (reader): file ends"},
      {ResourceExhausted("full"), "resource exhausted (limit): full"},
      {Internal(true, " story"), "internal: true story"},
  };
  for (const auto& row : rows) EXPECT_EQ(row.status.ToString(), row.text);
}

TEST(Status, ContextStandsBeforeTheMessage) {
  const Status inner = Unsupported(Reason::kOpset, "too old");
  const Status outer = inner.WithContext("node 'a'");
  EXPECT_EQ(outer.message(), "node 'a': too old");
  EXPECT_EQ(outer.code(), inner.code());
  EXPECT_EQ(outer.reason(), inner.reason());
  EXPECT_TRUE(OkStatus().WithContext("node").ok());
}

TEST(Reason, NamesParseBack) {
  for (int i = 0; i <= static_cast<int>(Reason::kLimit); ++i) {
    const auto reason = static_cast<Reason>(i);
    EXPECT_EQ(ParseReason(ToString(reason)), reason) << ToString(reason);
  }
  EXPECT_EQ(ParseReason("Operator"), std::nullopt);
}

Result<int> Half(int number) {
  if (number % 2 != 0) return InvalidArgument(number, " is odd");
  return number / 2;
}

Result<int> Quarter(int number) {
  ASSAY_ASSIGN_OR_RETURN(const int half, Half(number));
  ASSAY_RETURN_IF_ERROR(Half(half).status());
  return half / 2;
}

TEST(Result, MacrosPassFailuresOn) {
  EXPECT_EQ(*Quarter(8), 2);
  EXPECT_EQ(Quarter(7).status().message(), "7 is odd");
  EXPECT_EQ(Quarter(6).status().message(), "3 is odd");
}

TEST(Result, OfAnOkStatusIsADefect) {
  const Result<int> result = OkStatus();
  EXPECT_FALSE(result.ok());
  EXPECT_EQ(result.status().code(), StatusCode::kInternal);
}

TEST(Joined, HasASeparatorBetweenItemsOnly) {
  EXPECT_EQ(Joined(std::vector<int>()), "");
  EXPECT_EQ(Joined(std::vector<std::string>{"a"}), "a");
  EXPECT_EQ(Joined(std::vector<std::string>{"", "b"}), ", b");
  EXPECT_EQ(Joined(std::vector<int>{1, 2}, "-", [](int i) { return i * i; }),
            "1-4");
}

TEST(CutFront, TakesASeparatorWithTheTextBeforeIt) {
  const struct {
    std::string_view text, front, rest;
  } rows[] = {{"a\n\nb", "a", "\nb"}, {"\nb", "", "b"}, {"b", "b", ""}};
  for (const auto& row : rows) {
    std::string_view text = row.text;
    EXPECT_EQ(CutFront(&text), row.front);
    EXPECT_EQ(text, row.rest) << row.text;
  }
  std::string_view pair = "a: b: c";
  EXPECT_EQ(CutFront(&pair, ": "), "a");
  EXPECT_EQ(pair, "b: c");
}

}  // namespace
}  // namespace assay::core
