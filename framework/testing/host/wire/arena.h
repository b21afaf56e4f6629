// SPDX-License-Identifier: Apache-2.0
//
// Memory that the process of a suite shares with that of a backend. The suite's
// side makes the memory and says where each block lies; the backend's side maps
// it.
//
//   const std::shared_ptr<std::byte> memory = Arena::Allocate(size);
//   const std::optional<Place> place = Arena::Find(memory.get(), size);
//
//   SharedSegments segments;                        // the other side
//   ASSAY_RETURN_IF_ERROR(segments.Add(number, descriptor));
//   std::byte* same = segments.At(*place, size);
//
// Each segment is a memory file that is sealed against another size, so that
// nobody can take pages away from a reader. Only the suite's side knows where
// each block lies.

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "framework/core/status.h"
#include "framework/testing/host/wire/wire.h"

namespace assay::wire {

/// The one of this process. All functions may be called from any thread.
class Arena {
 public:
  /// From now on memory is shared; before, Allocate takes it from the heap.
  static void Open();

  /// Aligned to 64 bytes, of whatever content; free again with the last copy of
  /// the pointer. Null where there is no memory.
  static std::shared_ptr<std::byte> Allocate(size_t size);

  /// Where shared memory that holds these bytes is. Nothing for other memory.
  static std::optional<Place> Find(const std::byte* data, size_t size);

  struct Described {
    uint32_t segment = 0;
    int descriptor = -1;
  };
  /// The segments there are, by ascending number: one may be gone, and its
  /// number is not used again.
  static std::vector<Described> Segments();
  /// Another number when Segments gives others.
  static uint64_t Generation();
};

/// The other side's view.
class SharedSegments {
 public:
  SharedSegments() = default;
  SharedSegments(const SharedSegments&) = delete;
  SharedSegments& operator=(const SharedSegments&) = delete;
  ~SharedSegments();

  /// Maps a segment, once.
  Status Add(uint32_t segment, int descriptor);
  /// Unmaps all that are not in the list, which is in ascending order.
  void KeepOnly(const std::vector<uint32_t>& segments);
  std::byte* At(Place place, uint64_t size) const;
  bool Holds(const std::byte* data) const;

 private:
  struct Mapped {
    std::byte* memory = nullptr;
    uint64_t size = 0;
  };
  std::map<uint32_t, Mapped> mapped_;
};

}  // namespace assay::wire
