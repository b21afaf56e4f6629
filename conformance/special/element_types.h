// SPDX-License-Identifier: Apache-2.0
//
// Element types by the words that a case has for them.
//
//   TypesOf("floats int8");  // bfloat16 float16 float32 float64 int8
//   TypesOf("tensors -bfloat16");

#pragma once

#include <string_view>
#include <vector>

#include "framework/core/dtype.h"

namespace assay::special {

/// The type of that name, ours ("float32") or that of ONNX's text form
/// ("float"). This and TypesOf throw std::invalid_argument for any other.
DType TypeOfText(std::string_view name);

/// Its name in ONNX's text form.
std::string_view TextName(DType type);

/// Types and classes of them, apart by blanks, each once; "-" before a word
/// leaves out what it names. Classes are floats, ints, uints, numbers (these
/// three), tensors (and bool, string, complex64 and 128), floats8, and all
/// (these, the types of 2 and 4 bits, and float8e8m0).
std::vector<DType> TypesOf(std::string_view words);

/// The unsigned integer of the same width, which is at most 64.
DType UnsignedOf(DType type);

}  // namespace assay::special
