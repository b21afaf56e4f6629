// SPDX-License-Identifier: Apache-2.0
//
// Operators that move elements and look at none, in every element type that
// they permit: what comes out is where the operator's page says it goes.
// Elements of less than a byte, strings and complex numbers are among them.

#include "conformance/special/typed.h"

namespace assay::inline v1 {
namespace {

Values Six(DType t) { return {Marks(t, {2, 3}, {0, 1, 2, 3, 0, 1})}; }
Values Eight(DType t) {
  return {Marks(t, {1, 1, 2, 4}, {0, 1, 2, 3, 3, 2, 1, 0})};
}
Values EightDeep(DType t) {
  return {Marks(t, {1, 4, 1, 2}, {0, 2, 1, 3, 3, 1, 2, 0})};
}

constexpr std::string_view kWithBits =
    "bfloat16 float16 float32 float64 int8 int16 int32 int64 uint8 uint16 "
    "uint32 uint64 float8e4m3fn float8e4m3fnuz float8e5m2 float8e5m2fnuz bool "
    "complex64 int2 int4 uint2 uint4 float4e2m1 float8e8m0";
constexpr std::string_view kCacheTypes =
    "bfloat16 float16 float32 float64 int8 int16 int32 int64 uint8 uint16 "
    "uint32 uint64 float8e4m3fn float8e4m3fnuz float8e5m2 float8e5m2fnuz bool "
    "string complex64 complex128 int4 uint4 float4e2m1 float8e8m0";
constexpr std::string_view kNotComplex =
    "bfloat16 float16 float32 float64 int8 int16 int32 int64 uint8 uint16 "
    "uint32 uint64 string";

constexpr TypedRow kRows[] = {
    {"Transpose/turned", "y[j,i] = x[i,j]", kAllTypes,
     "g ($T[2,3] x) => ($T[3,2] y) { y = Transpose(x) }", &Six,
     [](DType t) {
       return Values{Marks(t, {3, 2}, {0, 3, 1, 0, 2, 1})};
     }},
    {"Reshape/rows", "elements keep their order", kAllTypes,
     "g ($T[2,3] x) => ($T[3,2] y) <int64[2] s = {3, -1}> "
     "{ y = Reshape(x, s) }",
     &Six,
     [](DType t) {
       return Values{Marks(t, {3, 2}, {0, 1, 2, 3, 0, 1})};
     }},
    {"Flatten/axis_2", "the first two axes become one", kAllTypes,
     "g ($T[2,3] x) => ($T[6,1] y) { y = Flatten<axis = 2>(x) }", &Six,
     [](DType t) {
       return Values{Marks(t, {6, 1}, {0, 1, 2, 3, 0, 1})};
     }},
    {"Unsqueeze/middle", "an axis of extent 1 more", kAllTypes,
     "g ($T[2,3] x) => ($T[2,1,3] y) <int64[1] a = {1}> "
     "{ y = Unsqueeze(x, a) }",
     &Six,
     [](DType t) {
       return Values{Marks(t, {2, 1, 3}, {0, 1, 2, 3, 0, 1})};
     }},
    {"Squeeze/middle", "an axis of extent 1 less", kAllTypes,
     "g ($T[2,1,3] x) => ($T[2,3] y) <int64[1] a = {1}> "
     "{ y = Squeeze(x, a) }",
     [](DType t) {
       return Values{Marks(t, {2, 1, 3}, {0, 1, 2, 3, 0, 1})};
     },
     &Six},
    {"Identity/of", "y = x, of any type", kAllTypes,
     "g ($T[2,3] x) => ($T[2,3] y) { y = Identity(x) }", &Six, &Six},
    {"Shape/of", "the extents, whatever the elements are", kAllTypes,
     "g ($T[2,3] x) => (int64[2] y) { y = Shape(x) }", &Six,
     [](DType) {
       return Values{Whole(kI64, {2}, {2, 3})};
     }},
    {"Size/of", "2 * 3 elements, whatever they are", kAllTypes,
     "g ($T[2,3] x) => (int64 y) { y = Size(x) }", &Six,
     [](DType) { return Values{Whole(kI64, {}, {6})}; }},
    {"Pad/edge", "one column before, one row behind, repeated", kAllTypes,
     "g ($T[2,2] x) => ($T[3,3] y) <int64[4] p = {0, 1, 1, 0}> "
     "{ y = Pad<mode = \"edge\">(x, p) }",
     [](DType t) {
       return Values{Marks(t, {2, 2}, {0, 1, 2, 3})};
     },
     [](DType t) {
       return Values{Marks(t, {3, 3}, {0, 0, 1, 2, 2, 3, 2, 2, 3})};
     }},
    {"Pad/constant", "constant_value around; axes by int32", kAllTypes,
     "g ($T[2,2] x, $T v) => ($T[2,3] y) <int64[2] p = {0, 1}, "
     "int32[1] a = {1}> { y = Pad(x, p, v, a) }",
     [](DType t) {
       return Values{Marks(t, {2, 2}, {0, 1, 2, 3}), Marks(t, {}, {1})};
     },
     [](DType t) {
       return Values{Marks(t, {2, 3}, {0, 1, 1, 2, 3, 1})};
     }},
    {"TensorScatter/linear", "one row of the cache replaced", kCacheTypes,
     "g ($T[1,3,2] c, $T[1,1,2] u, int64[1] i) => ($T[1,3,2] y) "
     "{ y = TensorScatter(c, u, i) }",
     [](DType t) {
       return Values{Marks(t, {1, 3, 2}, {0, 1, 2, 3, 0, 1}),
                     Marks(t, {1, 1, 2}, {1, 2}), Whole(kI64, {1}, {1})};
     },
     [](DType t) {
       return Values{Marks(t, {1, 3, 2}, {0, 1, 1, 2, 0, 1})};
     }},
    {"BitCast/to_unsigned", "the bits that the type's format gives", kWithBits,
     "g ($T[4] x) => ($U[4] y) { y = BitCast<to = $M>(x) }",
     [](DType t) {
       return Values{Marks(t, {4}, {0, 1, 2, 3})};
     },
     [](DType t) {
       return Values{BitsOfMarks(t, {4}, {0, 1, 2, 3})};
     }},
    {"BitCast/from_unsigned", "and back", kWithBits,
     "g ($U[4] x) => ($T[4] y) { y = BitCast<to = $N>(x) }",
     [](DType t) {
       return Values{BitsOfMarks(t, {4}, {0, 1, 2, 3})};
     },
     [](DType t) {
       return Values{Marks(t, {4}, {0, 1, 2, 3})};
     }},
    {"BitCast/to_itself", "no other type is as wide", "complex128",
     "g ($T[4] x) => ($T[4] y) { y = BitCast<to = $N>(x) }",
     [](DType t) {
       return Values{Marks(t, {4}, {0, 1, 2, 3})};
     },
     [](DType t) {
       return Values{Marks(t, {4}, {0, 1, 2, 3})};
     }},
    {"Tile/twice", "rows repeat", kTensorTypes,
     "g ($T[2,2] x) => ($T[2,4] y) <int64[2] r = {1, 2}> { y = Tile(x, r) }",
     [](DType t) {
       return Values{Marks(t, {2, 2}, {0, 1, 2, 3})};
     },
     [](DType t) {
       return Values{Marks(t, {2, 4}, {0, 1, 0, 1, 2, 3, 2, 3})};
     }},
    {"Expand/rows", "one row, three times", kTensorTypes,
     "g ($T[1,2] x) => ($T[3,2] y) <int64[2] s = {3, 2}> { y = Expand(x, s) }",
     [](DType t) {
       return Values{Marks(t, {1, 2}, {2, 3})};
     },
     [](DType t) {
       return Values{Marks(t, {3, 2}, {2, 3, 2, 3, 2, 3})};
     }},
    {"Split/columns", "one column and two", kTensorTypes,
     "g ($T[2,3] x) => ($T[2,1] y, $T[2,2] z) <int64[2] s = {1, 2}> "
     "{ y, z = Split<axis = 1>(x, s) }",
     &Six,
     [](DType t) {
       return Values{Marks(t, {2, 1}, {0, 3}), Marks(t, {2, 2}, {1, 2, 0, 1})};
     }},
    {"Concat/columns", "x, then the column c", kTensorTypes,
     "g ($T[2,2] x, $T[2,1] c) => ($T[2,3] y) { y = Concat<axis = 1>(x, c) }",
     [](DType t) {
       return Values{Marks(t, {2, 2}, {0, 1, 2, 3}), Marks(t, {2, 1}, {3, 0})};
     },
     [](DType t) {
       return Values{Marks(t, {2, 3}, {0, 1, 3, 2, 3, 0})};
     }},
    {"Slice/backwards", "columns 2 and 1; positions in int32", kTensorTypes,
     "g ($T[2,3] x) => ($T[2,2] y) <int32[1] b = {2}, int32[1] e = {0}, "
     "int32[1] a = {1}, int32[1] s = {-1}> { y = Slice(x, b, e, a, s) }",
     &Six,
     [](DType t) {
       return Values{Marks(t, {2, 2}, {2, 1, 1, 0})};
     }},
    {"SpaceToDepth/two", "y[2 i + j, h, w] = x[0, 2 h + i, 2 w + j]",
     kTensorTypes,
     "g ($T[1,1,2,4] x) => ($T[1,4,1,2] y) "
     "{ y = SpaceToDepth<blocksize = 2>(x) }",
     &Eight, &EightDeep},
    {"DepthToSpace/two", "the converse", kTensorTypes,
     "g ($T[1,4,1,2] x) => ($T[1,1,2,4] y) "
     "{ y = DepthToSpace<blocksize = 2>(x) }",
     &EightDeep, &Eight},
    {"Gather/columns", "columns 2, 0, -1; indices in int32", kTensorTypes,
     "g ($T[2,3] x, int32[3] i) => ($T[2,3] y) { y = Gather<axis = 1>(x, i) }",
     [](DType t) {
       return Values{Six(t)[0], Whole(kI32, {3}, {2, 0, -1})};
     },
     [](DType t) {
       return Values{Marks(t, {2, 3}, {2, 0, 2, 1, 3, 1})};
     }},
    {"GatherElements/columns", "y[i,j] = x[i,index[i,j]]; in int32",
     kTensorTypes,
     "g ($T[2,3] x, int32[2,2] i) => ($T[2,2] y) "
     "{ y = GatherElements<axis = 1>(x, i) }",
     [](DType t) {
       return Values{Six(t)[0], Whole(kI32, {2, 2}, {2, 1, 0, -1})};
     },
     [](DType t) {
       return Values{Marks(t, {2, 2}, {2, 1, 3, 1})};
     }},
    {"GatherND/elements", "x[1,2] and x[0,1]", kTensorTypes,
     "g ($T[2,3] x, int64[2,2] i) => ($T[2] y) { y = GatherND(x, i) }",
     [](DType t) {
       return Values{Six(t)[0], Whole(kI64, {2, 2}, {1, 2, 0, 2})};
     },
     [](DType t) {
       return Values{Marks(t, {2}, {1, 2})};
     }},
    {"ScatterElements/columns", "x[0,2] and x[1,0] replaced; in int32",
     kTensorTypes,
     "g ($T[2,3] x, int32[2,1] i, $T[2,1] u) => ($T[2,3] y) "
     "{ y = ScatterElements<axis = 1>(x, i, u) }",
     [](DType t) {
       return Values{Six(t)[0], Whole(kI32, {2, 1}, {2, 0}),
                     Marks(t, {2, 1}, {1, 2})};
     },
     [](DType t) {
       return Values{Marks(t, {2, 3}, {0, 1, 1, 2, 0, 1})};
     }},
    {"ScatterND/elements", "x[0,2] and x[1,0] replaced", kTensorTypes,
     "g ($T[2,3] x, int64[2,2] i, $T[2] u) => ($T[2,3] y) "
     "{ y = ScatterND(x, i, u) }",
     [](DType t) {
       return Values{Six(t)[0], Whole(kI64, {2, 2}, {0, 2, 1, 0}),
                     Marks(t, {2}, {1, 2})};
     },
     [](DType t) {
       return Values{Marks(t, {2, 3}, {0, 1, 1, 2, 0, 1})};
     }},
    {"Scatter/columns", "as ScatterElements, which replaced it", kOldTypes,
     "g ($T[2,3] x, int32[2,1] i, $T[2,1] u) => ($T[2,3] y) "
     "{ y = Scatter<axis = 1>(x, i, u) }",
     [](DType t) {
       return Values{Six(t)[0], Whole(kI32, {2, 1}, {2, 0}),
                     Marks(t, {2, 1}, {1, 2})};
     },
     [](DType t) {
       return Values{Marks(t, {2, 3}, {0, 1, 1, 2, 0, 1})};
     },
     "10"},
    {"CenterCropPad/crop", "the middle two columns; axes in int32",
     kTensorTypes,
     "g ($T[1,1,2,4] x) => ($T[1,1,2,2] y) <int32[1] s = {2}> "
     "{ y = CenterCropPad<axes = [3]>(x, s) }",
     &Eight,
     [](DType t) {
       return Values{Marks(t, {1, 1, 2, 2}, {1, 2, 2, 1})};
     }},
    {"Where/chosen", "x where c, else y", kTensorTypes,
     "g (bool[4] c, $T[4] x, $T[4] y) => ($T[4] z) { z = Where(c, x, y) }",
     [](DType t) {
       return Values{Of(kBool, {4}, {1, 0, 0, 1}), Marks(t, {4}, {0, 1, 2, 3}),
                     Marks(t, {4}, {3, 2, 1, 0})};
     },
     [](DType t) {
       return Values{Marks(t, {4}, {0, 2, 1, 3})};
     }},
    {"Trilu/all", "so far below the diagonal that all is kept", kTensorTypes,
     "g ($T[2,3] x) => ($T[2,3] y) <int64 k = {-5}> { y = Trilu(x, k) }", &Six,
     &Six},
    {"Compress/columns", "those where the condition holds", kTensorTypes,
     "g ($T[2,3] x) => ($T[2,2] y) <bool[3] c = {1, 0, 1}> "
     "{ y = Compress<axis = 1>(x, c) }",
     &Six,
     [](DType t) {
       return Values{Marks(t, {2, 2}, {0, 2, 3, 1})};
     }},
    {"ReverseSequence/rows", "the first 2 of row 0, the first 3 of row 1",
     kTensorTypes,
     "g ($T[2,3] x) => ($T[2,3] y) <int64[2] n = {2, 3}> "
     "{ y = ReverseSequence<batch_axis = 0, time_axis = 1>(x, n) }",
     &Six,
     [](DType t) {
       return Values{Marks(t, {2, 3}, {1, 0, 2, 1, 0, 3})};
     }},
    {"Resize/nearest", "each column twice", kTensorTypes,
     "g ($T[2,2] x) => ($T[2,4] y) <float[2] s = {1.0, 2.0}> "
     "{ y = Resize<coordinate_transformation_mode = \"asymmetric\", "
     "nearest_mode = \"floor\">(x, , s) }",
     [](DType t) {
       return Values{Marks(t, {2, 2}, {0, 1, 2, 3})};
     },
     [](DType t) {
       return Values{Marks(t, {2, 4}, {0, 0, 1, 1, 2, 2, 3, 3})};
     }},
    {"Upsample/nearest", "each column twice", kOldTypes,
     "g ($T[2,2] x) => ($T[2,4] y) <float[2] s = {1.0, 2.0}> "
     "{ y = Upsample(x, s) }",
     [](DType t) {
       return Values{Marks(t, {2, 2}, {0, 1, 2, 3})};
     },
     [](DType t) {
       return Values{Marks(t, {2, 4}, {0, 0, 1, 1, 2, 2, 3, 3})};
     },
     "9"},
    {"GridSample/nearest", "the far corner, then the near one", kTensorTypes,
     "g ($T[1,1,2,2] x, float[1,1,2,2] at) => ($T[1,1,1,2] y) "
     "{ y = GridSample<mode = \"nearest\", align_corners = 1>(x, at) }",
     [](DType t) {
       return Values{Marks(t, {1, 1, 2, 2}, {0, 1, 2, 3}),
                     Of(kF32, {1, 1, 2, 2}, {1, 1, -1, -1})};
     },
     [](DType t) {
       return Values{Marks(t, {1, 1, 1, 2}, {3, 0})};
     }},
    {"Col2Im/one_block", "a block that is the image", kNumberTypes,
     "g ($T[1,4,1] x) => ($T[1,1,2,2] y) <int64[2] s = {2, 2}> "
     "{ y = Col2Im(x, s, s) }",
     [](DType t) {
       return Values{Marks(t, {1, 4, 1}, {0, 1, 2, 3})};
     },
     [](DType t) {
       return Values{Marks(t, {1, 1, 2, 2}, {0, 1, 2, 3})};
     }},
    {"Col2Im/sums", "the middle is in both blocks: (1 - i) + (1 - i)",
     "complex64 complex128",
     "g ($T[1,2,2] x) => ($T[1,1,1,3] y) <int64[2] s = {1, 3}, "
     "int64[2] b = {1, 2}> { y = Col2Im(x, s, b) }",
     [](DType t) {
       return Values{Marks(t, {1, 2, 2}, {0, 0, 0, 1})};
     },
     [](DType t) {
       return Values{Marks(t, {1, 1, 1, 3}, {0, 1, 1})};
     }},
    {"NonZero/places", "where no zero and no empty string is", kTensorTypes,
     "g ($T[4] x) => (int64[1,n] y) { y = NonZero(x) }",
     [](DType t) {
       return Values{ZerosAndMarks(t, {4}, {0, 1, 1, 0})};
     },
     [](DType) {
       return Values{Whole(kI64, {1, 2}, {1, 2})};
     }},
    {"Unique/sorted", "three of four; numbers, and strings by their letters",
     "bfloat16 float16 float32 float64 int8 int16 int32 int64 uint8 uint16 "
     "uint32 uint64 string complex64 complex128",
     "g ($T[4] x) => ($T[3] y, int64[3] i, int64[4] v, int64[3] n) "
     "{ y, i, v, n = Unique(x) }",
     [](DType t) {
       return Values{Marks(t, {4}, {2, 1, 2, 0})};
     },
     [](DType t) {
       return Values{Marks(t, {3}, {0, 1, 2}), Whole(kI64, {3}, {3, 1, 0}),
                     Whole(kI64, {4}, {2, 1, 2, 0}),
                     Whole(kI64, {3}, {1, 1, 2})};
     }},
    {"Unique/both", "false before true", "bool",
     "g ($T[3] x) => ($T[2] y) { y = Unique(x) }",
     [](DType t) {
       return Values{Of(t, {3}, {1, 0, 1})};
     },
     [](DType t) {
       return Values{Of(t, {2}, {0, 1})};
     }},
    {"OneHot/values", "off and on of that type", kTensorTypes,
     "g (int64[2] i, $T[2] v) => ($T[2,3] y) <int64 d = {3}> "
     "{ y = OneHot(i, d, v) }",
     [](DType t) {
       return Values{Whole(kI64, {2}, {2, 0}), Marks(t, {2}, {0, 1})};
     },
     [](DType t) {
       return Values{Marks(t, {2, 3}, {0, 0, 1, 1, 0, 0})};
     }},
    {"Dropout/inference", "y = x where nothing is trained",
     "bfloat16 float16 float64 float8e4m3fn float8e4m3fnuz float8e5m2 "
     "float8e5m2fnuz",
     "g ($T[2,3] x) => ($T[2,3] y) { y = Dropout(x) }", &Six, &Six},
    {"Cast/to_string", "plain decimal numbers (text of Cast)", kNotComplex,
     "g ($T[4] x) => (string[4] y) { y = Cast<to = 8>(x) }",
     [](DType t) {
       if (t == DType::kString) return Values{Texts({4}, {"1", "2", "3", "4"})};
       return Values{Marks(t, {4}, {0, 1, 2, 3})};
     },
     [](DType) {
       return Values{Texts({4}, {"1", "2", "3", "4"})};
     }},
};

}  // namespace

std::span<const SpecialCase> MovedCases() {
  static const auto& cases =
      *new std::vector<SpecialCase>(CasesOf(std::span<const TypedRow>(kRows)));
  return cases;
}

}  // namespace assay::inline v1
