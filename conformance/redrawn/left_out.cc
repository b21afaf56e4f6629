// SPDX-License-Identifier: Apache-2.0

#include "conformance/redrawn/left_out.h"

#include <array>
#include <string_view>

#include "framework/testing/case/test_id.h"

namespace assay::redrawn {
namespace {

/// Of a case, with its function body.
struct Line {
  std::string_view test_id;
  std::string_view because;
};

constexpr std::string_view kAlike = "its elements are all alike";
constexpr std::string_view kBits = "the bits of an exact number are no value";
constexpr std::string_view kDoubt = "the greatest sample is in doubt";
constexpr std::string_view kEmpty = "its sequence is empty";
constexpr std::string_view kLength = "its length alone is read";
constexpr std::string_view kNoNan = "its type has no NaN to cast one to";

constexpr auto kLines = std::to_array<Line>({
    {"node/BitCast/test_bitcast_2d_float32_to_int32", kBits},
    {"node/BitCast/test_bitcast_float32_to_int32", kBits},
    {"node/BitCast/test_bitcast_float64_to_int64", kBits},
    {"node/BitCast/test_bitcast_int32_to_float32", kBits},
    {"node/BitCast/test_bitcast_int64_to_float64", kBits},
    {"node/BitCast/test_bitcast_scalar_float32_to_int32", kBits},
    {"node/Cast/test_cast_FLOAT16_to_FLOAT4E2M1", kNoNan},
    {"node/Cast/test_cast_FLOAT_to_FLOAT4E2M1", kNoNan},
    {"node/CastLike/test_castlike_FLOAT16_to_FLOAT4E2M1", kNoNan},
    {"node/CastLike/test_castlike_FLOAT_to_FLOAT4E2M1", kNoNan},
    {"model/simple/test_sequence_model8", kLength},
    {"node/Clip/test_clip_default_int8_inbounds", kAlike},
    {"node/Loop/test_loop13_seq", kEmpty},
    {"node/RoiAlign/test_roialign_mode_max", kDoubt},
    {"node/StringConcat/test_string_concat_zero_dimensional", kAlike},
    {"node/StringNormalizer/test_strnormalizer_export_monday_empty_output",
     kAlike},
    {"node/TopK/test_top_k_same_values", kAlike},
    {"node/TopK/test_top_k_same_values_largest", kAlike},
    {"node/Unique/test_unique_length_1", kAlike},
});

}  // namespace

std::string LeftOut(const cases::TestCase& test_case) {
  if (test_case.op == "light") return "its model is too great for an oracle";
  const std::string_view own = cases::CaseOfTwin(test_case.test_id);
  for (const Line& line : kLines) {
    if (line.test_id == own) return std::string(line.because);
  }
  return "";
}

}  // namespace assay::redrawn
