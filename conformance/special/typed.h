// SPDX-License-Identifier: Apache-2.0
//
// Rows that stand for a case per element type. In the model, $T is the type's
// name in ONNX's text form, $N its number, $U the unsigned integer of its
// width.
//
//   constexpr TypedRow kRows[] = {
//       {"Neg/of", "the other sign", "int8 int16 float64",
//        "g ($T[2] x) => ($T[2] y) { y = Neg(x) }",
//        [](DType t) { return Values{Of(t, {2}, {1, -2})}; },
//        [](DType t) { return Values{Of(t, {2}, {-1, 2})}; }}};
//   // Neg/of_int8, Neg/of_int16, Neg/of_float64
//
// What is moved but not computed with is written in marks, of any type.

#ifndef ASSAY_SPECIAL_TYPED_H_
#define ASSAY_SPECIAL_TYPED_H_

#include <array>
#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

#include "conformance/special/special.h"

namespace assay::inline v1 {

#define ASSAY_FLOATS "bfloat16 float16 float32 float64 "
#define ASSAY_SIGNED "int8 int16 int32 int64 "
#define ASSAY_UNSIGNED "uint8 uint16 uint32 uint64 "
#define ASSAY_FLOATS8 "float8e4m3fn float8e4m3fnuz float8e5m2 float8e5m2fnuz "

inline constexpr std::string_view kFloatTypes = ASSAY_FLOATS;
inline constexpr std::string_view kSignedTypes = ASSAY_FLOATS ASSAY_SIGNED;
inline constexpr std::string_view kUnsignedTypes = ASSAY_UNSIGNED;
inline constexpr std::string_view kIntegerTypes = ASSAY_SIGNED ASSAY_UNSIGNED;
inline constexpr std::string_view kNumberTypes =
    ASSAY_FLOATS ASSAY_SIGNED ASSAY_UNSIGNED;
/// Those of ONNX's first versions, which sequences have, and one more.
inline constexpr std::string_view kOldTypes =
    "float16 float32 float64 " ASSAY_SIGNED ASSAY_UNSIGNED
    "bool string complex64 complex128 ";
inline constexpr std::string_view kTensorTypes =
    ASSAY_FLOATS ASSAY_SIGNED ASSAY_UNSIGNED
    "bool string complex64 complex128 ";
/// All that operators on any tensor permit: float6 is for few.
inline constexpr std::string_view kAllTypes =
    ASSAY_FLOATS ASSAY_SIGNED ASSAY_UNSIGNED ASSAY_FLOATS8
    "bool string complex64 complex128 int2 int4 uint2 uint4 float4e2m1 "
    "float8e8m0 ";

#undef ASSAY_FLOATS
#undef ASSAY_SIGNED
#undef ASSAY_UNSIGNED
#undef ASSAY_FLOATS8

struct TypedRow {
  std::string_view name;   // the type's name is added: _int8
  std::string_view shows;  // as SpecialCase has it
  std::string_view types;  // apart by blanks
  std::string_view model;
  Values (*inputs)(DType);
  Values (*expected)(DType);
  /// Of ai.onnx, apart by blanks, each a case of its own, with _opset_6
  /// behind its name; empty: the newest.
  std::string_view opsets = "";
};

/// A function of one element at four points, in all types. `y` is what comes
/// out, x being called x in the call.
struct PointsRow {
  std::string_view op;
  std::string_view shows;
  std::string_view types;
  std::string_view call;  // "Elu<alpha = 2.0>(x)"
  std::array<double, 4> x;
  std::array<double, 4> y;
  std::string_view opsets = "";
};

/// The cases of all rows, which live as long as the program. Throws
/// std::invalid_argument for a type that there is not.
std::vector<SpecialCase> CasesOf(std::span<const TypedRow> rows);
std::vector<SpecialCase> CasesOf(std::span<const PointsRow> rows);

/// Elements by codes 0 to 3: the numbers 1 to 4 where the type has them, else
/// what it has: 0 and 1 of bool, -2 to 1 of int2, 2^code of float8e8m0; "s0" to
/// "s3"; 1 - i to 4 - 4i.
Value Marks(DType type, const Shape& shape, std::initializer_list<int> codes);

/// Zero, or the empty string, for code 0, and mark 1 for code 1.
Value ZerosAndMarks(DType type, const Shape& shape,
                    std::initializer_list<int> codes);

/// The bits of those elements as unsigned integers of their width, which is
/// that of at most 64.
Value BitsOfMarks(DType type, const Shape& shape,
                  std::initializer_list<int> codes);

}  // namespace assay::inline v1

#endif  // ASSAY_SPECIAL_TYPED_H_
