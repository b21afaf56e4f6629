// SPDX-License-Identifier: Apache-2.0
//
// Tree ensembles of ai.onnx.ml, in the form of opset 5 and in the two
// deprecated ones. Source: the page of each. The score of the first class where
// all votes are for one of two, and what stands where no leaf votes, are ONNX's
// reference implementation.

#include "conformance/special/special.h"

namespace assay::inline v1 {
namespace {

// 10 where x compares so with 2, else 20; NaN goes by `nan`.
#define ASSAY_STUMP(type, mode, nan)                                \
  "g (" type "[4,1] x) => (" type                                   \
  "[4,1] y) { y = ai.onnx.ml.TreeEnsemble"                          \
  "<nodes_featureids = [0], nodes_modes = uint8[1] {" mode          \
  "}, "                                                             \
  "nodes_splits = " type                                            \
  "[1] {2.0}, nodes_truenodeids = [0], "                            \
  "nodes_falsenodeids = [1], nodes_trueleafs = [1], "               \
  "nodes_falseleafs = [1], nodes_missing_value_tracks_true = [" nan \
  "], "                                                             \
  "leaf_targetids = [0, 0], leaf_weights = " type                   \
  "[2] {10.0, 20.0}, "                                              \
  "tree_roots = [0], n_targets = 1>(x) }"

Values Compared() { return {Of(kF32, {4, 1}, {1, 2, 3, kNan})}; }

// Two targets. The first tree, by x < 0: 1 for the first target, or by y < 0: 2
// for the first or 4 for the second. The second, by y >= 1: 8 for the first or
// 16 for the second.
#define ASSAY_FOREST_OF(type, splits, weights, attributes)            \
  "g (" type "[4,2] x) => (" type                                     \
  "[4,2] y) { y = ai.onnx.ml.TreeEnsemble"                            \
  "<nodes_featureids = [0, 1, 1], nodes_modes = uint8[3] {1, 1, 2}, " \
  "nodes_splits = " type "[3] {" splits                               \
  "}, "                                                               \
  "nodes_truenodeids = [0, 1, 3], nodes_trueleafs = [1, 1, 1], "      \
  "nodes_falsenodeids = [1, 2, 4], nodes_falseleafs = [0, 1, 1], "    \
  "leaf_targetids = [0, 0, 1, 0, 1], "                                \
  "leaf_weights = " type "[5] {" weights                              \
  "}, "                                                               \
  "tree_roots = [0, 2], n_targets = 2, " attributes ">(x) }"
#define ASSAY_FOREST(type, attributes) \
  ASSAY_FOREST_OF(type, "0.0, 0.0, 1.0", "1.0, 2.0, 4.0, 8.0, 16.0", attributes)

// The leaves are 1 and 8 to the first; 1 to the first and 16 to the second; 2
// and 16; 4 to the second and 8 to the first.
constexpr std::initializer_list<double> kRows = {-1, 5, -1, 0, 1, -1, 1, 1};

Values Rows() { return {Of(kF32, {4, 2}, kRows)}; }

// The same forest, in the deprecated form, by its nodes 0 to 4 of tree 0 and 0
// to 2 of tree 1.
#define ASSAY_OLDER_NODES                                                      \
  "nodes_treeids = [0, 0, 0, 0, 0, 1, 1, 1], "                                 \
  "nodes_nodeids = [0, 1, 2, 3, 4, 0, 1, 2], "                                 \
  "nodes_featureids = [0, 0, 1, 0, 0, 1, 0, 0], "                              \
  "nodes_modes = [\"BRANCH_LT\", \"LEAF\", \"BRANCH_LT\", \"LEAF\", \"LEAF\"," \
  " \"BRANCH_GTE\", \"LEAF\", \"LEAF\"], "                                     \
  "nodes_values = [0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0], "                  \
  "nodes_truenodeids = [1, 0, 3, 0, 0, 1, 0, 0], "                             \
  "nodes_falsenodeids = [2, 0, 4, 0, 0, 2, 0, 0], "

#define ASSAY_OLDER_REGRESSOR(type, attributes)                             \
  "g (" type                                                                \
  "[4,2] x) => (float[4,2] y) "                                             \
  "{ y = ai.onnx.ml.TreeEnsembleRegressor<" ASSAY_OLDER_NODES               \
  "target_treeids = [0, 0, 0, 1, 1], target_nodeids = [1, 3, 4, 1, 2], "    \
  "target_ids = [0, 0, 1, 0, 1], "                                          \
  "target_weights = [1.0, 2.0, 4.0, 8.0, 16.0], n_targets = 2, " attributes \
  ">(x) }"

#define ASSAY_OLDER_CLASSIFIER(label, attributes)                      \
  "g (float[4,2] x) => (" label                                        \
  "[4] l, float[4,2] z) "                                              \
  "{ l, z = ai.onnx.ml.TreeEnsembleClassifier<" ASSAY_OLDER_NODES      \
  "class_treeids = [0, 0, 0, 1, 1], class_nodeids = [1, 3, 4, 1, 2], " \
  "class_weights = [1.0, 2.0, 4.0, 8.0, 16.0], " attributes ">(x) }"

// A stump of the deprecated forms, 10 or 20.
#define ASSAY_OLDER_STUMP(mode, nan)                                \
  "g (float[4,1] x) => (float[4,1] y) "                             \
  "{ y = ai.onnx.ml.TreeEnsembleRegressor"                          \
  "<nodes_treeids = [3, 3, 3], nodes_nodeids = [0, 1, 2], "         \
  "nodes_featureids = [0, 0, 0], "                                  \
  "nodes_modes = [\"" mode                                          \
  "\", \"LEAF\", \"LEAF\"], "                                       \
  "nodes_values = [2.0, 0.0, 0.0], nodes_truenodeids = [1, 0, 0], " \
  "nodes_falsenodeids = [2, 0, 0], "                                \
  "nodes_missing_value_tracks_true = [" nan                         \
  ", 0, 0], "                                                       \
  "target_treeids = [3, 3], target_nodeids = [1, 2], "              \
  "target_ids = [0, 0], target_weights = [10.0, 20.0], n_targets = 1>(x) }"

template <int kA, int kB, int kC, int kNaN>
Values Stump() {
  return {Of(kF32, {4, 1}, {kA, kB, kC, kNaN})};
}

constexpr SpecialCase kCases[] = {
    {"ml.TreeEnsemble/leq", "1, 2 are at most 2; NaN goes the false way",
     ASSAY_STUMP("float", "0", "0"), Compared, Stump<10, 10, 20, 20>},
    {"ml.TreeEnsemble/lt", "only 1 is below 2; NaN goes the true way",
     ASSAY_STUMP("float", "1", "1"), Compared, Stump<10, 20, 20, 10>},
    {"ml.TreeEnsemble/gte", "2, 3 are at least 2",
     ASSAY_STUMP("float", "2", "1"), Compared, Stump<20, 10, 10, 10>},
    {"ml.TreeEnsemble/gt", "only 3 is above 2", ASSAY_STUMP("float", "3", "0"),
     Compared, Stump<20, 20, 10, 20>},
    {"ml.TreeEnsemble/eq", "only 2 is 2", ASSAY_STUMP("float", "4", "0"),
     Compared, Stump<20, 10, 20, 20>},
    {"ml.TreeEnsemble/neq", "1, 3 are not 2; NaN goes the true way, as asked",
     ASSAY_STUMP("float", "5", "1"), Compared, Stump<10, 20, 10, 10>},
    {"ml.TreeEnsemble/member",
     "two sets, 3 and 1, 4 for the second and the third node: 1 + 10, 2 + 10, "
     "2 + 20, 2 + 10",
     "g (float[4,1] x) => (float[4,1] y) { y = ai.onnx.ml.TreeEnsemble"
     "<nodes_featureids = [0, 0, 0], nodes_modes = uint8[3] {0, 6, 6}, "
     "nodes_splits = float[3] {100.0, 0.0, 0.0}, "
     "membership_values = float[5] {3.0, nan, 1.0, 4.0, nan}, "
     "nodes_truenodeids = [2, 0, 2], nodes_falsenodeids = [2, 1, 3], "
     "nodes_trueleafs = [0, 1, 1], nodes_falseleafs = [0, 1, 1], "
     "leaf_targetids = [0, 0, 0, 0], "
     "leaf_weights = float[4] {20.0, 10.0, 1.0, 2.0}, "
     "tree_roots = [0, 1], n_targets = 1>(x) }",
     [] {
       return Values{Of(kF32, {4, 1}, {1, 2, 3, 5})};
     },
     // By the third node 1, 2, 2, 2; by the second 10, 10, 20, 10.
     [] {
       return Values{Of(kF32, {4, 1}, {11, 12, 22, 12})};
     }},
    {"ml.TreeEnsemble/float16", "splits and weights of float16",
     // Literals of float16 are bit patterns.
     ASSAY_FOREST_OF("float16", "0, 0, 15360",
                     "15360, 16384, 17408, 18432, 19456",
                     "aggregate_function = 1"),
     [] {
       return Values{Of(kF16, {4, 2}, kRows)};
     },
     [] {
       return Values{Of(kF16, {4, 2}, {9, 0, 1, 16, 2, 16, 8, 4})};
     }},
    {"ml.TreeEnsemble/double_split", "2 + 2^-50 is above the split, 2 is not",
     ASSAY_STUMP("double", "3", "0"),
     [] {
       return Values{Of(kF64, {4, 1}, {2 + 0x1p-50, 2, kInf, -kInf})};
     },
     [] {
       return Values{Of(kF64, {4, 1}, {10, 20, 10, 20})};
     }},
    {"ml.TreeEnsemble/sum", "of the votes for each target",
     ASSAY_FOREST("float", "post_transform = 0"), Rows,
     [] {
       return Values{Of(kF32, {4, 2}, {9, 0, 1, 16, 2, 16, 8, 4})};
     }},
    {"ml.TreeEnsemble/average", "the sum by the number of trees, 2",
     ASSAY_FOREST("float", "aggregate_function = 0"), Rows,
     [] {
       return Values{Of(kF32, {4, 2}, {4.5, 0, 0.5, 8, 1, 8, 4, 2})};
     }},
    {"ml.TreeEnsemble/min", "of two trees that vote for one target",
     "g (float[3,1] x) => (float[3,1] y) { y = ai.onnx.ml.TreeEnsemble"
     "<nodes_featureids = [0, 0], nodes_modes = uint8[2] {0, 0}, "
     "nodes_splits = float[2] {1.0, 2.0}, nodes_truenodeids = [0, 2], "
     "nodes_falsenodeids = [1, 3], nodes_trueleafs = [1, 1], "
     "nodes_falseleafs = [1, 1], leaf_targetids = [0, 0, 0, 0], "
     "leaf_weights = float[4] {5.0, -3.0, 1.0, -7.0}, tree_roots = [0, 1], "
     "n_targets = 1, aggregate_function = 2>(x) }",
     [] {
       return Values{Of(kF32, {3, 1}, {1, 2, 3})};
     },
     [] {
       return Values{Of(kF32, {3, 1}, {1, -3, -7})};
     }},
    {"ml.TreeEnsemble/max", "the same, the greatest; 9.5 of a tree of one leaf",
     "g (float[3,1] x) => (float[3,1] y) { y = ai.onnx.ml.TreeEnsemble"
     "<nodes_featureids = [0, 0], nodes_modes = uint8[2] {0, 0}, "
     "nodes_splits = float[2] {1.0, 0.0}, nodes_truenodeids = [0, 2], "
     "nodes_falsenodeids = [1, 2], nodes_trueleafs = [1, 1], "
     "nodes_falseleafs = [1, 1], leaf_targetids = [0, 0, 0], "
     "leaf_weights = float[3] {5.0, 19.0, 9.5}, tree_roots = [0, 1], "
     "n_targets = 1, aggregate_function = 3>(x) }",
     [] {
       return Values{Of(kF32, {3, 1}, {1, 2, 0})};
     },
     [] {
       return Values{Of(kF32, {3, 1}, {9.5, 19, 9.5})};
     }},
    {"ml.TreeEnsemble/softmax_zero",
     "sums 9 and 0: zero stays, and the only other becomes 1",
     ASSAY_FOREST("double", "aggregate_function = 1, post_transform = 3"),
     [] {
       return Values{Of(kF64, {4, 2}, {-1, 5, -2, 5, -3, 5, -4, 1})};
     },
     [] {
       return Values{Of(kF64, {4, 2}, {1, 0, 1, 0, 1, 0, 1, 0})};
     }},
    {"ml.TreeEnsembleRegressor/leq",
     "1, 2 are at most 2; NaN goes the true way",
     ASSAY_OLDER_STUMP("BRANCH_LEQ", "1"), Compared, Stump<10, 10, 20, 10>},
    {"ml.TreeEnsembleRegressor/lt", "only 1 is below 2; NaN goes the true way",
     ASSAY_OLDER_STUMP("BRANCH_LT", "1"), Compared, Stump<10, 20, 20, 10>},
    {"ml.TreeEnsembleRegressor/gt", "only 3 is above 2",
     ASSAY_OLDER_STUMP("BRANCH_GT", "0"), Compared, Stump<20, 20, 10, 20>},
    {"ml.TreeEnsembleRegressor/eq", "only 2 is 2",
     ASSAY_OLDER_STUMP("BRANCH_EQ", "0"), Compared, Stump<20, 10, 20, 20>},
    {"ml.TreeEnsembleRegressor/neq",
     "1, 3 are not 2; NaN is not either, but goes the false way",
     ASSAY_OLDER_STUMP("BRANCH_NEQ", "0"), Compared, Stump<10, 20, 10, 20>},
    {"ml.TreeEnsembleRegressor/base_values", "the sums, plus 100 and 200",
     ASSAY_OLDER_REGRESSOR("float", "base_values = [100.0, 200.0]"), Rows,
     [] {
       return Values{
           Of(kF32, {4, 2}, {109, 200, 101, 216, 102, 216, 108, 204})};
     }},
    {"ml.TreeEnsembleRegressor/average", "base values are not divided by 2",
     ASSAY_OLDER_REGRESSOR("double",
                           "aggregate_function = \"AVERAGE\", "
                           "base_values = [100.0, 200.0]"),
     [] {
       return Values{Of(kF64, {4, 2}, kRows)};
     },
     [] {
       return Values{
           Of(kF32, {4, 2}, {104.5, 200, 100.5, 208, 101, 208, 104, 202})};
     }},
    {"ml.TreeEnsembleRegressor/int64", "rows of integers",
     ASSAY_OLDER_REGRESSOR("int64", "aggregate_function = \"SUM\""),
     [] {
       return Values{Of(kI64, {4, 2}, kRows)};
     },
     [] {
       return Values{Of(kF32, {4, 2}, {9, 0, 1, 16, 2, 16, 8, 4})};
     }},
    {"ml.TreeEnsembleRegressor/int32", "the same of int32, through LOGISTIC",
     ASSAY_OLDER_REGRESSOR("int32",
                           "post_transform = \"LOGISTIC\", "
                           "base_values = [-200.0, 0.0]"),
     [] {
       return Values{Of(kI32, {4, 2}, {-1, 5, -1, 7, -2, 5, -3, 9})};
     },
     [] {
       return Values{Of(kF32, {4, 2}, {0, 0.5, 0, 0.5, 0, 0.5, 0, 0.5})};
     }},
    {"ml.TreeEnsembleRegressor/min_max",
     "two votes of one leaf, 3 and -4, and 1 of another tree",
     "g (float[2,1] x) => (float[2,1] y, float[2,1] z) {"
     "y = ai.onnx.ml.TreeEnsembleRegressor<nodes_treeids = [0, 0, 0, 1], "
     "nodes_nodeids = [0, 1, 2, 0], nodes_featureids = [0, 0, 0, 0], "
     "nodes_modes = [\"BRANCH_GTE\", \"LEAF\", \"LEAF\", \"LEAF\"], "
     "nodes_values = [0.0, 0.0, 0.0, 0.0], nodes_truenodeids = [1, 0, 0, 0], "
     "nodes_falsenodeids = [2, 0, 0, 0], target_treeids = [0, 0, 0, 1], "
     "target_nodeids = [1, 2, 1, 0], target_ids = [0, 0, 0, 0], "
     "target_weights = [3.0, 8.0, -4.0, 1.0], n_targets = 1, "
     "aggregate_function = \"MIN\">(x) "
     "z = ai.onnx.ml.TreeEnsembleRegressor<nodes_treeids = [0, 0, 0, 1], "
     "nodes_nodeids = [0, 1, 2, 0], nodes_featureids = [0, 0, 0, 0], "
     "nodes_modes = [\"BRANCH_GTE\", \"LEAF\", \"LEAF\", \"LEAF\"], "
     "nodes_values = [0.0, 0.0, 0.0, 0.0], nodes_truenodeids = [1, 0, 0, 0], "
     "nodes_falsenodeids = [2, 0, 0, 0], target_treeids = [0, 0, 0, 1], "
     "target_nodeids = [1, 2, 1, 0], target_ids = [0, 0, 0, 0], "
     "target_weights = [3.0, 8.0, -4.0, 1.0], n_targets = 1, "
     "aggregate_function = \"MAX\">(x) }",
     [] {
       return Values{Of(kF32, {2, 1}, {0, -1})};
     },
     [] {
       return Values{Of(kF32, {2, 1}, {-4, 1}), Of(kF32, {2, 1}, {3, 8})};
     }},
    {"ml.TreeEnsembleClassifier/lt",
     "only 1 is below 2, and NaN goes the true way: 10 for the first, else 20 "
     "for the second",
     "g (float[4,1] x) => (int64[4] l, float[4,2] z) "
     "{ l, z = ai.onnx.ml.TreeEnsembleClassifier<nodes_treeids = [3, 3, 3], "
     "nodes_nodeids = [0, 1, 2], nodes_featureids = [0, 0, 0], "
     "nodes_modes = [\"BRANCH_LT\", \"LEAF\", \"LEAF\"], "
     "nodes_values = [2.0, 0.0, 0.0], nodes_truenodeids = [1, 0, 0], "
     "nodes_falsenodeids = [2, 0, 0], "
     "nodes_missing_value_tracks_true = [1, 0, 0], class_treeids = [3, 3], "
     "class_nodeids = [1, 2], class_ids = [0, 1], "
     "class_weights = [10.0, 20.0], classlabels_int64s = [4, 5]>(x) }",
     Compared,
     [] {
       return Values{Of(kI64, {4}, {4, 5, 5, 4}),
                     Of(kF32, {4, 2}, {10, 0, 0, 20, 0, 20, 10, 0})};
     }},
    {"ml.TreeEnsembleClassifier/two_classes", "sums of votes; the greater wins",
     ASSAY_OLDER_CLASSIFIER("int64",
                            "classlabels_int64s = [7, -7], "
                            "class_ids = [0, 0, 1, 0, 1]"),
     Rows,
     [] {
       return Values{Of(kI64, {4}, {7, -7, -7, 7}),
                     Of(kF32, {4, 2}, {9, 0, 1, 16, 2, 16, 8, 4})};
     }},
    {"ml.TreeEnsembleClassifier/strings_and_base",
     "the first class 10 ahead: 19, 11, 12, 18 against 0, 16, 16, 4",
     ASSAY_OLDER_CLASSIFIER("string",
                            "classlabels_strings = [\"a\", \"b\"], "
                            "base_values = [10.0, 0.0], "
                            "class_ids = [0, 0, 1, 0, 1]"),
     Rows,
     [] {
       return Values{Texts({4}, {"a", "b", "b", "a"}),
                     Of(kF32, {4, 2}, {19, 0, 11, 16, 12, 16, 18, 4})};
     }},
    {"ml.TreeEnsembleClassifier/softmax", "200 apart, 0 and 1",
     ASSAY_OLDER_CLASSIFIER("int64",
                            "classlabels_int64s = [0, 1], "
                            "base_values = [0.0, 200.0], "
                            "post_transform = \"SOFTMAX\", "
                            "class_ids = [0, 0, 1, 0, 1]"),
     Rows,
     [] {
       return Values{Of(kI64, {4}, {1, 1, 1, 1}),
                     Of(kF32, {4, 2}, {0, 1, 0, 1, 0, 1, 0, 1})};
     }},
    {"ml.TreeEnsembleClassifier/votes_for_one",
     "the sums 9, 17, 18, 12 are the second class's, 1 less them the first's",
     ASSAY_OLDER_CLASSIFIER("int64",
                            "classlabels_int64s = [4, 5], "
                            "class_ids = [0, 0, 0, 0, 0]"),
     Rows,
     [] {
       return Values{Of(kI64, {4}, {5, 5, 5, 5}),
                     Of(kF32, {4, 2}, {-8, 9, -16, 17, -17, 18, -11, 12})};
     }},
};

}  // namespace

std::span<const SpecialCase> TreesCases() { return kCases; }

}  // namespace assay::inline v1
