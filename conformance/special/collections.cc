// SPDX-License-Identifier: Apache-2.0
//
// Sequences, optionals, and what branches and loops carry, in every element
// type that they permit. Nothing is computed: the right item must come out.

#include "conformance/special/typed.h"

namespace assay::inline v1 {
namespace {

constexpr std::string_view kOptionalTypes =
    "bfloat16 float16 float32 float64 int8 int16 int32 int64 uint8 uint16 "
    "uint32 uint64 bool string complex64 complex128 int2 int4 uint2 uint4 "
    "float4e2m1 float6e2m3 float6e3m2 float8e4m3fn float8e4m3fnuz float8e5m2 "
    "float8e5m2fnuz float8e8m0";

Value A(DType t) { return Marks(t, {2}, {0, 1}); }
Value B(DType t) { return Marks(t, {2}, {3, 2}); }
Values Two(DType t) { return {A(t), B(t)}; }
Values Joined(DType t) { return {Marks(t, {4}, {0, 1, 3, 2})}; }

// b is put in front of a, taken out, and found where it was.
constexpr std::string_view kEdited =
    "g ($T[2] a, $T[2] b) => ($T[2] y, int64 n) <int32 p = {0}> "
    "{ e = SequenceEmpty<dtype = $N>() s = SequenceInsert(e, a) "
    "t = SequenceInsert(s, b, p) u = SequenceErase(t, p) "
    "y = SequenceAt(t, p) n = SequenceLength(u) }";
Values Edited(DType t) { return {B(t), Whole(kI64, {}, {1})}; }

constexpr std::string_view kJoined =
    "g ($T[2] a, $T[2] b) => ($T[4] y) { s = SequenceConstruct(a, b) "
    "y = ConcatFromSequence<axis = 0>(s) }";

// The body joins an item, a tensor and an item of another sequence.
constexpr std::string_view kMapped =
    "g ($T[2] a, $T[2] b) => ($T[6] y, int64 n) <int64 k = {0}> "
    "{ s = SequenceConstruct(a) t = SequenceConstruct(b) "
    "m = SequenceMap<body = f ($T[2] p, $T[2] q, $T[2] r) => ($T[6] o) "
    "{ o = Concat<axis = 0>(p, q, r) }>(s, b, t) "
    "y = SequenceAt(m, k) n = SequenceLength(m) }";

constexpr std::string_view kOptional =
    "g ($T[2] a, seq($T[2]) l) => ($T[2] y, seq($T[2]) z, bool h) "
    "{ o = Optional(a) p = Optional(l) u = OptionalGetElement(o) "
    "v = OptionalGetElement(p) y = OptionalGetElement(u) "
    "z = OptionalGetElement(v) h0 = OptionalHasElement(o) "
    "h1 = OptionalHasElement(p) h2 = OptionalHasElement(a) "
    "h3 = OptionalHasElement(l) h4 = And(h0, h1) h5 = And(h2, h3) "
    "h = And(h4, h5) }";
Values OptionalInputs(DType t) { return {A(t), ListOf({B(t), A(t)})}; }
Values OptionalOutputs(DType t) {
  return {A(t), ListOf({B(t), A(t)}), Of(kBool, {}, {1})};
}

Values ChoiceInputs(DType t) {
  return {Of(kBool, {}, {0}), A(t), B(t), ListOf({A(t)}), ListOf({B(t), A(t)})};
}
Values ChoiceOutputs(DType t) { return {B(t), ListOf({B(t), A(t)}), B(t)}; }

Values LoopInputs(DType t) {
  return {A(t), B(t), ListOf({A(t)}), ListOf({B(t), A(t)})};
}

constexpr TypedRow kRows[] = {
    {"SequenceEmpty/edited", "what is put in comes out", kOldTypes, kEdited,
     &Two, &Edited},
    {"SequenceInsert/edited", "b in front of a", kOldTypes, kEdited, &Two,
     &Edited},
    {"SequenceErase/edited", "one of two is left", kOldTypes, kEdited, &Two,
     &Edited},
    {"SequenceAt/edited", "b stands in front", kOldTypes, kEdited, &Two,
     &Edited},
    {"SequenceLength/edited", "one of two is left", kOldTypes, kEdited, &Two,
     &Edited},
    {"SequenceConstruct/joined", "a, then b", kOldTypes, kJoined, &Two,
     &Joined},
    {"ConcatFromSequence/joined", "a, then b", kOldTypes, kJoined, &Two,
     &Joined},
    {"SequenceMap/joined", "a, b, b: item, tensor and second item", kOldTypes,
     kMapped, &Two,
     [](DType t) {
       return Values{Marks(t, {6}, {0, 1, 3, 2, 3, 2}), Whole(kI64, {}, {1})};
     }},
    {"SplitToSequence/pairs", "two and two; the lengths in int32", kTensorTypes,
     "g ($T[4] x) => (seq($T[2]) s) <int32 k = {2}> "
     "{ s = SplitToSequence(x, k) }",
     [](DType t) { return Joined(t); },
     [](DType t) {
       return Values{ListOf({A(t), B(t)})};
     }},
    {"Optional/there", "what is put in comes out", kOptionalTypes, kOptional,
     &OptionalInputs, &OptionalOutputs},
    {"OptionalGetElement/there", "of an optional, or the value itself",
     kOptionalTypes, kOptional, &OptionalInputs, &OptionalOutputs},
    {"OptionalHasElement/there",
     "true of an optional that has one, and of "
     "what is none",
     kOptionalTypes, kOptional, &OptionalInputs, &OptionalOutputs},
    {"Identity/collections", "sequences and optionals too", kOldTypes,
     "g ($T[2] a, seq($T[2]) l) => ($T[2] y, seq($T[2]) z) "
     "{ o = Optional(a) i = Identity(o) y = OptionalGetElement(i) "
     "m = Identity(l) p = Optional(m) j = Identity(p) "
     "z = OptionalGetElement(j) }",
     &OptionalInputs,
     [](DType t) {
       return Values{A(t), ListOf({B(t), A(t)})};
     }},
    {"If/else", "a tensor, a sequence and an optional from the second branch",
     kAllTypes,
     "g (bool c, $T[2] a, $T[2] b, seq($T[2]) l, seq($T[2]) m) => "
     "($T[2] y, seq($T[2]) z, $T[2] w) { y, z, o = If<"
     "then_branch = t () => ($T[2] y1, seq($T[2]) z1, optional($T[2]) o1) "
     "{ y1 = Identity(a) z1 = OptionalGetElement(l) o1 = Optional(a) }, "
     "else_branch = e () => ($T[2] y2, seq($T[2]) z2, optional($T[2]) o2) "
     "{ y2 = Identity(b) z2 = OptionalGetElement(m) o2 = Optional(b) }>(c) "
     "w = OptionalGetElement(o) }",
     &ChoiceInputs, &ChoiceOutputs},
    {"If/else_sequence", "an optional sequence from the second branch",
     kTensorTypes,
     "g (bool c, $T[2] a, $T[2] b, seq($T[2]) l, seq($T[2]) m) => "
     "($T[2] y, seq($T[2]) z, $T[2] w) { o = If<"
     "then_branch = t () => (optional(seq($T[2])) o1) { o1 = Optional(l) }, "
     "else_branch = e () => (optional(seq($T[2])) o2) { o2 = Optional(m) }>(c) "
     "y = Where(c, a, b) w = Identity(b) z = OptionalGetElement(o) }",
     &ChoiceInputs, &ChoiceOutputs},
    {"Loop/states", "a tensor, a sequence and an optional, each replaced",
     kAllTypes,
     "g ($T[2] a, $T[2] b, seq($T[2]) l, seq($T[2]) m) => "
     "($T[2] y, seq($T[2]) z, $T[2] w) <int64 n = {2}, bool go = {1}> "
     "{ o = Optional(a) y, z, v = Loop<body = r (int64 i, bool c, $T[2] p, "
     "seq($T[2]) q, optional($T[2]) s) => (bool more, $T[2] p1, "
     "seq($T[2]) q1, optional($T[2]) s1) { more = Identity(c) "
     "p1 = Identity(b) q1 = OptionalGetElement(m) s1 = Optional(p) }"
     ">(n, go, a, l, o) w = OptionalGetElement(v) }",
     &LoopInputs, &ChoiceOutputs},
    {"Loop/state_sequence", "an optional sequence, replaced", kTensorTypes,
     "g ($T[2] a, $T[2] b, seq($T[2]) l, seq($T[2]) m) => "
     "($T[2] y, seq($T[2]) z, $T[2] w) <int64 n = {2}, bool go = {1}> "
     "{ o = Optional(l) v = Loop<body = r (int64 i, bool c, "
     "optional(seq($T[2])) s) => (bool more, optional(seq($T[2])) s1) "
     "{ more = Identity(c) s1 = Optional(m) }>(n, go, o) "
     "z = OptionalGetElement(v) y = Identity(b) w = Identity(b) }",
     &LoopInputs, &ChoiceOutputs},
    {"Scan/reversed", "the state is the last row, the rows come out backwards",
     kAllTypes,
     "g ($T[2] a, $T[3,2] x) => ($T[2] y, $T[3,2] z) { y, z = "
     "Scan<num_scan_inputs = 1, scan_output_directions = [1], "
     "body = r ($T[2] s, $T[2] p) => ($T[2] s1, $T[2] q) "
     "{ s1 = Identity(p) q = Identity(p) }>(a, x) }",
     [](DType t) {
       return Values{A(t), Marks(t, {3, 2}, {0, 1, 2, 3, 3, 2})};
     },
     [](DType t) {
       return Values{B(t), Marks(t, {3, 2}, {3, 2, 2, 3, 0, 1})};
     }},
};

}  // namespace

std::span<const SpecialCase> CollectionsCases() {
  static const auto& cases =
      *new std::vector<SpecialCase>(CasesOf(std::span<const TypedRow>(kRows)));
  return cases;
}

}  // namespace assay::inline v1
