// SPDX-License-Identifier: Apache-2.0
//
// Operators that move elements, make them, or look at types and sequences.

#include <algorithm>
#include <string_view>

#include "perf/work/rules.h"

namespace assay::work {
namespace {

constexpr std::string_view kTexts = "how long a text is is in the data";
constexpr std::string_view kSequence =
    "the type of a sequence does not say how many tensors it has";

/// The data is copied whole, then updated: a reduction is one operation an
/// update.
void CountScatter(const NodeFacts& facts, Work* work) {
  if (facts.Text("reduction", "none") != "none") {
    work->flops += facts.CountIn(2);
  }
}

/// NonZero-13: a comparison each.
void CountNonZero(const NodeFacts& facts, Work* work) {
  work->flops += facts.CountIn(0);
}

/// Pad-25 reads no more than it has.
void CountPad(const NodeFacts& facts, Work* work) {
  work->bytes_read = std::min(facts.BytesIn(0), facts.BytesOut(0)) +
                     facts.BytesIn(1) + facts.BytesIn(2) + facts.BytesIn(3);
  work->bytes_written = facts.BytesOut(0);
}

constexpr Rule kMovements[] = {
    {"Bernoulli", {.flops = 1}},
    {"BitCast", {}},
    // 0.42 - 0.5 cos(a n) + 0.08 cos(2 a n)
    {"BlackmanWindow", {.flops = 6, .transcendentals = 2}},
    {"Cast", {}},
    {"CastLike", {.moves = Moves::kLikeMade}},
    {"CenterCropPad", {.count = CountPad, .moves = Moves::kCounted}},
    {"Compress", {.moves = Moves::kGathered}},
    {"Concat", {}},
    {"ConcatFromSequence", {.moves = Moves::kLikeMade}},
    {"Constant", {.moves = Moves::kCounted}},
    {"ConstantOfShape", {.moves = Moves::kMade}},
    {"DepthToSpace", {}},
    {"Expand", {}},
    {"EyeLike", {.moves = Moves::kMade}},
    {"Flatten", {}},
    {"Gather", {.moves = Moves::kGathered}},
    {"GatherElements", {.moves = Moves::kGathered}},
    {"GatherND", {.moves = Moves::kGathered}},
    {"HammingWindow", {.flops = 3, .transcendentals = 1}},
    {"HannWindow", {.flops = 3, .transcendentals = 1}},
    {"Identity", {}},
    {"ImageDecoder", {.unknown = "what an image takes is in its coding"}},
    {"MelWeightMatrix", {.unknown = "how wide its bands are is in the data"}},
    {"Multinomial",
     {.unknown = "how a class is found for a draw is the implementation's"}},
    {"NonMaxSuppression",
     {.unknown = "how many boxes are compared is in the data"}},
    {"NonZero", {.count = CountNonZero}},
    {"OneHot", {}},
    {"Optional", {}},
    {"OptionalGetElement", {.moves = Moves::kLikeMade}},
    {"OptionalHasElement", {.moves = Moves::kMade}},
    {"Pad", {.count = CountPad, .moves = Moves::kCounted}},
    {"RandomNormal", {.flops = 2, .moves = Moves::kMade}},
    {"RandomNormalLike", {.flops = 2, .moves = Moves::kMade}},
    {"RandomUniform", {.flops = 2, .moves = Moves::kMade}},
    {"RandomUniformLike", {.flops = 2, .moves = Moves::kMade}},
    // start + i * delta
    {"Range", {.flops = 2}},
    {"RegexFullMatch", {.unknown = kTexts}},
    {"Reshape", {}},
    {"ReverseSequence", {}},
    {"Scatter", {.unknown = "its current form is ScatterElements"}},
    {"ScatterElements", {.count = CountScatter}},
    {"ScatterND", {.count = CountScatter}},
    {"SequenceAt", {.moves = Moves::kLikeMade}},
    {"SequenceConstruct", {.moves = Moves::kLikeRead}},
    {"SequenceEmpty", {.moves = Moves::kCounted}},
    {"SequenceErase", {.unknown = kSequence}},
    {"SequenceInsert", {.unknown = kSequence}},
    {"SequenceLength", {.moves = Moves::kMade}},
    {"SequenceMap", {.unknown = kSequence}},
    {"Shape", {.moves = Moves::kMade}},
    {"Size", {.moves = Moves::kMade}},
    {"Slice", {.moves = Moves::kGathered}},
    {"SpaceToDepth", {}},
    {"Split", {}},
    {"SplitToSequence", {.moves = Moves::kLikeRead}},
    {"Squeeze", {}},
    {"StringConcat", {.unknown = kTexts}},
    {"StringNormalizer", {.unknown = kTexts}},
    {"StringSplit", {.unknown = kTexts}},
    {"TensorScatter", {}},
    {"TfIdfVectorizer", {.unknown = "how many n-grams match is in the data"}},
    {"Tile", {}},
    {"Transpose", {}},
    {"Trilu", {}},
    {"Unique", {.unknown = "how many elements differ is in the data"}},
    {"Unsqueeze", {}},
};

}  // namespace

std::span<const Rule> MovementRules() { return kMovements; }

}  // namespace assay::work
