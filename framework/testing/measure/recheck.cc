// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/measure/recheck.h"

#include <algorithm>
#include <utility>

#include "framework/file/csv.h"
#include "framework/metric/element.h"
#include "framework/testing/host/wire/arena.h"

namespace assay::measure {
namespace {

constexpr int64_t kGuard = 64;  // bytes; keeps the alignment of Allocate

// As a float huge or a NaN, as an integer neither small nor round.
constexpr auto kGarbage = std::byte{0xFD};

// Different at each place, so that a copy of guards is seen as well, and none
// is 0, 1 or 0xFF, which are written most.
std::byte GuardByte(int64_t index) {
  return static_cast<std::byte>(kGuard + index);
}

int64_t Damaged(std::span<const std::byte> guard) {
  int64_t damaged = 0;
  for (size_t i = 0; i < guard.size(); ++i) {
    damaged += guard[i] == GuardByte(static_cast<int64_t>(i)) ? 0 : 1;
  }
  return damaged;
}

bool SameTensors(const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype() || a.shape() != b.shape()) return false;
  if (a.dtype() == DType::kString) {
    return std::ranges::equal(a.strings(), b.strings());
  }
  if (BitsOf(a.dtype()) >= 8) return std::ranges::equal(a.bytes(), b.bytes());
  // The bits behind the last packed element mean nothing.
  for (int64_t i = 0; i < a.num_elements(); ++i) {
    if (metric::ElementBits(a.dtype(), a.data(), i) !=
        metric::ElementBits(b.dtype(), b.data(), i)) {
      return false;
    }
  }
  return true;
}

bool AllSame(std::span<const Value> a, std::span<const Value> b) {
  return std::ranges::equal(a, b, SameBits);
}

Judgement Fail(std::string message) {
  return {record::Outcome::kFail, Reason::kStateChanged, std::move(message)};
}

/// The bits of one number, or part of a complex one, that Changed flips.
struct Flip {
  int bytes = 0;
  uint64_t mask = 0;
};

Flip FlipOf(DType type) {
  switch (type) {
    // The sign, and the highest bit of the mantissa.
    case DType::kFloat32:
    case DType::kComplex64:
      return {4, 0x8040'0000};
    case DType::kFloat64:
    case DType::kComplex128:
      return {8, 0x8008'0000'0000'0000};
    case DType::kFloat16:
      return {2, 0x8200};
    case DType::kBFloat16:
      return {2, 0x8040};
    case DType::kFloat8E4M3FN:
    case DType::kFloat8E4M3FNUZ:
      return {1, 0x84};
    case DType::kFloat8E5M2:
    case DType::kFloat8E5M2FNUZ:
      return {1, 0x82};
    default:
      break;
  }
  const int bits = BitsOf(type);
  return bits % 8 == 0 ? Flip{bits / 8, 1} : Flip{};
}

class Rechecker {
 public:
  Rechecker(Network& network, const cases::DataSet& set,
            const Observation& first, const cases::Limit& limit,
            const RecheckPlan& plan)
      : network_(network),
        set_(set),
        first_(first),
        limit_(limit),
        plan_(plan) {}

  Rechecked Run() {
    Rechecked result;
    result.verdict = GuardInputs();
    for (const int64_t index : plan_.sensitive) {
      if (result.verdict.outcome != record::Outcome::kPass) return result;
      result.verdict = RunChanged(static_cast<size_t>(index));
    }
    if (result.verdict.outcome == record::Outcome::kPass) {
      result.verdict = RunAgain(&result.distinct_results);
    }
    return result;
  }

 private:
  static constexpr record::Outcome kGood = record::Outcome::kPass;

  Judgement GuardInputs();
  Judgement RunChanged(size_t index);
  Judgement RunAgain(int64_t* distinct_results);
  Observation IntoGuarded();
  Judgement CheckMemory() const;
  std::string NameOfInput(size_t index) const;
  std::string Between() const;

  Network& network_;
  const cases::DataSet& set_;
  const Observation& first_;
  const cases::Limit& limit_;
  const RecheckPlan& plan_;
  std::vector<Value> fed_;                // set_.inputs, guarded
  std::vector<GuardedTensor> guards_;     // of the inputs, then outputs
  std::vector<std::string> guard_names_;  // of each
  std::vector<const Tensor*> unchanged_;  // what each input must be still
  std::vector<Value> held_;               // the changed run's own outputs
  std::vector<Value> copies_;             // and what they were
  std::vector<std::string> changed_;      // names of inputs, in their order
};

std::string Rechecker::NameOfInput(size_t index) const {
  const auto declared = network_.inputs();
  return index < declared.size() ? declared[index].name : StrCat(index);
}

/// The runs between the first and the one again, which may be to blame.
std::string Rechecker::Between() const {
  if (changed_.empty()) return "";
  return StrCat("; before it was run with another ",
                Joined(changed_, ", then with another "));
}

Judgement Rechecker::GuardInputs() {
  fed_ = set_.inputs;
  for (size_t i = 0; i < fed_.size(); ++i) {
    const Tensor* tensor = fed_[i].tensor();
    if (tensor == nullptr || tensor->byte_size() == 0) continue;
    Result<GuardedTensor> guarded = GuardedTensor::CopyOf(*tensor);
    if (!guarded.ok()) {
      return {record::Outcome::kError, Reason::kLimit,
              guarded.status().message()};
    }
    unchanged_.push_back(set_.inputs[i].tensor());
    guard_names_.push_back(StrCat("input ", NameOfInput(i)));
    fed_[i] = guarded->tensor();
    guards_.push_back(*std::move(guarded));
  }
  return {kGood, Reason::kNone, ""};
}

Judgement Rechecker::RunChanged(size_t index) {
  const Tensor* tensor = index < fed_.size() ? fed_[index].tensor() : nullptr;
  if (tensor == nullptr) return {kGood, Reason::kNone, ""};
  const auto setting = plan_.settings.find(static_cast<int64_t>(index));
  const std::optional<Tensor> changed = setting == plan_.settings.end()
                                            ? Changed(*tensor)
                                            : std::optional(setting->second);
  if (!changed.has_value()) return {kGood, Reason::kNone, ""};
  changed_.push_back(NameOfInput(index));
  std::vector<Value> inputs = fed_;
  inputs[index] = *changed;
  held_.clear();
  copies_.clear();
  const Observation seen = RunLoaded(network_, inputs, {}, &held_);
  // A network may be loaded for the values it was first given.
  if (!seen.status.ok()) return {kGood, Reason::kNone, ""};
  copies_ = seen.outputs;
  if (AllSame(seen.outputs, first_.outputs)) {
    return {record::Outcome::kSuspect, Reason::kValue,
            StrCat("the outputs stay the same in every bit when input ",
                   NameOfInput(index), " is changed, and should not")};
  }
  return {kGood, Reason::kNone, ""};
}

/// Runs with the first inputs, into guarded memory where an output is a tensor
/// of bytes. The guarded memory is then measured.
Observation Rechecker::IntoGuarded() {
  std::vector<Value> outputs(set_.expected.size());
  std::vector<std::optional<size_t>> places(outputs.size());  // in guards_
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Tensor* want = set_.expected[i].tensor();
    if (want == nullptr || want->byte_size() == 0) continue;
    auto guarded = GuardedTensor::Filled(want->dtype(), want->shape());
    if (!guarded.ok()) continue;  // no memory for it: as if none was given
    outputs[i] = guarded->tensor();
    guard_names_.push_back(StrCat("output ", first_.output_names[i]));
    places[i] = guards_.size();
    guards_.push_back(*std::move(guarded));
  }
  Observation seen = RunLoaded(network_, fed_, outputs, nullptr);
  if (seen.stage == Stage::kBind &&
      seen.status.code() == StatusCode::kUnsupported) {
    return RunLoaded(network_, fed_, {}, nullptr);
  }
  if (!seen.status.ok()) return seen;
  for (size_t i = 0; i < places.size() && i < seen.outputs.size(); ++i) {
    if (!places[i].has_value()) continue;
    Result<Tensor> copy = guards_[*places[i]].tensor().Clone();
    if (copy.ok()) seen.outputs[i] = *std::move(copy);
  }
  return seen;
}

Judgement Rechecker::CheckMemory() const {
  for (size_t i = 0; i < guards_.size(); ++i) {
    if (const std::string damage = guards_[i].Damage(); !damage.empty()) {
      return Fail(
          StrCat("found ", damage, " of ", guard_names_[i], " written over"));
    }
    if (i < unchanged_.size() &&
        !SameTensors(guards_[i].tensor(), *unchanged_[i])) {
      return Fail(StrCat(guard_names_[i], " was written over"));
    }
  }
  if (!AllSame(held_, copies_)) {
    return Fail(
        "outputs of a run that were still held changed in the next run");
  }
  return {kGood, Reason::kNone, ""};
}

Judgement Rechecker::RunAgain(int64_t* distinct_results) {
  const Observation seen = IntoGuarded();
  const auto metrics =
      Measure(seen.outputs, set_.expected, seen.output_names, limit_);
  Judgement verdict = Judge(seen, metrics);
  if (verdict.outcome == kGood) verdict = CheckMemory();
  if (verdict.outcome != kGood) {
    // A network that took the inputs once may not decline them now.
    if (verdict.outcome == record::Outcome::kUnsupported) {
      verdict.outcome = record::Outcome::kError;
    }
    verdict.message = StrCat("run again: ", verdict.message, Between());
    return verdict;
  }
  if (AllSame(seen.outputs, first_.outputs)) return verdict;
  *distinct_results = 2;
  if (!plan_.deterministic) return verdict;
  return {record::Outcome::kFail, Reason::kValue,
          StrCat("run again: other bits than in the first run, though "
                 "run-to-run determinism is claimed",
                 Between())};
}

}  // namespace

Result<GuardedTensor> GuardedTensor::Filled(DType type, const Shape& shape) {
  if (type == DType::kString || type == DType::kUndefined) {
    return InvalidArgument("found the type ", ToString(type),
                           ", wanted one whose elements are bytes");
  }
  GuardedTensor guarded;
  ASSAY_ASSIGN_OR_RETURN(const int64_t count, shape.NumElements());
  const int64_t size = PackedBytes(type, count);
  guarded.size_ = size;
  guarded.memory_ =
      wire::Arena::Allocate(static_cast<size_t>(size + 2 * kGuard));
  if (guarded.memory_ == nullptr) {
    return ResourceExhausted("no memory for ", size, " bytes between guards");
  }
  std::byte* const start = guarded.memory_.get();
  for (int64_t i = 0; i < kGuard; ++i) {
    start[i] = start[kGuard + size + i] = GuardByte(i);
  }
  std::fill_n(start + kGuard, size, kGarbage);
  ASSAY_ASSIGN_OR_RETURN(guarded.tensor_,
                         Tensor::Borrow(type, shape, start + kGuard));
  return guarded;
}

Result<GuardedTensor> GuardedTensor::CopyOf(const Tensor& right) {
  ASSAY_ASSIGN_OR_RETURN(GuardedTensor guarded,
                         Filled(right.dtype(), right.shape()));
  std::ranges::copy(right.bytes(), guarded.tensor_.mutable_data());
  return guarded;
}

std::string GuardedTensor::Damage() const {
  const std::span<const std::byte> all(memory_.get(),
                                       static_cast<size_t>(size_ + 2 * kGuard));
  const int64_t before = Damaged(all.first(kGuard));
  const int64_t behind = Damaged(all.last(kGuard));
  std::string text;
  if (before > 0) text = StrCat(before, " bytes before its start");
  if (behind > 0) {
    text +=
        StrCat(text.empty() ? "" : " and ", behind, " bytes behind its end");
  }
  return text;
}

Rechecked Recheck(Network& network, const cases::DataSet& set,
                  const Observation& first, const cases::Limit& limit,
                  const RecheckPlan& plan) {
  return Rechecker(network, set, first, limit, plan).Run();
}

std::optional<Tensor> Changed(const Tensor& tensor) {
  const Flip flip = FlipOf(tensor.dtype());
  if (flip.bytes == 0 || tensor.byte_size() == 0) return std::nullopt;
  Result<Tensor> copy = tensor.Clone();
  if (!copy.ok()) return std::nullopt;
  std::byte* const end = copy->mutable_data() + copy->byte_size();
  for (std::byte* at = copy->mutable_data(); at != end; at += flip.bytes) {
    for (int i = 0; i < flip.bytes; ++i) {
      at[i] ^= static_cast<std::byte>(flip.mask >> (8 * i));
    }
  }
  return *std::move(copy);
}

bool SameBits(const Value& a, const Value& b) {
  if (a.kind() != b.kind()) return false;
  switch (a.kind()) {
    case ValueKind::kNone:
      return true;
    case ValueKind::kTensor:
      return SameTensors(*a.tensor(), *b.tensor());
    case ValueKind::kSparseTensor:
      return a.sparse()->shape == b.sparse()->shape &&
             SameTensors(a.sparse()->values, b.sparse()->values) &&
             SameTensors(a.sparse()->indices, b.sparse()->indices);
    case ValueKind::kSequence:
      return AllSame(a.sequence()->items, b.sequence()->items);
    case ValueKind::kOptional:
      return a.optional()->has_value() == b.optional()->has_value() &&
             (!a.optional()->has_value() ||
              SameBits(*a.optional()->value, *b.optional()->value));
    case ValueKind::kMap:
      break;
  }
  return SameTensors(a.map()->keys, b.map()->keys) &&
         AllSame(a.map()->values, b.map()->values);
}

}  // namespace assay::measure
