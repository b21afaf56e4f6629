// SPDX-License-Identifier: Apache-2.0
//
// The shapes are those of ONNX's docs/Broadcasting.md.
#include "framework/kernels/broadcast.h"

#include <gtest/gtest.h>

namespace assay::kernels {
namespace {

using Extents = std::vector<int64_t>;

struct BroadcastRow {
  Shape a, b, shape;
  Extents folded_a, folded_b, folded;
};

TEST(Broadcast, ShapesMeetAndNeighboursAreJoined) {
  const BroadcastRow rows[] = {
      {{2, 3, 4, 5}, {}, {2, 3, 4, 5}, {120}, {1}, {120}},
      {{2, 3, 4, 5}, {5}, {2, 3, 4, 5}, {24, 5}, {1, 5}, {24, 5}},
      {{4, 5}, {2, 3, 4, 5}, {2, 3, 4, 5}, {1, 20}, {6, 20}, {6, 20}},
      {{1, 4, 5}, {2, 3, 1, 1}, {2, 3, 4, 5}, {1, 20}, {6, 1}, {6, 20}},
      {{3, 4, 5}, {2, 1, 1, 1}, {2, 3, 4, 5}, {1, 60}, {2, 1}, {2, 60}},
      {{2, 1}, {2}, {2, 2}, {2, 1}, {1, 2}, {2, 2}},
      {{2, 1, 3}, {2, 1, 3}, {2, 1, 3}, {6}, {6}, {6}},
      {{0, 3}, {1, 3}, {0, 3}, {0, 3}, {1, 3}, {0, 3}},
      {{}, {}, {}, {1}, {1}, {1}},
  };
  for (const BroadcastRow& row : rows) {
    SCOPED_TRACE(row.a.ToString() + row.b.ToString());
    const auto found = BroadcastShapes(row.a, row.b);
    ASSERT_TRUE(found.ok()) << found.status().ToString();
    EXPECT_EQ(found->shape, row.shape);
    EXPECT_EQ(found->a, row.folded_a);
    EXPECT_EQ(found->b, row.folded_b);
    EXPECT_EQ(found->out, row.folded);
  }
}

struct WalkRow {
  Shape a, b;
  Extents from_a, from_b;  // the places of the operands, by those of the result
};

TEST(Broadcast, TheWalkMeetsEachElementOnceInOrder) {
  const WalkRow rows[] = {
      {{2, 3}, {3}, {0, 1, 2, 3, 4, 5}, {0, 1, 2, 0, 1, 2}},
      {{2, 1}, {2}, {0, 0, 1, 1}, {0, 1, 0, 1}},
      {{}, {3}, {0, 0, 0}, {0, 1, 2}},
      {{2, 1, 2}, {2, 1}, {0, 1, 0, 1, 2, 3, 2, 3}, {0, 0, 1, 1, 0, 0, 1, 1}},
      {{}, {}, {0}, {0}},
      {{0, 3}, {3}, {}, {}},
      {{3, 0}, {1}, {}, {}},
  };
  for (const WalkRow& row : rows) {
    SCOPED_TRACE(row.a.ToString() + row.b.ToString());
    Extents from_a;
    Extents from_b;
    ForEachElement(*BroadcastShapes(row.a, row.b),
                   [&](int64_t y, int64_t a, int64_t b) {
                     EXPECT_EQ(y, std::ssize(from_a));
                     from_a.push_back(a);
                     from_b.push_back(b);
                   });
    EXPECT_EQ(from_a, row.from_a);
    EXPECT_EQ(from_b, row.from_b);
  }
}

TEST(Broadcast, OtherShapesAreRefused) {
  EXPECT_EQ(BroadcastShapes({2, 3}, {2}).status().code(),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(BroadcastShapes({int64_t{1} << 40, 1}, {int64_t{1} << 40})
                .status()
                .code(),
            StatusCode::kResourceExhausted);
}

TEST(Broadcast, OneWayKeepsTheSecondShape) {
  struct Pair {
    Shape from, to;
    bool want;
  };
  for (const Pair& pair :
       {Pair{{3, 1}, {2, 3, 4}, true}, Pair{{2, 3, 4}, {2, 3, 4}, true},
        Pair{{2, 3, 4}, {3, 4}, false}, Pair{{2, 3, 4}, {1, 3, 4}, false},
        Pair{{5}, {2, 3, 4}, false}}) {
    EXPECT_EQ(BroadcastsTo(pair.from, pair.to), pair.want)
        << pair.from.ToString() << pair.to.ToString();
  }
}

}  // namespace
}  // namespace assay::kernels
