// SPDX-License-Identifier: Apache-2.0

#include "perf/problems/read_problems.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "framework/testing/support/statuses_fixture.h"
#include "perf/problems/known_problems.h"

namespace assay::problems {
namespace {

using testing::ElementsAre;
using testing::Field;
using testing::Pair;
using testing::UnorderedElementsAre;

std::string KindOf(const Problem& problem) {
  const std::string rest = problem.name.substr(problem.set.size() + 1);
  return rest.substr(0, rest.find('.'));
}

// Kills: a column that goes elsewhere, a comment that is read, a second row of
// equal numbers under the same name, a kind that goes on behind another.
TEST(ReadProblems, AWordOfEachColumnGoesWhereItsHeadSays) {
  const auto problems = Got(ProblemsOfText(
      "# facts\n"
      "gemm: set times m n k a b\n"
      "a 1 2 3 4 n t\n"
      "a 5 2 3 4 n t  # again\n"
      "conv: set times w h c n k s r pad_w pad_h stride_w stride_h group\n"
      "b 1 70 16 4 3 8 5 6 1 2 3 7 2\n"
      "recurrent: set times cell hidden batch steps\n"
      "b 1 gru 7 8 9\n"
      "sparse: set times m n k a b density\n"
      "b 1 2 3 4 t n 0.05\n"
      "all_reduce: set times elements\n"
      "b 10 100\n"
      "graph: set times name model\n"
      "b 1 x  ($T[2] x) => ($T[2] y) { y = Relu(x) }",
      "f"));
  EXPECT_THAT(
      problems,
      ElementsAre(Field(&Problem::name, "a.gemm.m2n3k4nt"),
                  Field(&Problem::name, "a.gemm.m2n3k4nt.2"),
                  Field(&Problem::name, "b.conv.w70h16c4n3k8s5r6p1x2d3x7g2"),
                  Field(&Problem::name, "b.recurrent.gru.h7n8t9"),
                  Field(&Problem::name, "b.sparse.m2n3k4tnd0.05"),
                  Field(&Problem::name, "b.all_reduce.100"),
                  Field(&Problem::name, "b.graph.x")));
  EXPECT_EQ(problems[1].times, 5);
  EXPECT_EQ(problems[1].place, "f:4");
  EXPECT_EQ(std::get<GraphText>(problems[6].of).text,
            "($T[2] x) => ($T[2] y) { y = Relu(x) }");
}

// Kills: a wrong file that is read, a message without its line.
TEST(ReadProblems, AWrongTextSaysFileLineFoundAndWanted) {
  const std::string gemm = "gemm: set times m n k a b\n";
  const std::string conv =
      "conv: set times w h c n k s r pad_w pad_h stride_w stride_h group\n";
  struct Row {
    std::string text;
    const char* message;
  };
  for (const Row& row : {
           Row{"", "f: no row, wanted one"},
           Row{gemm + "# none", "f: no row, wanted one"},
           Row{"a 1 2", "f:1: 'a', wanted KIND: first"},
           Row{"gem: set",
               "f:1: the kind 'gem', wanted all_reduce, conv, gemm, "
               "graph, recurrent, sparse"},
           Row{"gemm: set times n m k a b",
               "f:1: the columns set times n m k a b, wanted set times m n k a "
               "b"},
           Row{gemm + "\na 1 2 3 4 n",
               "f:3: a row of 6 words, wanted 7: set times m n k a b"},
           Row{gemm + "a 1 2 3 4 n n n", "f:2: a row of 8 words, wanted 7"},
           Row{gemm + "a 1 0 3 4 n n",
               "f:2: m is '0', wanted an integer from 1 to 2147483648"},
           Row{gemm + "a 1 2 -3 4 n n", "f:2: n is '-3', wanted an integer"},
           Row{gemm + "a 1 2 3 4x n n", "f:2: k is '4x', wanted an integer"},
           Row{gemm + "a 1 2 3 4 n x", "f:2: b is 'x', wanted n or t"},
           Row{gemm + "a 1 2147483649 3 4 n n", "f:2: m is '2147483649'"},
           Row{gemm + "a 0 2 3 4 n n", "f:2: times is '0'"},
           Row{conv + "a 1 7 7 4 1 4 3 3 1 1 1 1 3",
               "f:2: group is 3, wanted a divisor of c, 4, and k, 4"},
           Row{conv + "a 1 7 7 4 1 4 10 3 1 1 1 1 1",
               "f:2: a filter of 10 by 3, wanted one within the image"},
           Row{conv + "a 1 7 7 4 1 4 3 3 -1 1 1 1 1", "f:2: pad_w is '-1'"},
           Row{"recurrent: set times cell hidden batch steps\na 1 rnn 1 1 1",
               "f:2: cell is 'rnn', wanted vanilla or lstm or gru"},
           Row{"sparse: set times m n k a b density\na 1 2 3 4 n n 0",
               "f:2: density is '0', wanted a number above 0"},
           Row{gemm + "a 1 2 $N 4 n n", "f:2: '$N', wanted each: first"},
           Row{"each: batch", "f:1: each: batch, wanted each: AXIS NUMBER..."},
           Row{"each: batch x\n" + gemm + "a 1 2 3 4 n n\na 1 2 $N 4 n n",
               "f:4: n is 'x', wanted an integer"},
           Row{"each: batch 2 2\n" + gemm + "a 1 2 $N 4 n n",
               "f: a.gemm#batch2 once more, wanted one after f:3"},
           Row{"sparse: set times m n k a b density\na 1 2 3 4 n n 1.5",
               "f:2: density is '1.5'"},
       }) {
    EXPECT_THAT(ProblemsOfText(row.text, "f"),
                IsStatus(StatusCode::kInvalidArgument, row.message));
  }
}

// Kills: a number that is put in one place of a row alone, a name that hangs on
// the number in another way, one that goes on behind its rows.
TEST(ReadProblems, ARowStandsForEachNumber) {
  const auto problems =
      Got(ProblemsOfText("each: batch 1 8\n"
                         "gemm: set times m n k a b\n"
                         "a 1 $N 3 $N n n\n"
                         "b 1 2 3 4 n n\n"
                         "graph: set times name model\n"
                         "c 1 x ($T[$N] x) => ($T[$N] y) { y = Relu(x) }",
                         "f"));
  EXPECT_THAT(problems, ElementsAre(Field(&Problem::name, "a.gemm#batch1"),
                                    Field(&Problem::name, "a.gemm#batch8"),
                                    Field(&Problem::name, "b.gemm.m2n3k4nn"),
                                    Field(&Problem::name, "c.graph#batch1"),
                                    Field(&Problem::name, "c.graph#batch8")));
  const Gemm& product = std::get<Gemm>(problems[1].of);
  EXPECT_EQ(product.m, 8);
  EXPECT_EQ(product.k, 8);
  EXPECT_EQ(problems[1].axis, "batch");
  EXPECT_EQ(problems[1].size, 8);
  EXPECT_EQ(problems[2].axis, "");
  EXPECT_EQ(std::get<GraphText>(problems[4].of).text,
            "($T[8] x) => ($T[8] y) { y = Relu(x) }");
}

// Kills: a row of DeepBench that is lost, or there once more.
TEST(Sets, HaveThe630ProblemsOfDeepBench) {
  std::map<std::string, int> counts;
  std::set<std::string> names;
  int all = 0;
  for (const Problem& problem : KnownProblems()) {
    EXPECT_TRUE(names.insert(problem.name).second) << problem.name;
    EXPECT_EQ(ProblemNamed(problem.name), &problem);
    if (!problem.set.starts_with("deepbench.")) continue;
    ++counts[KindOf(problem) + problem.set.substr(9)];
    ++all;
  }
  EXPECT_EQ(all, 630);
  EXPECT_EQ(ProblemNamed("deepbench"), nullptr);
  EXPECT_THAT(counts,
              UnorderedElementsAre(
                  Pair("gemm.train", 160), Pair("gemm.server", 75),
                  Pair("gemm.device", 13), Pair("conv.train", 94),
                  Pair("conv.server", 107), Pair("conv.device", 17),
                  Pair("recurrent.train", 53), Pair("recurrent.server", 69),
                  Pair("recurrent.device", 3), Pair("sparse.server", 24),
                  Pair("sparse.device", 8), Pair("all_reduce.train", 7)));
}

}  // namespace
}  // namespace assay::problems
