// SPDX-License-Identifier: Apache-2.0
//
// FloatFormat: the binary floating-point formats narrower than 32 bits, as one
// table, with one exact decoder and one encoder that rounds once.
//
//   const FloatFormat* half = FindFloatFormat(DType::kFloat16);
//   half->Decode(0x3C00);                         // 1.0
//   half->Encode(65520.0, Overflow::kPropagate);  // 0x7C00, infinity
//
// Sources: IEEE 754-2019 (float16); the ONNX pages "Float stored in 8 bits",
// "4 bit floating point types" and TensorProto.DataType for the others.

#pragma once

#include <cstdint>

#include "framework/core/dtype.h"

namespace assay::reference {

/// The fate of a value beyond the largest finite one, infinity included.
enum class Overflow : uint8_t {
  kPropagate,  // infinity, else NaN, else the largest finite value
  kSaturate,   // the largest finite value
};

/// How a format spends its highest codes.
enum class Specials : uint8_t {
  kIeee,               // the highest exponent is infinity and NaN
  kNanOnly,            // all ones is NaN, no infinity
  kNanAsNegativeZero,  // 0x80 is NaN, no infinity, no negative zero
  kNone,               // every code is a finite number
};

struct FloatFormat {
  /// The exact value of a code. Bits above the format's width are ignored.
  double Decode(uint32_t code) const;

  /// The code nearest to `value`, ties to even, rounded once. NaN becomes the
  /// format's NaN; where it has none, the largest finite value (ONNX's page
  /// "Float stored in 4 bits": 6).
  uint32_t Encode(double value, Overflow overflow) const;

  /// The largest finite value.
  double Largest() const;

  DType type = DType::kUndefined;
  int exponent_bits = 0;
  int mantissa_bits = 0;
  int bias = 0;
  Specials specials = Specials::kIeee;

 private:
  uint32_t SignBit() const { return 1U << (exponent_bits + mantissa_bits); }
  uint32_t LargestCode() const;
  uint32_t NanCode(uint32_t sign) const;
  double DecodeMagnitude(uint32_t code) const;
};

/// The format of a type; null for types that are not such a format (float8e8m0,
/// which has no sign and no mantissa, is not).
const FloatFormat* FindFloatFormat(DType type);

}  // namespace assay::reference
