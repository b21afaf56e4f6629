// SPDX-License-Identifier: Apache-2.0
//
// Text: n-grams counted, patterns matched, words dropped. Source: the pages of
// TfIdfVectorizer-9, RegexFullMatch-20 with the syntax of RE2, and
// StringNormalizer-10. That a 1-gram counts once for all skips is ONNX's
// reference implementation.

#include "conformance/special/special.h"

namespace assay::inline v1 {
namespace {

// The pool 5; 6; 5 6; 6 5; 5 5 with coordinates 4, 0, 1, 3, 2.
#define ASSAY_TFIDF(type, shape, columns, lengths, attributes)       \
  "g (" type "[" shape "] x) => (float[" columns                     \
  "] y) "                                                            \
  "{ y = TfIdfVectorizer<pool_int64s = [5, 6, 5, 6, 6, 5, 5, 5], "   \
  "ngram_counts = [0, 2], ngram_indexes = [4, 0, 1, 3, 2], " lengths \
  ", " attributes ">(x) }"
#define ASSAY_ONES_TWOS "min_gram_length = 1, max_gram_length = 2"
#define ASSAY_REGEX(pattern, count)         \
  "g (string[" count "] x) => (bool[" count \
  "] y) "                                   \
  "{ y = RegexFullMatch<pattern = \"" pattern "\">(x) }"

Values Tokens() { return {Of(kI32, {6}, {5, 6, 6, 5, 5, 7})}; }

constexpr SpecialCase kCases[] = {
    {"TfIdfVectorizer/tf", "6: 2, 5 6: 1, 5 5: 1, 6 5: 1, 5: 3",
     ASSAY_TFIDF("int32", "6", "5", ASSAY_ONES_TWOS,
                 "max_skip_count = 0, mode = \"TF\""),
     Tokens,
     [] {
       return Values{Of(kF32, {5}, {2, 1, 1, 1, 3})};
     }},
    {"TfIdfVectorizer/skips",
     "one left out: 5 6, 6 5, 6 5 too; what stands alone counts once",
     ASSAY_TFIDF("int32", "6", "5", ASSAY_ONES_TWOS,
                 "max_skip_count = 1, mode = \"TF\""),
     Tokens,
     [] {
       return Values{Of(kF32, {5}, {2, 2, 1, 3, 3})};
     }},
    {"TfIdfVectorizer/idf", "the weight of each n-gram found, by its own place",
     ASSAY_TFIDF("int64", "4", "5", ASSAY_ONES_TWOS,
                 "max_skip_count = 0, mode = \"IDF\", "
                 "weights = [0.5, 2.0, 4.0, 8.0, 16.0]"),
     [] {
       return Values{Of(kI64, {4}, {5, 5, 5, 6})};
     },
     [] {
       return Values{Of(kF32, {5}, {2, 4, 16, 0, 0.5})};
     }},
    {"TfIdfVectorizer/tfidf", "the same weights times 1, 1, 2, 0, 3",
     ASSAY_TFIDF("int64", "4", "5", ASSAY_ONES_TWOS,
                 "max_skip_count = 0, mode = \"TFIDF\", "
                 "weights = [0.5, 2.0, 4.0, 8.0, 16.0]"),
     [] {
       return Values{Of(kI64, {4}, {5, 5, 5, 6})};
     },
     [] {
       return Values{Of(kF32, {5}, {2, 4, 32, 0, 1.5})};
     }},
    {"TfIdfVectorizer/only_2_grams",
     "of rows: none crosses from one to another",
     ASSAY_TFIDF("int64", "2,3", "2,5",
                 "min_gram_length = 2, max_gram_length = 2",
                 "max_skip_count = 0, mode = \"TF\""),
     [] {
       return Values{Of(kI64, {2, 3}, {6, 5, 5, 6, 5, 6})};
     },
     [] {
       return Values{Of(kF32, {2, 5}, {0, 0, 1, 1, 0, 0, 1, 0, 1, 0})};
     }},
    {"TfIdfVectorizer/strings", "a word is not its beginning",
     "g (string[4] x) => (float[3] y) { y = TfIdfVectorizer"
     "<pool_strings = [\"a\", \"ab\", \"a\", \"ab\"], ngram_counts = [0, 2], "
     "ngram_indexes = [0, 1, 2], min_gram_length = 1, max_gram_length = 2, "
     "max_skip_count = 0, mode = \"TF\">(x) }",
     [] {
       return Values{Texts({4}, {"a", "a", "ab", "abc"})};
     },
     [] {
       return Values{Of(kF32, {3}, {2, 1, 1})};
     }},
    {"RegexFullMatch/all_of_it", "not a part, neither in front nor behind",
     ASSAY_REGEX("b+", "5"),
     [] {
       return Values{Texts({5}, {"bbb", "abb", "bba", "", "b"})};
     },
     [] {
       return Values{Of(kBool, {5}, {1, 0, 0, 0, 1})};
     }},
    {"RegexFullMatch/alternatives", "either in full: a or ab, and not abc",
     ASSAY_REGEX("a|ab", "4"),
     [] {
       return Values{Texts({4}, {"a", "ab", "abc", "b"})};
     },
     [] {
       return Values{Of(kBool, {4}, {1, 1, 0, 0})};
     }},
    {"RegexFullMatch/letters", "a character is one of UTF-8, not a byte",
     ASSAY_REGEX("..", "3"),
     [] {
       return Values{Texts({3}, {"\xC3\xA9\xE4\xBD\xA0", "\xC3\xA9", "ab"})};
     },
     [] {
       return Values{Of(kBool, {3}, {1, 0, 1})};
     }},
    {"RegexFullMatch/flags", "(?i) is blind to case, and a dot to no newline",
     ASSAY_REGEX("(?i)ab.", "4"),
     [] {
       return Values{Texts({4}, {"aBx", "ABX", "ab\n", "ab"})};
     },
     [] {
       return Values{Of(kBool, {4}, {1, 1, 0, 0})};
     }},
    {"RegexFullMatch/empty", "nothing matches the empty string only",
     ASSAY_REGEX("", "2"),
     [] {
       return Values{Texts({2}, {"", " "})};
     },
     [] {
       return Values{Of(kBool, {2}, {1, 0})};
     }},
    {"StringNormalizer/stopwords_of_any_case", "by default case does not count",
     "g (string[4] x) => (string[n] y) "
     "{ y = StringNormalizer<stopwords = [\"The\"]>(x) }",
     [] {
       return Values{Texts({4}, {"the", "Cat", "THE", "sat"})};
     },
     [] {
       return Values{Texts({2}, {"Cat", "sat"})};
     }},
    {"StringNormalizer/stopwords_of_this_case", "case counts: only The goes",
     "g (string[1,4] x) => (string[1,n] y) { y = StringNormalizer"
     "<stopwords = [\"The\"], is_case_sensitive = 1, "
     "case_change_action = \"UPPER\">(x) }",
     [] {
       return Values{Texts({1, 4}, {"the", "The", "Cat", "sat"})};
     },
     [] {
       return Values{Texts({1, 3}, {"THE", "CAT", "SAT"})};
     }},
    {"StringNormalizer/lower", "letters of UTF-8 too",
     "g (string[2] x) => (string[n] y) "
     "{ y = StringNormalizer<case_change_action = \"LOWER\">(x) }",
     [] {
       return Values{Texts({2}, {"\xC3\x89T\xC3\x89", "A1b"})};
     },
     [] {
       return Values{Texts({2}, {"\xC3\xA9t\xC3\xA9", "a1b"})};
     }},
    {"StringNormalizer/words_only_in_full", "a stopword inside a word stays",
     "g (string[3] x) => (string[n] y) "
     "{ y = StringNormalizer<stopwords = [\"a\"]>(x) }",
     [] {
       return Values{Texts({3}, {"a", "ab", "a b"})};
     },
     [] {
       return Values{Texts({2}, {"ab", "a b"})};
     }},
};

}  // namespace

std::span<const SpecialCase> TextCases() { return kCases; }

}  // namespace assay::inline v1
