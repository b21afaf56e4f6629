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

#pragma once

#include <cstddef>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "framework/core/status.h"
#include "framework/core/value.h"
#include "framework/testing/host/wire/wire.h"

namespace assay::host {

class Mirror {
 public:
  Mirror() = default;
  /// What lies in the memory of `others`, which must outlive this, is found
  /// there.
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

}  // namespace assay::host
