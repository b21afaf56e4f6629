// SPDX-License-Identifier: Apache-2.0
//
// Tree ensembles by hand, and models that are no trees.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "backends/reference/kernel_rows.h"
#include "framework/testing/support/tensors_fixture.h"

namespace assay::reference {
namespace {

/// Attributes by name, of which a test replaces some.
using Attributes = std::map<std::string, std::string>;

std::string CallOf(const std::string& op, Attributes attributes,
                   const Attributes& changed) {
  for (const auto& [name, text] : changed) attributes[name] = text;
  std::string listed;
  for (const auto& [name, text] : attributes) {
    if (text.empty()) continue;
    listed += (listed.empty() ? "" : ", ") + name + " = " + text;
  }
  return "ai.onnx.ml." + op + "<" + listed + ">(x)";
}

// x0 <= 1: 1 to the first target; else x1 > 2: 2 to the second, else 4 to it.
std::string Tree(const Attributes& changed = {}) {
  return "g (float[N,2] x) => (float[N,M] y) { y = " +
         CallOf("TreeEnsemble",
                {{"nodes_featureids", "[0, 1]"},
                 {"nodes_modes", "uint8[2] {0, 3}"},
                 {"nodes_splits", "float[2] {1.0, 2.0}"},
                 {"nodes_truenodeids", "[0, 1]"},
                 {"nodes_trueleafs", "[1, 1]"},
                 {"nodes_falsenodeids", "[1, 2]"},
                 {"nodes_falseleafs", "[0, 1]"},
                 {"leaf_targetids", "[0, 1, 1]"},
                 {"leaf_weights", "float[3] {1.0, 2.0, 4.0}"},
                 {"tree_roots", "[0]"},
                 {"n_targets", "2"}},
                changed) +
         " }";
}

// The same, by its older form: nodes 10 to 14 of tree 5.
Attributes OlderTree() {
  return {{"nodes_treeids", "[5, 5, 5, 5, 5]"},
          {"nodes_nodeids", "[10, 11, 12, 13, 14]"},
          {"nodes_featureids", "[0, 0, 1, 0, 0]"},
          {"nodes_modes",
           "[\"BRANCH_LEQ\", \"LEAF\", \"BRANCH_GT\", \"LEAF\", \"LEAF\"]"},
          {"nodes_values", "[1.0, 0.0, 2.0, 0.0, 0.0]"},
          {"nodes_truenodeids", "[11, 0, 13, 0, 0]"},
          {"nodes_falsenodeids", "[12, 0, 14, 0, 0]"}};
}

// With the votes of its leaves, whose attributes have this prefix.
Attributes OlderVotes(const std::string& prefix) {
  Attributes all = OlderTree();
  all.merge(Attributes{{prefix + "_treeids", "[5, 5, 5]"},
                       {prefix + "_nodeids", "[11, 13, 14]"},
                       {prefix + "_ids", "[0, 1, 1]"},
                       {prefix + "_weights", "[1.0, 2.0, 4.0]"}});
  return all;
}

std::string Regressor(const Attributes& changed = {}) {
  Attributes all = OlderVotes("target");
  all["n_targets"] = "2";
  return "g (float[N,2] x) => (float[N,M] y) { y = " +
         CallOf("TreeEnsembleRegressor", all, changed) + " }";
}

std::string Classifier(const Attributes& changed = {}) {
  Attributes all = OlderVotes("class");
  all["classlabels_int64s"] = "[7, 8]";
  return "g (float[N,2] x) => (int64[N] y, float[N,M] z) { y, z = " +
         CallOf("TreeEnsembleClassifier", all, changed) + " }";
}

const Feed kThreeRows = F({3, 2}, {1, 9, 2, 3, 2, 2});

TEST(Trees, VotesAreCollectedByTarget) {
  const Feed votes = F({3, 2}, {1, 0, 0, 2, 0, 4});
  constexpr double kMost = std::numeric_limits<float>::max();
  ExpectRows({
      {Tree(), {kThreeRows}, {votes}},
      {Tree({{"n_targets", ""}}), {kThreeRows}, {votes}},
      {Regressor(), {kThreeRows}, {votes}},
      {Regressor({{"n_targets", ""}}), {kThreeRows}, {votes}},
      {Classifier(), {kThreeRows}, {I({3}, {7, 8, 8}), votes}},
      {Regressor({{"base_values", "[10.0]"}}),
       {kThreeRows},
       {F({3, 2}, {11, 10, 10, 12, 10, 14})}},
      // A second vote of the leaf 11, and one at an interior node, which says
      // nothing.
      {Regressor({{"target_treeids", "[5, 5, 5, 5, 5]"},
                  {"target_nodeids", "[11, 13, 14, 11, 12]"},
                  {"target_ids", "[0, 1, 1, 1, 0]"},
                  {"target_weights", "[1.0, 2.0, 4.0, 8.0, 100.0]"}}),
       {kThreeRows},
       {F({3, 2}, {1, 8, 0, 2, 0, 4})}},
      // The least of no votes.
      {Tree({{"aggregate_function", "2"}}),
       {F({1, 2}, {1, 0})},
       {F({1, 2}, {1, kMost})}},
      {Regressor({{"aggregate_function", "\"MAX\""}}),
       {F({1, 2}, {1, 0})},
       {F({1, 2}, {1, -kMost})}},
      // Four trees, three of them the branch of the second node.
      {Tree({{"tree_roots", "[0, 1, 1, 1]"}, {"aggregate_function", "0"}}),
       {F({1, 2}, {1, 0})},
       {F({1, 2}, {0.25, 3})}},
      {Tree({{"post_transform", "2"}}),
       {F({1, 2}, {1, 0})},
       {F({1, 2}, {1 / (1 + std::exp(-1.0)), 0.5})}},
  });
}

TEST(Trees, NanGoesWhereTheNodeSays) {
  const Feed nan = F({2, 2}, {kNan, 5, 2, kNan});
  ExpectRows({
      {Tree(), {nan}, {F({2, 2}, {0, 2, 0, 4})}},
      {Tree({{"nodes_missing_value_tracks_true", "[1, 1]"}}),
       {nan},
       {F({2, 2}, {1, 0, 0, 2})}},
      {Regressor({{"nodes_missing_value_tracks_true", "[1, 0, 1, 0, 0]"}}),
       {nan},
       {F({2, 2}, {1, 0, 0, 2})}},
      // Not equal to 1, but the false branch is asked for.
      {Tree({{"nodes_modes", "uint8[2] {5, 3}"}}),
       {F({1, 2}, {kNan, 3})},
       {F({1, 2}, {0, 2})}},
  });
}

// A split of double is not rounded for rows of float.
TEST(Trees, SplitsOfDoublesAreComparedAsSuch) {
  ExpectRows({{Regressor({{"nodes_values", ""},
                          {"nodes_values_as_tensor",
                           "double[5] {1.00000000001, 0.0, 2.0, 0.0, 0.0}"}}),
               {F({2, 2}, {1, 0, 1.0000001, 0})},
               {F({2, 2}, {1, 0, 0, 4})}}});
}

TEST(Trees, OneClassIsCompletedToTwo) {
  const Attributes binary = {{"class_ids", "[0, 0, 0]"}};
  const auto with = [&](Attributes more) {
    more.merge(Attributes(binary));
    return Classifier(more);
  };
  ExpectRows({
      {with({}),
       {kThreeRows},
       {I({3}, {8, 8, 8}), F({3, 2}, {0, 1, -1, 2, -3, 4})}},
      {with({{"base_values", "[-3.5]"}}),
       {kThreeRows},
       {I({3}, {7, 7, 7}), F({3, 2}, {3.5, -2.5, 2.5, -1.5, 0.5, 0.5})}},
      {with({{"post_transform", "\"LOGISTIC\""},
             {"class_weights", "[0.0, 200.0, -200.0]"}}),
       {kThreeRows},
       {I({3}, {7, 8, 7}), F({3, 2}, {0.5, 0.5, 0, 1, 1, 0})}},
      // One label, 1, beside 0.
      {with({{"classlabels_int64s", "[1]"}}),
       {F({2, 2}, {1, 0, 2, 3})},
       {I({2}, {1, 1}), F({2, 2}, {0, 1, -1, 2})}},
  });
}

struct TreeRefusal {
  std::string graph;
  std::string message;
  StatusCode code = StatusCode::kInvalidArgument;
};

void ExpectTreesRefused(const std::vector<TreeRefusal>& rows) {
  for (const auto& [graph, message, code] : rows) {
    ExpectRefusals({{graph, {kThreeRows}, message, code}});
  }
}

TEST(Trees, RefuseWhatIsNoTree) {
  ExpectTreesRefused({
      // Each node leads to the other; the second to itself.
      {Tree({{"nodes_falsenodeids", "[1, 0]"}, {"nodes_falseleafs", "[0, 0]"}}),
       "TreeEnsemble: nodes_truenodeids and nodes_falsenodeids lead from node "
       "0 back to it"},
      {Tree({{"nodes_truenodeids", "[0, 1]"}, {"nodes_trueleafs", "[1, 0]"}}),
       "from node 1 back to it"},
      {Tree({{"tree_roots", "[2]"}}), "tree_roots[0] is 2, wanted one of 2"},
      {Tree({{"tree_roots", "[-1]"}}), "tree_roots[0] is -1"},
      {Tree({{"nodes_truenodeids", "[0, 3]"}}),
       "nodes_truenodeids[1] is 3, wanted one of 3 leaves"},
      {Tree({{"nodes_falsenodeids", "[2, 2]"}}),
       "nodes_falsenodeids[0] is 2, wanted one of 2 nodes"},
      {Tree({{"nodes_featureids", "[0, -4]"}}), "nodes_featureids[1] is -4"},
      {Tree({{"nodes_featureids", "[0, 2]"}}),
       "nodes_featureids[1] is 2, wanted one of the 2 columns of input 0"},
      {Tree({{"leaf_targetids", "[0, 2, 1]"}}),
       "vote 1 is for target 2, wanted one in [0, 2)"},
      {Tree({{"leaf_targetids", "[0, 1]"}}),
       "leaf_targetids has 2 elements, wanted 3 as leaf_weights"},
      {Tree({{"nodes_trueleafs", "[1]"}}),
       "nodes_trueleafs has 1 elements, wanted 2 as nodes_splits"},
      {Tree({{"nodes_missing_value_tracks_true", "[1, 0, 1]"}}),
       "nodes_missing_value_tracks_true has 3 elements, wanted 2"},
      {Tree({{"nodes_modes", "uint8[2] {0, 7}"}}),
       "nodes_modes[1] is 7, wanted one in [0, 6]"},
      {Tree({{"nodes_modes", "int64[2] {0, 1}"}}),
       "nodes_modes is int64[2], wanted uint8 along one axis"},
      {Tree({{"nodes_splits", "double[2] {0.0, 1.0}"}}),
       "nodes_splits is float64[2], wanted float32 along one axis as input 0"},
      {Tree({{"nodes_modes", "uint8[2] {0, 6}"}}),
       "membership_values has 0 sets, wanted 1"},
      {Tree({{"membership_values", "float[2] {1.0, nan}"}}),
       "membership_values has 1 sets, wanted 0"},
      {Tree({{"aggregate_function", "4"}}), "aggregate_function is 4"},
      {Tree({{"post_transform", "5"}}), "post_transform is 5"},
  });
}

TEST(Trees, RefuseWhatIsNoTreeOfTheOlderForm) {
  ExpectTreesRefused({
      // Back to the root.
      {Regressor({{"nodes_falsenodeids", "[12, 0, 10, 0, 0]"}}),
       "from node 0 back to it"},
      {Regressor({{"nodes_nodeids", "[10, 11, 12, 13, 13]"}}),
       "nodes_nodeids[4] is 13 again in tree 5"},
      {Regressor({{"nodes_truenodeids", "[15, 0, 13, 0, 0]"}}),
       "nodes_truenodeids[0] is 15, wanted a node of tree 5"},
      {Regressor({{"nodes_modes",
                   "[\"LEAF\", \"BRANCH\", \"LEAF\", "
                   "\"LEAF\", \"LEAF\"]"}}),
       "nodes_modes[1] is 'BRANCH'"},
      {Regressor({{"nodes_values", "[1.0]"}}),
       "nodes_values has 1 elements, wanted 5 as nodes_nodeids"},
      {Regressor({{"target_nodeids", "[11, 13, 19]"}}),
       "target_nodeids[2] is 19, wanted a node of tree 5"},
      {Regressor({{"target_weights", "[1.0]"}}),
       "target_weights has 1 elements, wanted 3 as target_ids"},
      {Regressor({{"base_values", "[1.0, 2.0, 3.0]"}}),
       "base_values has 3 elements, wanted 2 as targets"},
      {Regressor({{"aggregate_function", "\"MEDIAN\""}}),
       "aggregate_function is 'MEDIAN'"},
      {Regressor({{"nodes_values_as_tensor", "double[1] {1.0}"}}),
       "found nodes_values and nodes_values_as_tensor"},
      {Classifier({{"class_ids", "[0, 1, 2]"}}),
       "vote 2 is for target 2, wanted one in [0, 2)"},
      {Classifier({{"classlabels_int64s", ""}}),
       "found 0 classlabels_int64s and 0 classlabels_strings"},
      {Classifier({{"classlabels_int64s", "[3]"}, {"class_ids", "[0, 0, 0]"}}),
       "one class label that is not the integer 1", StatusCode::kUnsupported},
  });
}

// Two branches may lead to one node: that ends, although it is no tree.
TEST(Trees, BranchesMayMeet) {
  ExpectRows(
      {{Tree({{"nodes_truenodeids", "[1, 1]"}, {"nodes_trueleafs", "[0, 1]"}}),
        {kThreeRows},
        {F({3, 2}, {0, 2, 0, 2, 0, 4})}}});
}

// The check of a long list of nodes takes no stack.
TEST(Trees, MayBeDeep) {
  constexpr int kDepth = 20000;
  std::string features, modes, splits, ids, next, leaf, below;
  for (int i = 0; i < kDepth; ++i) {
    const std::string comma = i == 0 ? "" : ", ";
    features += comma + "0";
    modes += comma + "0";
    splits += comma + std::to_string(i) + ".0";
    ids += comma + "0";
    leaf += comma + "1";
    next += comma + std::to_string(i + 1 == kDepth ? 1 : i + 1);
    below += comma + (i + 1 == kDepth ? "1" : "0");
  }
  const std::string count = std::to_string(kDepth);
  ExpectRows({{Tree({{"nodes_featureids", "[" + features + "]"},
                     {"nodes_modes", "uint8[" + count + "] {" + modes + "}"},
                     {"nodes_splits", "float[" + count + "] {" + splits + "}"},
                     {"nodes_truenodeids", "[" + ids + "]"},
                     {"nodes_trueleafs", "[" + leaf + "]"},
                     {"nodes_falsenodeids", "[" + next + "]"},
                     {"nodes_falseleafs", "[" + below + "]"}}),
               {F({2, 2}, {kDepth, 0, kDepth - 1, 0})},
               {F({2, 2}, {0, 2, 1, 0})}}});
}

}  // namespace
}  // namespace assay::reference
