// SPDX-License-Identifier: Apache-2.0
//
// If, Loop and Scan, and positions in sequences: no iteration, one and many,
// either branch, values carried, gathered and captured, backwards too.

#include "conformance/special/special.h"

namespace assay::inline v1 {
namespace {

// s starts at s0 and becomes 2 s + i; every s is gathered. Stops when s >= 100.
constexpr std::string_view kLoop =
    "g (int64 n, bool go, float[1] s0, float[1] two) => "
    "(float[1] s, float[k,1] all) {"
    "s, all = Loop<body = b (int64 i, bool c, float[1] a) => "
    "(bool more, float[1] next, float[1] out) {"
    "  d = Mul(a, two) f = Cast<to = 1>(i) next = Add(d, f) "
    "  out = Identity(next) h = Constant<value_float = 100.0>() "
    "  m = Less(next, h) more = Squeeze(m) }>(n, go, s0) }";

Values LoopInputs(int64_t n, bool go) {
  return {Whole(kI64, {}, {n}), Of(kBool, {}, {go ? 1.0 : 0.0}),
          Of(kF32, {1}, {1}), Of(kF32, {1}, {2})};
}

constexpr std::string_view kIf =
    "g (bool c, float[3] x) => (float[3] y) {"
    "y = If<then_branch = t () => (float[3] p) { p = Neg(x) }, "
    "else_branch = e () => (float[3] q) { q = Add(x, x) }>(c) }";

constexpr SpecialCase kCases[] = {
    {"If/then_branch", "true takes the first branch, with a captured x", kIf,
     [] {
       return Values{Of(kBool, {}, {1}), Of(kF32, {3}, {1, -2, 5})};
     },
     [] {
       return Values{Of(kF32, {3}, {-1, 2, -5})};
     }},
    {"If/else_branch", "false takes the other", kIf,
     [] {
       return Values{Of(kBool, {}, {0}), Of(kF32, {3}, {1, -2, 5})};
     },
     [] {
       return Values{Of(kF32, {3}, {2, -4, 10})};
     }},
    {"Loop/no_iteration", "n = 0: s0 comes back, and nothing is gathered",
     kLoop, [] { return LoopInputs(0, true); },
     [] {
       return Values{Of(kF32, {1}, {1}), Of(kF32, {0, 1}, {})};
     }},
    {"Loop/condition_false_at_first", "go = false: the same, whatever n is",
     kLoop, [] { return LoopInputs(5, false); },
     [] {
       return Values{Of(kF32, {1}, {1}), Of(kF32, {0, 1}, {})};
     }},
    {"Loop/one_iteration", "n = 1: 2 * 1 + 0", kLoop,
     [] { return LoopInputs(1, true); },
     [] {
       return Values{Of(kF32, {1}, {2}), Of(kF32, {1, 1}, {2})};
     }},
    {"Loop/many_iterations", "n = 4: 2, 5, 12, 27", kLoop,
     [] { return LoopInputs(4, true); },
     [] {
       return Values{Of(kF32, {1}, {27}), Of(kF32, {4, 1}, {2, 5, 12, 27})};
     }},
    {"Loop/ends_by_condition",
     "n = 50, but the sixth, 121, is not below 100: it is the last gathered",
     kLoop, [] { return LoopInputs(50, true); },
     [] {
       return Values{Of(kF32, {1}, {121}),
                     Of(kF32, {6, 1}, {2, 5, 12, 27, 58, 121})};
     }},
    {"Loop/swapped_states", "two states that change places each time",
     "g (int64 n, bool go, float[2] a0, float[2] b0) => "
     "(float[2] a, float[2] b) {"
     "a, b = Loop<body = l (int64 i, bool c, float[2] p, float[2] q) => "
     "(bool more, float[2] u, float[2] v) "
     "{ more = Identity(c) u = Identity(q) v = Add(p, q) }>(n, go, a0, b0) }",
     [] {
       return Values{Whole(kI64, {}, {5}), Of(kBool, {}, {1}),
                     Of(kF32, {2}, {0, 10}), Of(kF32, {2}, {1, 3})};
     },
     // Fibonacci: (0, 1) to (5, 8); (10, 3), 13, 16, 29, 45, 74.
     [] {
       return Values{Of(kF32, {2}, {5, 45}), Of(kF32, {2}, {8, 74})};
     }},
    {"Scan/forward", "running sums of the rows",
     "g (float[2] s, float[3,2] x) => (float[2] t, float[3,2] y) {"
     "t, y = Scan<num_scan_inputs = 1, body = b (float[2] a, float[2] r) => "
     "(float[2] n, float[2] o) { n = Add(a, r) o = Identity(n) }>(s, x) }",
     [] {
       return Values{Of(kF32, {2}, {100, 0}),
                     Of(kF32, {3, 2}, {1, 2, 3, 4, 5, 6})};
     },
     [] {
       return Values{Of(kF32, {2}, {109, 12}),
                     Of(kF32, {3, 2}, {101, 2, 104, 6, 109, 12})};
     }},
    {"Scan/input_reversed", "from the last row, gathered as they come",
     "g (float[2] s, float[3,2] x) => (float[2] t, float[3,2] y) {"
     "t, y = Scan<num_scan_inputs = 1, scan_input_directions = [1], "
     "body = b (float[2] a, float[2] r) => (float[2] n, float[2] o) "
     "{ n = Add(a, r) o = Identity(n) }>(s, x) }",
     [] {
       return Values{Of(kF32, {2}, {100, 0}),
                     Of(kF32, {3, 2}, {1, 2, 3, 4, 5, 6})};
     },
     [] {
       return Values{Of(kF32, {2}, {109, 12}),
                     Of(kF32, {3, 2}, {105, 6, 108, 10, 109, 12})};
     }},
    {"Scan/output_reversed", "each result before the last one",
     "g (float[2] s, float[3,2] x) => (float[2] t, float[3,2] y) {"
     "t, y = Scan<num_scan_inputs = 1, scan_output_directions = [1], "
     "body = b (float[2] a, float[2] r) => (float[2] n, float[2] o) "
     "{ n = Add(a, r) o = Identity(n) }>(s, x) }",
     [] {
       return Values{Of(kF32, {2}, {100, 0}),
                     Of(kF32, {3, 2}, {1, 2, 3, 4, 5, 6})};
     },
     [] {
       return Values{Of(kF32, {2}, {109, 12}),
                     Of(kF32, {3, 2}, {109, 12, 104, 6, 101, 2})};
     }},
    {"Scan/axis_1", "columns in, columns out",
     "g (float[2] s, float[2,3] x) => (float[2] t, float[2,3] y) {"
     "t, y = Scan<num_scan_inputs = 1, scan_input_axes = [1], "
     "scan_output_axes = [1], body = b (float[2] a, float[2] r) => "
     "(float[2] n, float[2] o) { n = Add(a, r) o = Identity(n) }>(s, x) }",
     [] {
       return Values{Of(kF32, {2}, {100, 0}),
                     Of(kF32, {2, 3}, {1, 2, 3, 4, 5, 6})};
     },
     [] {
       return Values{Of(kF32, {2}, {106, 15}),
                     Of(kF32, {2, 3}, {101, 103, 106, 4, 9, 15})};
     }},
    {"Range/falling", "from 7 down by 3: the limit is not reached",
     "g (int64 a, int64 b, int64 c) => (int64[3] y) { y = Range(a, b, c) }",
     [] {
       return Values{Whole(kI64, {}, {7}), Whole(kI64, {}, {-2}),
                     Whole(kI64, {}, {-3})};
     },
     [] {
       return Values{Of(kI64, {3}, {7, 4, 1})};
     }},
    {"SequenceInsert/positions", "at the front, at -1 and at the end",
     "g (seq(float[1]) s, float[1] x, int64 p, int64 q) => "
     "(seq(float[1]) a, seq(float[1]) b, seq(float[1]) c) {"
     "a = SequenceInsert(s, x, p) b = SequenceInsert(s, x, q) "
     "c = SequenceInsert(s, x) }",
     [] {
       return Values{ListOf({Of(kF32, {1}, {1}), Of(kF32, {1}, {2})}),
                     Of(kF32, {1}, {9}), Whole(kI64, {}, {0}),
                     Whole(kI64, {}, {-1})};
     },
     [] {
       return Values{
           ListOf({Of(kF32, {1}, {9}), Of(kF32, {1}, {1}), Of(kF32, {1}, {2})}),
           ListOf({Of(kF32, {1}, {1}), Of(kF32, {1}, {9}), Of(kF32, {1}, {2})}),
           ListOf(
               {Of(kF32, {1}, {1}), Of(kF32, {1}, {2}), Of(kF32, {1}, {9})})};
     }},
    {"SequenceErase/positions", "the first, -2 and the last",
     "g (seq(float[1]) s, int64 p, int64 q) => "
     "(seq(float[1]) a, seq(float[1]) b, seq(float[1]) c) {"
     "a = SequenceErase(s, p) b = SequenceErase(s, q) c = SequenceErase(s) }",
     [] {
       return Values{
           ListOf({Of(kF32, {1}, {1}), Of(kF32, {1}, {2}), Of(kF32, {1}, {3})}),
           Whole(kI64, {}, {0}), Whole(kI64, {}, {-2})};
     },
     [] {
       return Values{ListOf({Of(kF32, {1}, {2}), Of(kF32, {1}, {3})}),
                     ListOf({Of(kF32, {1}, {1}), Of(kF32, {1}, {3})}),
                     ListOf({Of(kF32, {1}, {1}), Of(kF32, {1}, {2})})};
     }},
    {"SequenceAt/positions", "the first, the last and -2 of three shapes",
     "g (seq(float[n]) s, int64 p, int64 q, int64 r) => "
     "(float[a] x, float[b] y, float[c] z) {"
     "x = SequenceAt(s, p) y = SequenceAt(s, q) z = SequenceAt(s, r) }",
     [] {
       return Values{ListOf({Of(kF32, {1}, {1}), Of(kF32, {2}, {2, 3}),
                             Of(kF32, {3}, {4, 5, 6})}),
                     Whole(kI64, {}, {0}), Whole(kI64, {}, {2}),
                     Whole(kI64, {}, {-2})};
     },
     [] {
       return Values{Of(kF32, {1}, {1}), Of(kF32, {3}, {4, 5, 6}),
                     Of(kF32, {2}, {2, 3})};
     }},
    {"SplitToSequence/uneven", "chunks of 2 of 5 columns: the last has one",
     "g (float[2,5] x, int64 n) => (seq(float[2,k]) y) "
     "{ y = SplitToSequence<axis = 1>(x, n) }",
     [] {
       return Values{Of(kF32, {2, 5}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}),
                     Whole(kI64, {}, {2})};
     },
     [] {
       return Values{
           ListOf({Of(kF32, {2, 2}, {1, 2, 6, 7}),
                   Of(kF32, {2, 2}, {3, 4, 8, 9}), Of(kF32, {2, 1}, {5, 10})})};
     }},
    {"ConcatFromSequence/new_axis", "stacked along a new last axis",
     "g (seq(float[2]) s) => (float[2,3] y) "
     "{ y = ConcatFromSequence<axis = -1, new_axis = 1>(s) }",
     [] {
       return Values{ListOf({Of(kF32, {2}, {1, 2}), Of(kF32, {2}, {3, 4}),
                             Of(kF32, {2}, {5, 6})})};
     },
     [] {
       return Values{Of(kF32, {2, 3}, {1, 3, 5, 2, 4, 6})};
     }},
};

}  // namespace

std::span<const SpecialCase> ControlCases() { return kCases; }

}  // namespace assay::inline v1
