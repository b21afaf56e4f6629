// SPDX-License-Identifier: Apache-2.0
//
// Mirror: shared memory behind values that a caller gave, so that the other
// process can read them and write into them. Tensors that lie in shared memory
// already stay where they are; others have a copy there, as far from a multiple
// of 64 as they are, and overlapping where they overlap.
//
//   Mirror mirror;
//   const std::span<const Value> values = network_values;
//   ASSAY_RETURN_IF_ERROR(mirror.Add({values}));
//   wire::Writer call = mirror.Call();   // puts tensors as places
//   mirror.Push();                       // before each call
//   mirror.Pull();                       // after it: what the other side wrote
//
// A model crosses so, too: its bytes and, where great values are fixed in it
// (Model::fixed), the bytes of its base with those values beside.

#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "framework/core/status.h"
#include "framework/core/tensor.h"
#include "framework/core/value.h"
#include "framework/graph/model.h"
#include "framework/testing/host/link.h"
#include "framework/testing/host/wire/arena.h"
#include "framework/testing/host/wire/wire.h"

namespace assay::host {

/// True for a tensor with memory of this process.
bool HasMemory(const Tensor& tensor);

class Mirror {
 public:
  Mirror() = default;
  /// Values in the memory of `others`, which must outlive this mirror, are
  /// found there.
  explicit Mirror(const Mirror* others) : others_(others) {}

  /// Once. Resource exhausted where there is no memory for a copy. Only values
  /// that are tensors are shared: what lies in sequences, optionals and maps is
  /// written when it is put.
  Status Add(std::initializer_list<std::span<const Value>> values);

  /// A writer that knows the places. The mirror must outlive it.
  wire::Writer Call() const;

  /// Copies the caller's memory to the shared copies.
  void Push() const;
  /// Copies back what differs, so that the caller sees what was written into
  /// its memory, wanted or not.
  void Pull() const;

 private:
  /// Memory of the caller's, of one tensor or of several that overlap.
  struct Region {
    size_t size = 0;
    std::shared_ptr<std::byte> block;
    std::byte* copy = nullptr;  // in the block
    wire::Place place;
  };
  std::optional<wire::Place> Find(const std::byte* data, size_t size) const;

  const Mirror* others_ = nullptr;
  std::vector<Tensor> kept_;  // the caller's
  std::map<const std::byte*, Region> regions_;
};

/// Values that a host wrote, or wrote into memory that was given for them.
class Results {
 public:
  Results(std::span<const Value> given, size_t count)
      : given_(given.begin(), given.end()), values_(count) {
    given_.resize(count);
    values_ = given_;
  }

  std::span<const Value> values() const { return values_; }
  /// The host may use their memory again, unless somebody else holds it.
  void Drop() { values_.assign(values_.size(), Value()); }
  /// Reads what Server wrote: one entry a value. Those that are memory of the
  /// host's are issued.
  void Read(Link& link, wire::Reader* in);
  std::vector<Value> Take() { return std::move(values_); }

 private:
  std::vector<Value> given_;
  std::vector<Value> values_;
};

/// Tensors in memory of the backend's that the other side may still hold, and
/// what they were when they were last told.
class HeldTensors {
 public:
  /// Writes what changed since.
  void PutChanged(wire::Writer* out);
  /// Writes one value that came of a run, and holds it unless it lies in memory
  /// of the caller's.
  void PutResult(const Value& value, const wire::SharedSegments& segments,
                 wire::Writer* out);
  void Release(const std::vector<uint64_t>& numbers);
  /// Those in memory that may go without notice.
  void DropBorrowed();

 private:
  struct Held {
    Tensor tensor;
    size_t hash = 0;
  };
  std::map<uint64_t, Held> held_;
  uint64_t next_ = 0;
};

/// A model at the suite's side. The model must outlive it.
class ModelCrossing {
 public:
  static Result<ModelCrossing> Of(const Model& model);

  /// A writer that knows where the bytes are. This must outlive it.
  wire::Writer Call() const { return mirror_->Call(); }
  void Put(wire::Writer* call) const;

 private:
  ModelCrossing() = default;

  bool checked_ = false;
  std::unique_ptr<std::string> whole_;  // where external data is put in
  Tensor file_;
  std::map<std::string, Tensor> fixed_;
  std::unique_ptr<Mirror> mirror_;
};

/// Models at the host's side.
class ModelReader {
 public:
  /// The model that ModelCrossing::Put wrote, in memory of this process; the
  /// last model where the bytes are the same, since a case loads its model
  /// several times. Bytes that are no model make one that holds them, for a
  /// backend that takes whole models to look at.
  Result<std::shared_ptr<const Model>> Read(wire::Reader* in);

 private:
  std::shared_ptr<const Model> Of(std::span<const std::byte> bytes,
                                  bool checked);

  std::mutex mutex_;
  std::shared_ptr<const Model> last_;
};

}  // namespace assay::host
