// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/host/wire/arena.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iterator>
#include <mutex>
#include <utility>

#include "framework/file/file.h"

namespace assay::wire {
namespace {

constexpr size_t kAlignment = 64;
// Pages of a segment cost nothing until they are written.
constexpr size_t kSegment = size_t{8} << 20;

/// One that is made for a great tensor is written whole: its pages come at
/// once.
int FlagsFor(size_t size) {
  return size > kSegment ? MAP_SHARED | MAP_POPULATE : MAP_SHARED;
}

/// A sealed memory file and the free parts of it.
class Segment {
 public:
  static std::unique_ptr<Segment> Make(size_t size) {
    file::Descriptor file(
        memfd_create("assay", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    const int fd = file.get();
    void* memory = MAP_FAILED;
    if (ftruncate(fd, static_cast<off_t>(size)) == 0 &&
        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) ==
            0) {
      memory =
          mmap(nullptr, size, PROT_READ | PROT_WRITE, FlagsFor(size), fd, 0);
    }
    if (memory == MAP_FAILED) return nullptr;
    return std::unique_ptr<Segment>(
        new Segment(std::move(file), static_cast<std::byte*>(memory), size));
  }
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;
  ~Segment() { munmap(memory_, size_); }

  int fd() const { return file_.get(); }
  std::byte* memory() const { return memory_; }
  size_t size() const { return size_; }

  /// The first free part that is large enough.
  std::byte* Take(size_t size) {
    const auto found = std::ranges::find_if(
        free_, [size](const auto& part) { return part.second >= size; });
    if (found == free_.end()) return nullptr;
    const auto [offset, part] = *found;
    free_.erase(found);
    if (part > size) free_.emplace(offset + size, part - size);
    return memory_ + offset;
  }

  /// True where all of it is free again.
  bool Give(const std::byte* data, size_t size) {
    auto part = free_.emplace(static_cast<size_t>(data - memory_), size).first;
    const auto next = std::next(part);
    if (next != free_.end() && part->first + part->second == next->first) {
      part->second += next->second;
      free_.erase(next);
    }
    if (part != free_.begin()) {
      const auto before = std::prev(part);
      if (before->first + before->second == part->first) {
        before->second += part->second;
        free_.erase(part);
      }
    }
    return free_.begin()->second == size_;
  }

 private:
  Segment(file::Descriptor file, std::byte* memory, size_t size)
      : file_(std::move(file)), memory_(memory), size_(size) {
    free_.emplace(0, size);
  }

  file::Descriptor file_;
  std::byte* memory_;
  size_t size_;
  std::map<size_t, size_t> free_;  // offset to size, none beside another
};

/// Never destroyed: memory may be given back at exit.
struct State {
  std::mutex mutex;
  bool open = false;
  uint32_t next = 0;
  uint64_t generation = 0;
  std::map<uint32_t, std::unique_ptr<Segment>> segments;

  static State& Get() {
    static State& state = *new State;
    return state;
  }

  std::byte* Take(size_t size) {
    for (const auto& [number, segment] : segments) {
      if (std::byte* const memory = segment->Take(size)) return memory;
    }
    auto made = Segment::Make(std::max(kSegment, size));
    if (made == nullptr) return nullptr;
    ++generation;
    return segments.emplace(next++, std::move(made)).first->second->Take(size);
  }

  auto Holding(const std::byte* data) {
    return std::ranges::find_if(segments, [data](const auto& item) {
      const Segment& segment = *item.second;
      return std::less_equal<>()(segment.memory(), data) &&
             std::less<>()(data, segment.memory() + segment.size());
    });
  }

  void Give(const std::byte* data, size_t size) {
    const std::lock_guard lock(mutex);
    const auto found = Holding(data);
    const bool is_free = found->second->Give(data, size);
    // One that was made for a great tensor is not kept.
    if (!is_free || found->second->size() == kSegment) return;
    ++generation;
    segments.erase(found);
  }
};

size_t RoundedUp(size_t size, size_t to) { return (size + to - 1) / to * to; }

}  // namespace

void Arena::Open() {
  const std::lock_guard lock(State::Get().mutex);
  State::Get().open = true;
}

std::shared_ptr<std::byte> Arena::Allocate(size_t size) {
  State& state = State::Get();
  const size_t whole = RoundedUp(std::max<size_t>(size, 1), kAlignment);
  const std::lock_guard lock(state.mutex);
  if (!state.open) {
    auto* const memory =
        static_cast<std::byte*>(std::aligned_alloc(kAlignment, whole));
    return {memory, &std::free};
  }
  std::byte* const memory = state.Take(whole);
  if (memory == nullptr) return nullptr;
  return {memory, [whole](std::byte* data) { State::Get().Give(data, whole); }};
}

std::optional<Place> Arena::Find(const std::byte* data, size_t size) {
  State& state = State::Get();
  const std::lock_guard lock(state.mutex);
  const auto found = state.Holding(data);
  if (found == state.segments.end()) return std::nullopt;
  const auto offset = static_cast<size_t>(data - found->second->memory());
  if (size > found->second->size() - offset) return std::nullopt;
  return Place{found->first, offset};
}

std::vector<Arena::Described> Arena::Segments() {
  State& state = State::Get();
  const std::lock_guard lock(state.mutex);
  std::vector<Described> all;
  for (const auto& [number, segment] : state.segments) {
    all.push_back({number, segment->fd()});
  }
  return all;
}

uint64_t Arena::Generation() {
  State& state = State::Get();
  const std::lock_guard lock(state.mutex);
  return state.generation;
}

SharedSegments::~SharedSegments() { KeepOnly({}); }

Status SharedSegments::Add(uint32_t segment, int descriptor) {
  struct stat info = {};
  if (mapped_.contains(segment) || fstat(descriptor, &info) != 0) {
    return OkStatus();
  }
  const auto size = static_cast<size_t>(info.st_size);
  void* const memory = mmap(nullptr, size, PROT_READ | PROT_WRITE,
                            FlagsFor(size), descriptor, 0);
  if (memory == MAP_FAILED) {
    return ResourceExhausted("cannot map ", size,
                             " shared bytes: ", std::strerror(errno));
  }
  mapped_[segment] = {static_cast<std::byte*>(memory), size};
  return OkStatus();
}

void SharedSegments::KeepOnly(const std::vector<uint32_t>& segments) {
  std::erase_if(mapped_, [&](const auto& item) {
    if (std::ranges::binary_search(segments, item.first)) return false;
    munmap(item.second.memory, item.second.size);
    return true;
  });
}

std::byte* SharedSegments::At(Place place, uint64_t size) const {
  const auto found = mapped_.find(place.segment);
  if (found == mapped_.end() || place.offset > found->second.size ||
      size > found->second.size - place.offset) {
    return nullptr;
  }
  return found->second.memory + place.offset;
}

bool SharedSegments::Holds(const std::byte* data) const {
  return std::ranges::any_of(mapped_, [data](const auto& item) {
    const Mapped& mapped = item.second;
    return std::less_equal<>()(mapped.memory, data) &&
           std::less<>()(data, mapped.memory + mapped.size);
  });
}

}  // namespace assay::wire
