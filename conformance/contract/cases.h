// SPDX-License-Identifier: Apache-2.0
//
// The cases of the contract suite: X(function, name, duty, operators, promise),
// by name. A promise that may be declined is inside nobody's claims. "Relu*" is
// an operator that any other probe may stand for (probe.h).

#pragma once

#include "conformance/contract/probe.h"
#include "framework/backend/backend.h"
#include "framework/core/status.h"

// clang-format off
#define ASSAY_CONTRACT_CASES(X)                                               \
  X(BindElementType, "bind/element_type", kMust, "Relu*",                     \
    "an input of another element type than declared is an invalid argument")  \
  X(BindKind, "bind/kind", kMust, "Relu*",                                    \
    "a sequence where a tensor is declared is an invalid argument")           \
  X(BindMissing, "bind/missing", kMust, "Add*",                               \
    "an absent value for a declared input is an invalid argument")            \
  X(BindCount, "bind/count", kMust, "Add*",                                   \
    "too few or too many inputs or outputs are an invalid argument")          \
  X(BindOutput, "bind/output", kMust, "Relu*",                                \
    "memory of a wrong type or shape for an output is an invalid argument")   \
  X(BindOverlap, "bind/overlap", kMust, "Relu*",                              \
    "an output's memory that overlaps an input's is an invalid argument")     \
  X(BindShape, "bind/shape", kMust, "Relu*",                                  \
    "an input of another shape than declared is an invalid argument")         \
  X(BindUnknownName, "bind/unknown_name", kMust, "Relu*",                     \
    "feeding a name that the network does not have is an invalid argument")   \
  X(GradientAbsentCotangent, "gradient/absent_cotangent", kMay, "Relu*",      \
    "an absent cotangent counts as zeros")                                    \
  X(GradientBeforeForward, "gradient/before_forward", kMay, "Relu*",          \
    "a backward run before any Forward is refused")                           \
  X(GradientBound, "gradient/bound", kMay, "Relu*",                           \
    "bound gradients are those of each run, over what their memory holds")    \
  X(GradientBoundKept, "gradient/bound_kept", kMay, "Relu*",                  \
    "a copy of a bound gradient keeps its bytes when the next run writes")    \
  X(GradientBoundMemory, "gradient/bound_memory", kMay, "Relu*",              \
    "memory that no gradient fits, or that is bound, is an invalid argument") \
  X(GradientCotangentShape, "gradient/cotangent_shape", kMay, "Relu*",        \
    "a cotangent of a wrong type, shape or count is an invalid argument")     \
  X(GradientFanOut, "gradient/fan_out", kMay, "Relu*",                        \
    "the gradients of a value that is read more than once are summed")        \
  X(GradientFresh, "gradient/fresh", kMay, "Relu*",                           \
    "gradients are freshly owned: a later Backward leaves them as they are")  \
  X(GradientMatMul, "gradient/matmul", kMay, "MatMul",                        \
    "the gradients of a product are products with the transposed factors")    \
  X(GradientParameter, "gradient/parameter", kMay, "Relu*",                   \
    "an initializer can be differentiated, or the model is declined")         \
  X(GradientRefilled, "gradient/refilled", kMay, "Relu*",                     \
    "a refilled input does no harm, and counts from the next Forward on")     \
  X(GradientRelu, "gradient/relu", kMay, "Relu",                              \
    "the cotangent passes where the input is positive and nowhere else")      \
  X(GradientStale, "gradient/stale", kMay, "Relu*",                           \
    "a backward run belongs to the last Forward, and to no one before it")    \
  X(GradientSubset, "gradient/subset", kMay, "Relu*",                         \
    "a call may name a subset of the targets, in any order")                  \
  X(GradientTwoBindings, "gradient/two_bindings", kMay, "Relu*",              \
    "gradients of two bindings that take turns are each those of its own")    \
  X(GradientUnasked, "gradient/unasked", kMay, "Relu*",                       \
    "a value that was no target at Load is not differentiated")               \
  X(GradientUnknown, "gradient/unknown", kMay, "Relu*",                       \
    "a target that the graph does not have is refused at Load")               \
  X(LoadAttributeKind, "load/attribute_kind", kMust, "Softmax Relu*",         \
    "an attribute of a wrong kind is refused")                                \
  X(LoadElementTypes, "load/element_types", kMust, "Add Add*",                \
    "operands of different element types are refused at Load or Bind")        \
  X(LoadExtraOutput, "load/extra_output", kMay, "Relu*",                      \
    "an inner value asked for as extra output is given, or declined")         \
  X(LoadGarbage, "load/garbage", kMust, "Relu*",                              \
    "a model of garbage bytes gives a Status, and the next model runs")       \
  X(LoadMissingAttribute, "load/missing_attribute", kMust, "Cast Relu*",      \
    "a node without an attribute that it must have is refused")               \
  X(LoadTooFewInputs, "load/too_few_inputs", kMust, "Add Add*",               \
    "a node with fewer inputs than its operator has is refused")              \
  X(LoadUnknownExtra, "load/unknown_extra", kMust, "Relu*",                   \
    "an extra output that the graph does not have is refused")                \
  X(LoadUnknownOperator, "load/unknown_operator", kMust, "Relu*",             \
    "an operator that nobody knows is refused, in any domain")                \
  X(LoadUnknownSetting, "load/unknown_setting", kMust, "Relu*",               \
    "a setting of an unknown name is an invalid argument")                    \
  X(RunCallerOutput, "run/caller_output", kMust, "Add*",                      \
    "an output is written into the memory that the caller gave")              \
  X(RunChangedInput, "run/changed_input", kMust, "Add*",                      \
    "Forward reads the inputs as they are when it runs")                      \
  X(RunEmpty, "run/empty", kMay, "Relu*",                                     \
    "a tensor without elements gives one without elements, or is declined")   \
  X(RunFeedThenFetch, "run/feed_then_fetch", kMust, "Relu*",                  \
    "values are fed and fetched by name, in the order of the graph")          \
  X(RunForeignBinding, "run/foreign_binding", kMust, "Relu*",                 \
    "Forward of another network's binding is refused")                        \
  X(RunIndexOutside, "run/index_outside", kMust, "Gather",                    \
    "an index outside the axis is an error, and nothing outside is read")     \
  X(RunInitializer, "run/initializer", kMust, "Add*",                         \
    "a value fixed by the model needs no feeding")                            \
  X(RunInputsKept, "run/inputs_kept", kMust, "Add*",                          \
    "inputs are not written to")                                              \
  X(RunKeptOutput, "run/kept_output", kMust, "Relu*",                         \
    "a copy of an output keeps its bytes when the network runs again")        \
  X(RunManyNetworks, "run/many_networks", kMust, "Relu*",                     \
    "64 networks live at once, and each is what it was loaded as")            \
  X(RunOddSizes, "run/odd_sizes", kMust, "Add*",                              \
    "every extent from 1 to 67, and 1021, is computed to the last element")   \
  X(RunOneElement, "run/one_element", kMust, "Relu*",                         \
    "a scalar and a tensor of one element keep their rank")                   \
  X(RunRepeat, "run/repeat", kMust, "Relu*",                                  \
    "repeated runs of one binding give equal bits")                           \
  X(RunSpecialValues, "run/special_values", kMust, "Add",                     \
    "NaN, infinities and the sign of zero follow IEEE 754")                   \
  X(RunSymbolicExtent, "run/symbolic_extent", kMay, "Relu*",                  \
    "one network takes every extent of a symbolic axis, or is declined")      \
  X(RunThreads, "run/threads", kMust, "Add*",                                 \
    "networks of one backend run in several threads at a time")               \
  X(RunTwoBindings, "run/two_bindings", kMust, "Relu*",                       \
    "two bindings of one network do not touch each other")                    \
  X(RunTwoNetworks, "run/two_networks", kMust, "Relu*",                       \
    "two networks that take turns do not touch each other")                   \
  X(RunUnaligned, "run/unaligned", kMust, "Add*",                             \
    "inputs and outputs may lie at any address that fits an element")         \
  X(TrainingDraws, "training/draws", kMay, "RandomUniformLike",               \
    "one seed and step draw the same again, others something else")           \
  X(TrainingMemory, "training/memory", kMay, "Relu*",                         \
    "what is written into a parameter's memory is what the next run reads")   \
  X(TrainingMode, "training/mode", kMay, "Relu*",                             \
    "mode training computes the same here, or is declined")                   \
  X(TrainingParameters, "training/parameters", kMay, "Relu*",                 \
    "parameters are listed, read and written, or none are offered")           \
  X(TrainingTrainable, "training/trainable", kMay, "Relu*",                   \
    "the parameters are the initializers that were named, and no others")
// clang-format on

namespace assay::contract {

#define ASSAY_DECLARE(function, name, duty, operators, promise) \
  Status function(Backend& backend, const ProbeOperator& probe);
ASSAY_CONTRACT_CASES(ASSAY_DECLARE)
#undef ASSAY_DECLARE

}  // namespace assay::contract
