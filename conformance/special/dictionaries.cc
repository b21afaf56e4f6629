// SPDX-License-Identifier: Apache-2.0
//
// Maps of ai.onnx.ml: CastMap, DictVectorizer, ZipMap, over every type of key
// and value that they take. Source: the page of each. DictVectorizer's calls
// the result 1-D and of shape [1, C]; that it is 1-D is ONNX's reference
// implementation. How CastMap writes a number, and what stands where no string
// is, nobody says, and no case asks.

#include "conformance/special/special.h"

namespace assay::inline v1 {
namespace {

// 30, 5 and 7.75 by the keys 9, -2 and 4.
Values Floats() {
  return {MapOf(Of(kI64, {3}, {9, -2, 4}), Of(kF32, {3}, {30, 5, 7.75}))};
}

Values Strings() {
  return {MapOf(Of(kI64, {3}, {3, 0, 1}), Texts({3}, {"-4", "12", "700"}))};
}

constexpr SpecialCase kCases[] = {
    {"ml.CastMap/dense_floats", "by ascending keys: -2, 4, 9",
     "g (map(int64, float) x) => (float[3] y) { y = ai.onnx.ml.CastMap(x) }",
     Floats,
     [] {
       return Values{Of(kF32, {3}, {5, 7.75, 30})};
     }},
    {"ml.CastMap/floats_to_integers", "7.75 is cut to 7",
     "g (map(int64, float) x) => (int64[3] y) "
     "{ y = ai.onnx.ml.CastMap<cast_to = \"TO_INT64\">(x) }",
     Floats,
     [] {
       return Values{Of(kI64, {3}, {5, 7, 30})};
     }},
    {"ml.CastMap/strings_to_floats", "\"12\", \"700\", \"-4\" by 0, 1, 3",
     "g (map(int64, string) x) => (float[3] y) "
     "{ y = ai.onnx.ml.CastMap<cast_to = \"TO_FLOAT\", map_form = \"DENSE\">"
     "(x) }",
     Strings,
     [] {
       return Values{Of(kF32, {3}, {12, 700, -4})};
     }},
    {"ml.CastMap/strings_to_integers", "the same as integers",
     "g (map(int64, string) x) => (int64[3] y) "
     "{ y = ai.onnx.ml.CastMap<cast_to = \"TO_INT64\">(x) }",
     Strings,
     [] {
       return Values{Of(kI64, {3}, {12, 700, -4})};
     }},
    {"ml.CastMap/strings_to_strings", "only put in order",
     "g (map(int64, string) x) => (string[3] y) "
     "{ y = ai.onnx.ml.CastMap<cast_to = \"TO_STRING\">(x) }",
     Strings,
     [] {
       return Values{Texts({3}, {"12", "700", "-4"})};
     }},
    {"ml.CastMap/sparse_floats", "5 at 0 and 7 at 3 of five",
     "g (map(int64, float) x) => (float[5] y) "
     "{ y = ai.onnx.ml.CastMap<map_form = \"SPARSE\", max_map = 5>(x) }",
     [] {
       return Values{MapOf(Of(kI64, {2}, {3, 0}), Of(kF32, {2}, {7, 5}))};
     },
     [] {
       return Values{Of(kF32, {5}, {5, 0, 0, 7, 0})};
     }},
    {"ml.CastMap/sparse_integers", "the last key may be max_map - 1",
     "g (map(int64, string) x) => (int64[4] y) "
     "{ y = ai.onnx.ml.CastMap<map_form = \"SPARSE\", max_map = 4, "
     "cast_to = \"TO_INT64\">(x) }",
     Strings,
     [] {
       return Values{Of(kI64, {4}, {12, 700, 0, -4})};
     }},
    {"ml.DictVectorizer/string_to_int64", "the example of the page",
     "g (map(string, int64) x) => (int64[4] y) { y = ai.onnx.ml.DictVectorizer"
     "<string_vocabulary = [\"a\", \"c\", \"b\", \"z\"]>(x) }",
     [] {
       return Values{MapOf(Texts({2}, {"a", "c"}), Of(kI64, {2}, {4, 8}))};
     },
     [] {
       return Values{Of(kI64, {4}, {4, 8, 0, 0})};
     }},
    {"ml.DictVectorizer/string_to_float",
     "the order of the keys does not count",
     "g (map(string, float) x) => (float[3] y) { y = ai.onnx.ml.DictVectorizer"
     "<string_vocabulary = [\"a\", \"b\", \"c\"]>(x) }",
     [] {
       return Values{
           MapOf(Texts({2}, {"c", "a"}), Of(kF32, {2}, {0x1p-149, -2}))};
     },
     [] {
       return Values{Of(kF32, {3}, {-2, 0, 0x1p-149})};
     }},
    {"ml.DictVectorizer/string_to_double", "a double stays one",
     "g (map(string, double) x) => (double[2] y) "
     "{ y = ai.onnx.ml.DictVectorizer<string_vocabulary = [\"a\", \"b\"]>(x) }",
     [] {
       return Values{MapOf(Texts({2}, {"b", "a"}), Of(kF64, {2}, {0.1, 0.2}))};
     },
     [] {
       return Values{Of(kF64, {2}, {0.2, 0.1})};
     }},
    {"ml.DictVectorizer/int64_to_string", "every key has its place",
     "g (map(int64, string) x) => (string[2] y) { y = ai.onnx.ml.DictVectorizer"
     "<int64_vocabulary = [5, 0]>(x) }",
     [] {
       return Values{
           MapOf(Of(kI64, {2}, {0, 5}), Texts({2}, {"zero", "five"}))};
     },
     [] {
       return Values{Texts({2}, {"five", "zero"})};
     }},
    {"ml.DictVectorizer/int64_to_float", "a vocabulary above 2^53",
     "g (map(int64, float) x) => (float[2] y) { y = ai.onnx.ml.DictVectorizer"
     "<int64_vocabulary = [9007199254740992, 9007199254740993]>(x) }",
     [] {
       return Values{
           MapOf(Whole(kI64, {1}, {9007199254740993}), Of(kF32, {1}, {3}))};
     },
     [] {
       return Values{Of(kF32, {2}, {0, 3})};
     }},
    {"ml.DictVectorizer/int64_to_double", "all keys of the vocabulary",
     "g (map(int64, double) x) => (double[3] y) { y = ai.onnx.ml.DictVectorizer"
     "<int64_vocabulary = [3, 2, 1]>(x) }",
     [] {
       return Values{
           MapOf(Of(kI64, {3}, {1, 2, 3}), Of(kF64, {3}, {0.1, 0.2, 0.3}))};
     },
     [] {
       return Values{Of(kF64, {3}, {0.3, 0.2, 0.1})};
     }},
    {"ml.ZipMap/strings", "a map for each row",
     "g (float[2,3] x) => (seq(map(string, float)) z) { z = ai.onnx.ml.ZipMap"
     "<classlabels_strings = [\"b\", \"a\", \"c\"]>(x) }",
     [] {
       return Values{Of(kF32, {2, 3}, {1, 2, 3, 4, 5, 6})};
     },
     [] {
       return Values{ListOf(
           {MapOf(Texts({3}, {"b", "a", "c"}), Of(kF32, {3}, {1, 2, 3})),
            MapOf(Texts({3}, {"b", "a", "c"}), Of(kF32, {3}, {4, 5, 6}))})};
     }},
    {"ml.ZipMap/integers", "keys in any order",
     "g (float[2,2] x) => (seq(map(int64, float)) z) "
     "{ z = ai.onnx.ml.ZipMap<classlabels_int64s = [7, -7]>(x) }",
     [] {
       return Values{Of(kF32, {2, 2}, {0.5, 0.25, kInf, 0x1p-149})};
     },
     [] {
       return Values{ListOf(
           {MapOf(Of(kI64, {2}, {7, -7}), Of(kF32, {2}, {0.5, 0.25})),
            MapOf(Of(kI64, {2}, {7, -7}), Of(kF32, {2}, {kInf, 0x1p-149}))})};
     }},
    {"ml.ZipMap/one_column", "as many maps as rows",
     "g (float[3,1] x) => (seq(map(int64, float)) z) "
     "{ z = ai.onnx.ml.ZipMap<classlabels_int64s = [1]>(x) }",
     [] {
       return Values{Of(kF32, {3, 1}, {1, 2, 3})};
     },
     [] {
       return Values{ListOf({MapOf(Of(kI64, {1}, {1}), Of(kF32, {1}, {1})),
                             MapOf(Of(kI64, {1}, {1}), Of(kF32, {1}, {2})),
                             MapOf(Of(kI64, {1}, {1}), Of(kF32, {1}, {3}))})};
     }},
};

}  // namespace

std::span<const SpecialCase> DictionariesCases() { return kCases; }

}  // namespace assay::inline v1
