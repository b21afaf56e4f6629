// SPDX-License-Identifier: Apache-2.0
//
// n-grams and patterns by hand, and what they refuse.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "backends/reference/kernel_rows.h"
#include "framework/testing/support/statuses_fixture.h"
#include "framework/testing/support/tensors_fixture.h"

namespace assay::reference {
namespace {

using ::testing::ElementsAre;

// 1; 2; 1 2; 2 2 of int64, at the coordinates 0, 1, 1 and 2.
std::string Counts(const std::string& attributes, const std::string& shape) {
  return "g (int64[" + shape +
         "] x) => (float[N] y) { y = TfIdfVectorizer"
         "<pool_int64s = [1, 2, 1, 2, 2, 2], ngram_counts = [0, 2], " +
         attributes + ">(x) }";
}

constexpr const char* kAll =
    "ngram_indexes = [0, 1, 1, 2], min_gram_length = 1, max_gram_length = 2, ";

TEST(Text, NgramsAreCountedAtTheirCoordinates) {
  const std::string all = kAll;
  ExpectRows({
      // 2 and 1 2 share a coordinate: 2 + 1.
      {Counts(all + "max_skip_count = 0, mode = \"TF\"", "4"),
       {I({4}, {1, 2, 2, 3})},
       {F({3}, {1, 3, 1})}},
      // 0.5 for 1, 2 * 2 + 4 for 2 and 1 2, 8 for 2 2.
      {Counts(all + "max_skip_count = 0, mode = \"TFIDF\", "
                    "weights = [0.5, 2.0, 4.0, 8.0]",
              "4"),
       {I({4}, {1, 2, 2, 3})},
       {F({3}, {0.5, 8, 8})}},
      // With skips a second 1 2 is found, by its first and third token.
      {Counts(all + "max_skip_count = 9223372036854775807, mode = \"TF\"", "3"),
       {I({3}, {1, 2, 2})},
       {F({3}, {1, 4, 1})}},
      {Counts(all + "max_skip_count = 0, mode = \"IDF\"", "3"),
       {I({3}, {2, 2, 2})},
       {F({3}, {0, 1, 1})}},
      {Counts(all + "max_skip_count = 0, mode = \"TF\"", "0"),
       {I({0}, {})},
       {F({3}, {0, 0, 0})}},
  });
}

TEST(Text, PatternsMatchInFull) {
  const auto network = NetworkOf(
      "g (string[2,2] x) => (bool[2,2] y) "
      "{ y = RegexFullMatch<pattern = \"(ab|c)*d?\">(x) }");
  const auto matched = Got(assay::Run(
      *network, {{"x", Strings({2, 2}, {"abcd", "abdc", "", "xd"})}}));
  EXPECT_THAT(matched[0].tensor()->elements<bool>(),
              ElementsAre(true, false, true, false));
}

TEST(Text, RefuseWhatDoesNotFit) {
  const std::string tf = "max_skip_count = 0, mode = \"TF\"";
  const std::string all = kAll;
  const auto refused = [](std::string graph, std::string message) {
    return Refusal{std::move(graph), {}, std::move(message)};
  };
  const auto pattern = [](const std::string& text) {
    return "g (string[2] x) => (bool[2] y) { y = RegexFullMatch" + text +
           "(x) }";
  };
  const auto grams = [&](const std::string& indexes, int least, int most) {
    return Counts(StrCat("ngram_indexes = ", indexes, ", min_gram_length = ",
                         least, ", max_gram_length = ", most, ", ", tf),
                  "2");
  };
  const auto pool = [&](const std::string& lists) {
    return "g (int64[2] x) => (float[N] y) { y = TfIdfVectorizer<" + lists +
           ", " + all + tf + ">(x) }";
  };
  ExpectRefusals({
      refused(pattern("<pattern = \"a(b\">"),
              "RegexFullMatch: pattern is 'a(b': missing ): a(b"),
      refused(pattern(""), "found no pattern"),
      refused(Counts(all + "max_skip_count = 0, mode = \"BM25\"", "2"),
              "mode is 'BM25'"),
      refused(Counts(all + "max_skip_count = -1, mode = \"TF\"", "2"),
              "max_skip_count -1"),
      refused(grams("[0, 1, 2, 3]", 2, 1),
              "min_gram_length is 2, max_gram_length 1"),
      refused(grams("[0, 1]", 1, 1), "ngram_indexes has 2 elements, wanted 4"),
      refused(grams("[0, 1, -1, 2]", 1, 1), "ngram_indexes has -1"),
      refused(Counts(all + tf + ", weights = [1.0]", "2"),
              "weights has 1 elements, wanted 4 as ngram_indexes"),
      refused(Counts(all + tf + ", pool_strings = [\"a\"]", "2"), "pool"),
      refused(
          pool("pool_int64s = [1, 2, 3], ngram_counts = [0, 2]"),
          "ngram_counts[1] is 2, wanted whole 2-grams up to 3 in a pool of 3"),
      refused(
          pool("pool_int64s = [1, 2], ngram_counts = [0, 9]"),
          "ngram_counts[0] is 0, wanted whole 1-grams up to 9 in a pool of 2"),
  });
}

}  // namespace
}  // namespace assay::reference
