// SPDX-License-Identifier: Apache-2.0
//
// Mutants of memory, of repetition and of chance: what ran is right, what is
// shown, kept or written elsewhere is not.

#include <algorithm>
#include <atomic>
#include <cstring>

#include "backends/faulty/mutants.h"
#include "backends/faulty/numbers.h"

namespace assay::faulty {
namespace {

bool Fits(const Tensor* from, const Tensor* to) {
  return from != nullptr && to != nullptr && from->dtype() == to->dtype() &&
         from->shape() == to->shape() && from->dtype() != DType::kString &&
         from->byte_size() > 0;
}

/// The bytes of one tensor into the memory of another.
void Overwrite(const Tensor& from, Tensor to) {
  std::memcpy(to.mutable_data(), from.data(), from.bytes().size());
}

/// Numbers that differ from call to call, and between processes not.
uint64_t Chance() {
  static std::atomic<uint64_t> calls = 0;
  uint64_t z = (++calls) * 0x9E3779B97F4A7C15ULL;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31);
}

/// The lowest bit of an element in the middle, of a floating-point type.
Status FlipLastBit(Value& value) {
  return ChangeTensor(value, [](const Tensor& right) -> Result<Tensor> {
    const int bits = BitsOf(right.dtype());
    if (!IsFloatingPoint(right.dtype()) || bits % 8 != 0) return right;
    ASSAY_ASSIGN_OR_RETURN(Tensor copy, right.Clone());
    const int64_t at = copy.num_elements() / 2 * (bits / 8);
    copy.mutable_data()[at] ^= std::byte{1};
    return copy;
  });
}

Status CorruptAll(Values& outputs) {
  for (Value& output : outputs) {
    ASSAY_ASSIGN_OR_RETURN(output, FindMutant("value")->corrupt(output, {}));
  }
  return OkStatus();
}

// Nothing is recomputed: the outputs are those of the network's first run.
Status ShowFirstRun(Ran& ran) {
  if (ran.kept.empty()) {
    ran.kept = ran.outputs;
    return OkStatus();
  }
  for (size_t i = 0; i < ran.outputs.size(); ++i) {
    if (Fits(ran.kept[i].tensor(), ran.outputs[i].tensor())) {
      ran.outputs[i] = ran.kept[i];
    }
  }
  return OkStatus();
}

// A pipeline that is one run late.
Status ShowRunBefore(Ran& ran) {
  Values right = ran.outputs;
  for (size_t i = 0; i < ran.kept.size(); ++i) {
    if (Fits(ran.kept[i].tensor(), right[i].tensor())) {
      ran.outputs[i] = ran.kept[i];
    }
  }
  ran.kept = std::move(right);
  return OkStatus();
}

Status LeaveCallersMemory(Ran& ran) {
  std::ranges::fill(ran.callers, Value());
  return OkStatus();
}

// Sums start from what lies in the caller's memory.
Status AddToCallersMemory(Ran& ran) {
  for (size_t i = 0; i < ran.outputs.size(); ++i) {
    const Tensor* memory = ran.callers[i].tensor();
    if (!Fits(ran.outputs[i].tensor(), memory)) continue;
    const std::vector<double> before = Numbers(*memory);
    ASSAY_RETURN_IF_ERROR(
        ChangeFloats(ran.outputs[i], [&](int64_t k, double right) {
          return right + before[static_cast<size_t>(k)];
        }));
  }
  return OkStatus();
}

/// Inverts the element that lies `offset` bytes from the caller's memory.
void Invert(std::byte* at, int64_t count) {
  for (int64_t i = 0; i < count; ++i) at[i] = ~at[i];
}

int64_t WidthOf(const Tensor& tensor) {
  return std::max(BitsOf(tensor.dtype()) / 8, 1);
}

Status WritePastEnd(Ran& ran) {
  for (Value& value : ran.callers) {
    Tensor* memory = value.mutable_tensor();
    if (memory == nullptr || memory->byte_size() == 0) continue;
    Invert(memory->mutable_data() + memory->byte_size(), WidthOf(*memory));
  }
  return OkStatus();
}

Status WriteBeforeBegin(Ran& ran) {
  for (Value& value : ran.callers) {
    Tensor* memory = value.mutable_tensor();
    if (memory == nullptr || memory->byte_size() == 0) continue;
    Invert(memory->mutable_data() - WidthOf(*memory), WidthOf(*memory));
  }
  return OkStatus();
}

// An input that an output would fit into serves as scratch.
Status OverwriteInputs(Ran& ran) {
  for (const Value& output : ran.outputs) {
    for (const Value& input : ran.inputs) {
      if (!Fits(output.tensor(), input.tensor())) continue;
      Overwrite(*output.tensor(), *input.tensor());
      break;
    }
  }
  return OkStatus();
}

// The last byte of each input is cleared when it has been read.
Status ClearLastInput(Ran& ran) {
  for (const Value& input : ran.inputs) {
    const Tensor* given = input.tensor();
    if (given == nullptr || given->byte_size() == 0) continue;
    Tensor tensor = *given;
    tensor.mutable_data()[tensor.byte_size() - 1] = std::byte{0};
  }
  return OkStatus();
}

// Computed in place: where the caller gave no memory, an input's is taken.
Status ShowInInputs(Ran& ran) {
  for (size_t i = 0; i < ran.outputs.size(); ++i) {
    if (ran.callers[i].present()) continue;
    for (const Value& input : ran.inputs) {
      if (!Fits(ran.outputs[i].tensor(), input.tensor())) continue;
      Overwrite(*ran.outputs[i].tensor(), *input.tensor());
      ran.outputs[i] = input;
      break;
    }
  }
  return OkStatus();
}

// Outputs of one type and shape have one buffer: the last stays.
Status ShareOutputs(Ran& ran) {
  Values& outputs = ran.outputs;
  for (size_t i = 0; i + 1 < outputs.size(); ++i) {
    for (size_t k = outputs.size() - 1; k > i; --k) {
      if (!Fits(outputs[i].tensor(), outputs[k].tensor())) continue;
      outputs[i] = outputs[k];
      break;
    }
  }
  return OkStatus();
}

// The network's own memory is written into again, whoever holds it.
Status ReuseHeldMemory(Ran& ran) {
  ran.kept.resize(ran.outputs.size());
  for (size_t i = 0; i < ran.outputs.size(); ++i) {
    if (ran.callers[i].present()) continue;
    if (Fits(ran.outputs[i].tensor(), ran.kept[i].tensor())) {
      Overwrite(*ran.outputs[i].tensor(), *ran.kept[i].tensor());
      ran.outputs[i] = ran.kept[i];
    } else {
      ran.kept[i] = ran.outputs[i];
    }
  }
  return OkStatus();
}

Status SwapFirstOutputs(Ran& ran) {
  if (ran.outputs.size() > 1) std::swap(ran.outputs[0], ran.outputs[1]);
  return OkStatus();
}

Status SpoilSecondOfBinding(Ran& ran) {
  return ran.run_of_binding == 2 ? CorruptAll(ran.outputs) : OkStatus();
}

Status SpoilSecondOfNetwork(Ran& ran) {
  return ran.run_of_network == 2 ? CorruptAll(ran.outputs) : OkStatus();
}

Status FlipAtChance(Ran& ran) {
  for (Value& output : ran.outputs) {
    if (Chance() % 2 == 0) continue;
    ASSAY_RETURN_IF_ERROR(FlipLastBit(output));
  }
  return OkStatus();
}

// Within every tolerance, and never the same.
Status AddNoise(Ran& ran) {
  for (Value& output : ran.outputs) {
    ASSAY_RETURN_IF_ERROR(ChangeFloats(output, [](int64_t, double x) {
      return x * (1 + 1e-6 * static_cast<double>(Chance() % 3));
    }));
  }
  return OkStatus();
}

// Inputs are read when they are bound, not when the network runs.
Status CopyInputs(std::span<const ValueInfo>, Values& inputs, Values&) {
  for (Value& input : inputs) {
    const Tensor* tensor = input.tensor();
    if (tensor == nullptr || tensor->byte_size() == 0) continue;
    ASSAY_ASSIGN_OR_RETURN(input, tensor->Clone());
  }
  return OkStatus();
}

// Every binding runs on the inputs of the first that fit.
Status KeepFirstInputs(std::span<const ValueInfo>, Values& inputs,
                       Values& kept) {
  Values none;
  if (kept.size() != inputs.size()) {
    ASSAY_RETURN_IF_ERROR(CopyInputs({}, inputs, none));
    kept = inputs;
    return OkStatus();
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (Fits(kept[i].tensor(), inputs[i].tensor())) inputs[i] = kept[i];
  }
  return OkStatus();
}

}  // namespace

std::vector<Mutant> MemoryMutants() {
  return {
      {.name = "first_run_shown_again", .run = ShowFirstRun},
      {.name = "run_before_shown", .run = ShowRunBefore},
      {.name = "callers_memory_unwritten", .run = LeaveCallersMemory},
      {.name = "callers_memory_added_to", .run = AddToCallersMemory},
      {.name = "writes_past_end", .run = WritePastEnd},
      {.name = "writes_before_begin", .run = WriteBeforeBegin},
      {.name = "inputs_overwritten", .run = OverwriteInputs},
      {.name = "last_input_byte_cleared", .run = ClearLastInput},
      {.name = "output_in_input_memory", .run = ShowInInputs},
      {.name = "outputs_share_memory", .run = ShareOutputs},
      {.name = "held_output_overwritten", .run = ReuseHeldMemory},
      {.name = "outputs_swapped", .run = SwapFirstOutputs},
      {.name = "second_run_of_binding", .run = SpoilSecondOfBinding},
      {.name = "second_run_of_network", .run = SpoilSecondOfNetwork},
      {.name = "last_bit_flips", .run = FlipAtChance},
      {.name = "noise_below_tolerance", .run = AddNoise},
      {.name = "inputs_read_at_bind", .bind = CopyInputs},
      {.name = "first_inputs_kept", .bind = KeepFirstInputs},
  };
}

}  // namespace assay::faulty
