// SPDX-License-Identifier: Apache-2.0
//
// Features, categories and labels of ai.onnx.ml. Source: the page of each
// operator. For FeatureVectorizer whose input dimension is not its input's
// width, and of the shape that ArrayFeatureExtractor makes of a vector, the
// pages say nothing: there it is ONNX's reference implementation.

#include "conformance/special/special.h"

namespace assay::inline v1 {
namespace {

constexpr SpecialCase kCases[] = {
    {"ml.Scaler/per_feature", "less 1, 2, 3, then times 2, 1/2, -1",
     "g (float[2,3] x) => (float[2,3] y) { y = ai.onnx.ml.Scaler"
     "<offset = [1.0, 2.0, 3.0], scale = [2.0, 0.5, -1.0]>(x) }",
     [] {
       return Values{Of(kF32, {2, 3}, {3, 4, 5, 2, 6, -1})};
     },
     [] {
       return Values{Of(kF32, {2, 3}, {4, 1, -2, 2, 2, 4})};
     }},
    {"ml.Scaler/one_for_all", "less -1, then times 4, of each of a double[3]",
     "g (double[3] x) => (float[3] y) "
     "{ y = ai.onnx.ml.Scaler<offset = [-1.0], scale = [4.0]>(x) }",
     [] {
       return Values{Of(kF64, {3}, {0, 1.5, -3})};
     },
     [] {
       return Values{Of(kF32, {3}, {4, 10, -8})};
     }},
    {"ml.Scaler/int64", "halves of integers are floats",
     "g (int64[2,2] x) => (float[2,2] y) "
     "{ y = ai.onnx.ml.Scaler<offset = [1.0, -2.0], scale = [0.5, 0.25]>(x) }",
     [] {
       return Values{Of(kI64, {2, 2}, {2, 3, 4, -5})};
     },
     [] {
       return Values{Of(kF32, {2, 2}, {0.5, 1.25, 1.5, -0.75})};
     }},
    {"ml.Scaler/int32", "the same of int32",
     "g (int32[1,2] x) => (float[1,2] y) "
     "{ y = ai.onnx.ml.Scaler<offset = [1.0, -2.0], scale = [0.5, 0.25]>(x) }",
     [] {
       return Values{Of(kI32, {1, 2}, {2, 3})};
     },
     [] {
       return Values{Of(kF32, {1, 2}, {0.5, 1.25})};
     }},
    {"ml.Imputer/per_feature", "0 becomes 5 in the first column, else 7",
     "g (float[2,2] x) => (float[2,2] y) "
     "{ y = ai.onnx.ml.Imputer<imputed_value_floats = [5.0, 7.0]>(x) }",
     [] {
       return Values{Of(kF32, {2, 2}, {0, 1, 2, 0})};
     },
     [] {
       return Values{Of(kF32, {2, 2}, {5, 1, 2, 7})};
     }},
    {"ml.Imputer/nan", "NaN is found although it equals nothing",
     "g (float[3] x) => (float[3] y) { y = ai.onnx.ml.Imputer"
     "<imputed_value_floats = [0.5], replaced_value_float = nan>(x) }",
     [] {
       return Values{Of(kF32, {3}, {1, kNan, -2})};
     },
     [] {
       return Values{Of(kF32, {3}, {1, 0.5, -2})};
     }},
    {"ml.Imputer/double_beside_it", "only what equals 1/2 in double",
     "g (double[1,3] x) => (double[1,3] y) { y = ai.onnx.ml.Imputer"
     "<imputed_value_floats = [9.0], replaced_value_float = 0.5>(x) }",
     [] {
       return Values{Of(kF64, {1, 3}, {0.5, 0.5 + 0x1p-50, 0.5 - 0x1p-50})};
     },
     [] {
       return Values{Of(kF64, {1, 3}, {9, 0.5 + 0x1p-50, 0.5 - 0x1p-50})};
     }},
    {"ml.Imputer/int64_above_2_53", "2^53 is replaced, 2^53 + 1 is not",
     "g (int64[2] x) => (int64[2] y) { y = ai.onnx.ml.Imputer"
     "<imputed_value_int64s = [-7], replaced_value_int64 = 9007199254740992>"
     "(x) }",
     [] {
       return Values{Whole(kI64, {2}, {9007199254740993, 9007199254740992})};
     },
     [] {
       return Values{Whole(kI64, {2}, {9007199254740993, -7})};
     }},
    {"ml.Imputer/int32", "-1 becomes 3, 4 or 5 by the column",
     "g (int32[2,3] x) => (int32[2,3] y) { y = ai.onnx.ml.Imputer"
     "<imputed_value_int64s = [3, 4, 5], replaced_value_int64 = -1>(x) }",
     [] {
       return Values{Of(kI32, {2, 3}, {-1, 0, -1, 8, -1, 1})};
     },
     [] {
       return Values{Of(kI32, {2, 3}, {3, 0, 5, 8, 4, 1})};
     }},
    {"ml.Normalizer/max", "by 4 and by 8; a row of zeros stays",
     "g (float[3,3] x) => (float[3,3] y) { y = ai.onnx.ml.Normalizer(x) }",
     [] {
       return Values{Of(kF32, {3, 3}, {1, 2, 4, 3, 8, 0, 0, 0, 0})};
     },
     [] {
       return Values{Of(kF32, {3, 3}, {0.25, 0.5, 1, 0.375, 1, 0, 0, 0, 0})};
     }},
    {"ml.Normalizer/l1_of_a_vector", "by the sum, 8",
     "g (int64[3] x) => (float[3] y) "
     "{ y = ai.onnx.ml.Normalizer<norm = \"L1\">(x) }",
     [] {
       return Values{Of(kI64, {3}, {1, 5, 2})};
     },
     [] {
       return Values{Of(kF32, {3}, {0.125, 0.625, 0.25})};
     }},
    {"ml.Normalizer/l1_rows", "by 4 and by 16, each row of its own",
     "g (int32[2,2] x) => (float[2,2] y) "
     "{ y = ai.onnx.ml.Normalizer<norm = \"L1\">(x) }",
     [] {
       return Values{Of(kI32, {2, 2}, {1, 3, 15, 1})};
     },
     [] {
       return Values{Of(kF32, {2, 2}, {0.25, 0.75, 0.9375, 0.0625})};
     }},
    {"ml.Normalizer/l2", "sqrt(4 * 3^2) = 6, sqrt(8^2) = 8",
     "g (double[2,4] x) => (float[2,4] y) "
     "{ y = ai.onnx.ml.Normalizer<norm = \"L2\">(x) }",
     [] {
       return Values{Of(kF64, {2, 4}, {3, 3, 3, 3, 0, 0, 8, 0})};
     },
     [] {
       return Values{Of(kF32, {2, 4}, {0.5, 0.5, 0.5, 0.5, 0, 0, 1, 0})};
     }},
    {"ml.OneHotEncoder/strings", "the second, none and the first of three",
     "g (string[3] x) => (float[3,3] y) { y = ai.onnx.ml.OneHotEncoder"
     "<cats_strings = [\"a\", \"b\", \"c\"]>(x) }",
     [] {
       return Values{Texts({3}, {"b", "B", "a"})};
     },
     [] {
       return Values{Of(kF32, {3, 3}, {0, 1, 0, 0, 0, 0, 1, 0, 0})};
     }},
    {"ml.OneHotEncoder/int64", "categories need not stand in order",
     "g (int64[1,2] x) => (float[1,2,3] y) { y = ai.onnx.ml.OneHotEncoder"
     "<cats_int64s = [7, -1, 3], zeros = 0>(x) }",
     [] {
       return Values{Of(kI64, {1, 2}, {3, 7})};
     },
     [] {
       return Values{Of(kF32, {1, 2, 3}, {0, 0, 1, 1, 0, 0})};
     }},
    {"ml.OneHotEncoder/int32", "the same of int32, and one that is not listed",
     "g (int32[3] x) => (float[3,2] y) "
     "{ y = ai.onnx.ml.OneHotEncoder<cats_int64s = [5, 6]>(x) }",
     [] {
       return Values{Of(kI32, {3}, {6, 4, 5})};
     },
     [] {
       return Values{Of(kF32, {3, 2}, {0, 1, 0, 0, 1, 0})};
     }},
    {"ml.OneHotEncoder/floats_are_cast", "1.75 is 1, -1.75 is -1",
     "g (float[3] x) => (float[3,3] y) "
     "{ y = ai.onnx.ml.OneHotEncoder<cats_int64s = [-1, 1, 2]>(x) }",
     [] {
       return Values{Of(kF32, {3}, {1.75, 2, -1.75})};
     },
     [] {
       return Values{Of(kF32, {3, 3}, {0, 1, 0, 0, 0, 1, 1, 0, 0})};
     }},
    {"ml.OneHotEncoder/double", "the same of double",
     "g (double[2] x) => (float[2,2] y) "
     "{ y = ai.onnx.ml.OneHotEncoder<cats_int64s = [0, 4]>(x) }",
     [] {
       return Values{Of(kF64, {2}, {4, -0.5})};
     },
     [] {
       return Values{Of(kF32, {2, 2}, {0, 1, 1, 0})};
     }},
    {"ml.FeatureVectorizer/side_by_side", "two columns and one",
     "g (float[2,2] a, float[2,1] b) => (float[2,3] y) "
     "{ y = ai.onnx.ml.FeatureVectorizer<inputdimensions = [2, 1]>(a, b) }",
     [] {
       return Values{Of(kF32, {2, 2}, {1, 2, 3, 4}), Of(kF32, {2, 1}, {5, 6})};
     },
     [] {
       return Values{Of(kF32, {2, 3}, {1, 2, 5, 3, 4, 6})};
     }},
    {"ml.FeatureVectorizer/vectors_are_rows", "[2] and [3] make [1,5]",
     "g (int64[2] a, int64[3] b) => (float[1,5] y) "
     "{ y = ai.onnx.ml.FeatureVectorizer<inputdimensions = [2, 3]>(a, b) }",
     [] {
       return Values{Of(kI64, {2}, {1, -2}), Of(kI64, {3}, {3, 4, 5})};
     },
     [] {
       return Values{Of(kF32, {1, 5}, {1, -2, 3, 4, 5})};
     }},
    {"ml.FeatureVectorizer/cut_and_filled", "three columns cut to 2, one to 3",
     "g (double[2,3] a, double[2,1] b) => (float[2,5] y) "
     "{ y = ai.onnx.ml.FeatureVectorizer<inputdimensions = [2, 3]>(a, b) }",
     [] {
       return Values{Of(kF64, {2, 3}, {1, 2, 3, 4, 5, 6}),
                     Of(kF64, {2, 1}, {7, 8})};
     },
     [] {
       return Values{Of(kF32, {2, 5}, {1, 2, 7, 0, 0, 4, 5, 8, 0, 0})};
     }},
    {"ml.FeatureVectorizer/int32", "one input is a cast",
     "g (int32[2,2] a) => (float[2,2] y) "
     "{ y = ai.onnx.ml.FeatureVectorizer<inputdimensions = [2]>(a) }",
     [] {
       return Values{Of(kI32, {2, 2}, {1, -2, 3, 16777216})};
     },
     [] {
       return Values{Of(kF32, {2, 2}, {1, -2, 3, 16777216})};
     }},
    {"ml.CategoryMapper/to_integers", "-5 for what is not listed",
     "g (string[2,2] x) => (int64[2,2] y) { y = ai.onnx.ml.CategoryMapper"
     "<cats_int64s = [10, 20], cats_strings = [\"a\", \"\"], "
     "default_int64 = -5>(x) }",
     [] {
       return Values{Texts({2, 2}, {"a", "", "A", "a"})};
     },
     [] {
       return Values{Of(kI64, {2, 2}, {10, 20, -5, 10})};
     }},
    {"ml.CategoryMapper/to_strings", "\"none\" for what is not listed",
     "g (int64[3] x) => (string[3] y) { y = ai.onnx.ml.CategoryMapper"
     "<cats_int64s = [10, 20], cats_strings = [\"a\", \"b\"], "
     "default_string = \"none\">(x) }",
     [] {
       return Values{Of(kI64, {3}, {20, 15, 10})};
     },
     [] {
       return Values{Texts({3}, {"b", "none", "a"})};
     }},
    {"ml.CategoryMapper/defaults", "-1, where no default is given",
     "g (string[2] x) => (int64[2] y) { y = ai.onnx.ml.CategoryMapper"
     "<cats_int64s = [3], cats_strings = [\"a\"]>(x) }",
     [] {
       return Values{Texts({2}, {"b", "a"})};
     },
     [] {
       return Values{Of(kI64, {2}, {-1, 3})};
     }},
    {"ml.CategoryMapper/default_string", "\"_Unused\", where none is given",
     "g (int64[2] x) => (string[2] y) { y = ai.onnx.ml.CategoryMapper"
     "<cats_int64s = [3], cats_strings = [\"a\"]>(x) }",
     [] {
       return Values{Of(kI64, {2}, {-1, 3})};
     },
     [] {
       return Values{Texts({2}, {"_Unused", "a"})};
     }},
    {"ml.LabelEncoder/equal_keys", "the last takes precedence",
     "g (int64[3] x) => (float[3] y) { y = ai.onnx.ml.LabelEncoder"
     "<keys_int64s = [1, 2, 1], values_floats = [10.0, 20.0, 30.0], "
     "default_float = -4.0>(x) }",
     [] {
       return Values{Of(kI64, {3}, {1, 2, 3})};
     },
     [] {
       return Values{Of(kF32, {3}, {30, 20, -4})};
     }},
    {"ml.LabelEncoder/tensors", "int16 to double, with a default tensor",
     "g (int16[4] x) => (double[4] y) { y = ai.onnx.ml.LabelEncoder"
     "<keys_tensor = int16[2] {-3, 300}, "
     "values_tensor = double[2] {0.25, -8.0}, "
     "default_tensor = double[1] {1.5}>(x) }",
     [] {
       return Values{Of(DType::kInt16, {4}, {300, 0, -3, 44})};
     },
     [] {
       return Values{Of(kF64, {4}, {-8, 1.5, 0.25, 1.5})};
     }},
    {"ml.ArrayFeatureExtractor/strings", "columns 2, 0 and 2 again",
     "g (string[2,3] x, int64[3] i) => (string[2,3] y) "
     "{ y = ai.onnx.ml.ArrayFeatureExtractor(x, i) }",
     [] {
       return Values{Texts({2, 3}, {"a", "b", "c", "d", "e", "f"}),
                     Of(kI64, {3}, {2, 0, 2})};
     },
     [] {
       return Values{Texts({2, 3}, {"c", "a", "c", "f", "d", "f"})};
     }},
    {"ml.ArrayFeatureExtractor/vector", "of a vector comes one row",
     "g (int32[4] x, int64[2] i) => (int32[1,2] y) "
     "{ y = ai.onnx.ml.ArrayFeatureExtractor(x, i) }",
     [] {
       return Values{Of(kI32, {4}, {1, 2, 3, 4}), Of(kI64, {2}, {3, 1})};
     },
     [] {
       return Values{Of(kI32, {1, 2}, {4, 2})};
     }},
    {"ml.Binarizer/equal_is_not_greater", "of the threshold itself comes 0",
     "g (int64[3] x) => (int64[3] y) "
     "{ y = ai.onnx.ml.Binarizer<threshold = 2.0>(x) }",
     [] {
       return Values{Of(kI64, {3}, {2, 3, -9})};
     },
     [] {
       return Values{Of(kI64, {3}, {0, 1, 0})};
     }},
};

}  // namespace

std::span<const SpecialCase> FeaturesCases() { return kCases; }

}  // namespace assay::inline v1
