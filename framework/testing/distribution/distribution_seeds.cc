// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/distribution/distribution_seeds.h"

#include <cstring>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <unordered_set>

namespace assay::inline v1 {
namespace {

// Protobuf's wire types.
enum Wire : uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

// Field numbers of onnx.proto.
constexpr uint64_t kModelGraph = 7;
constexpr uint64_t kGraphNode = 1, kGraphOutput = 12, kGraphValueInfo = 13;
constexpr uint64_t kNodeInput = 1, kNodeOutput = 2, kNodeName = 3,
                   kNodeAttribute = 5;
constexpr uint64_t kAttributeName = 1, kAttributeFloat = 2, kAttributeInt = 3,
                   kAttributeType = 20;
constexpr uint64_t kValueInfoName = 1;
constexpr uint64_t kTypeFloat = 1;

struct Field {
  uint64_t number = 0;
  Wire wire = kVarint;
  uint64_t value = 0;      // of a varint
  std::string_view bytes;  // of a field of bytes
  std::string_view raw;    // all of it
};

/// The fields of a message in order. What the reader of models has accepted
/// is well formed; anything else ends the list.
class Fields {
 public:
  explicit Fields(std::string_view message) : rest_(message) {}

  std::optional<Field> Next() {
    if (rest_.empty()) return std::nullopt;
    const std::string_view start = rest_;
    Field field;
    const uint64_t key = Varint();
    field.number = key >> 3U;
    field.wire = static_cast<Wire>(key & 7U);
    if (field.wire == kVarint) {
      field.value = Varint();
    } else {
      const uint64_t size = field.wire == kFixed64   ? 8
                            : field.wire == kFixed32 ? 4
                            : field.wire == kBytes   ? Varint()
                                                     : rest_.size();
      field.bytes = rest_.substr(0, size);
      rest_.remove_prefix(field.bytes.size());
    }
    field.raw = start.substr(0, start.size() - rest_.size());
    return field;
  }

 private:
  uint64_t Varint() {
    uint64_t value = 0;
    for (unsigned shift = 0; !rest_.empty() && shift < 64; shift += 7) {
      const auto byte = static_cast<uint8_t>(rest_.front());
      rest_.remove_prefix(1);
      value |= static_cast<uint64_t>(byte & 127U) << shift;
      if (byte < 128) break;
    }
    return value;
  }

  std::string_view rest_;
};

void AppendVarint(uint64_t value, std::string& to) {
  for (; value >= 128; value >>= 7U) {
    to += static_cast<char>((value & 127U) | 128U);
  }
  to += static_cast<char>(value);
}

void AppendBytes(uint64_t number, std::string_view bytes, std::string& to) {
  AppendVarint(number << 3U | kBytes, to);
  AppendVarint(bytes.size(), to);
  to += bytes;
}

/// The first field of that number; a field of nothing where there is none.
Field Find(std::string_view message, uint64_t number) {
  Fields fields(message);
  while (const auto field = fields.Next()) {
    if (field->number == number) return *field;
  }
  return {};
}

/// An attribute named seed with another value.
std::string WithSeed(std::string_view attribute, int64_t seed) {
  std::string to;
  Fields fields(attribute);
  while (const auto field = fields.Next()) {
    if (field->number != kAttributeFloat && field->number != kAttributeInt) {
      to += field->raw;
    }
  }
  if (Find(attribute, kAttributeType).value == kTypeFloat) {
    const auto value = static_cast<float>(seed);
    std::string bits(sizeof(value), '\0');
    std::memcpy(bits.data(), &value, sizeof(value));
    AppendVarint(kAttributeFloat << 3U | kFixed32, to);
    to += bits;
  } else {
    AppendVarint(kAttributeInt << 3U | kVarint, to);
    AppendVarint(static_cast<uint64_t>(seed), to);
  }
  return to;
}

/// One copy of the nodes of a graph.
class Copy {
 public:
  Copy(const std::set<std::string_view>& computed, size_t index, int64_t seed)
      : computed_(computed),
        suffix_(".draw" + std::to_string(index)),
        seed_(seed) {}

  std::string Node(std::string_view node) const {
    std::string to;
    Fields fields(node);
    while (const auto field = fields.Next()) {
      switch (field->number) {
        case kNodeInput:
        case kNodeOutput:
          AppendBytes(field->number, Name(field->bytes), to);
          break;
        case kNodeName:
          AppendBytes(kNodeName, std::string(field->bytes) + suffix_, to);
          break;
        case kNodeAttribute:
          if (Find(field->bytes, kAttributeName).bytes == "seed") {
            AppendBytes(kNodeAttribute, WithSeed(field->bytes, seed_), to);
            break;
          }
          [[fallthrough]];
        default:
          to += field->raw;
      }
    }
    return to;
  }

  std::string ValueInfo(std::string_view info) const {
    std::string to;
    Fields fields(info);
    while (const auto field = fields.Next()) {
      if (field->number == kValueInfoName) {
        AppendBytes(kValueInfoName, Name(field->bytes), to);
      } else {
        to += field->raw;
      }
    }
    return to;
  }

 private:
  std::string Name(std::string_view name) const {
    return computed_.contains(name) ? std::string(name) + suffix_
                                    : std::string(name);
  }

  const std::set<std::string_view>& computed_;
  std::string suffix_;
  int64_t seed_;
};

std::set<std::string_view> ComputedNames(std::string_view graph) {
  std::set<std::string_view> names;
  Fields fields(graph);
  while (const auto field = fields.Next()) {
    if (field->number != kGraphNode) continue;
    Fields node(field->bytes);
    while (const auto part = node.Next()) {
      if (part->number == kNodeOutput && !part->bytes.empty()) {
        names.insert(part->bytes);
      }
    }
  }
  return names;
}

std::string CopiedGraph(std::string_view graph,
                        std::span<const int64_t> seeds) {
  const std::set<std::string_view> computed = ComputedNames(graph);
  std::string to;
  Fields shared(graph);
  while (const auto field = shared.Next()) {
    if (field->number != kGraphNode && field->number != kGraphOutput &&
        field->number != kGraphValueInfo) {
      to += field->raw;
    }
  }
  for (size_t i = 0; i < seeds.size(); ++i) {
    const Copy copy(computed, i, seeds[i]);
    Fields fields(graph);
    while (const auto field = fields.Next()) {
      if (field->number == kGraphNode) {
        AppendBytes(kGraphNode, copy.Node(field->bytes), to);
      } else if (field->number == kGraphOutput ||
                 field->number == kGraphValueInfo) {
        AppendBytes(field->number, copy.ValueInfo(field->bytes), to);
      }
    }
  }
  return to;
}

}  // namespace

std::vector<int64_t> DrawnSeeds(int64_t count, int64_t seed) {
  std::mt19937_64 engine(static_cast<uint64_t>(seed));
  std::vector<int64_t> seeds;
  std::unordered_set<int64_t> seen;
  while (static_cast<int64_t>(seeds.size()) < count) {
    const auto next = static_cast<int64_t>(engine() >> 40U);
    if (seen.insert(next).second) seeds.push_back(next);
  }
  return seeds;
}

Result<std::shared_ptr<const Model>> WithSeeds(const Model& model,
                                               std::span<const int64_t> seeds) {
  const std::string_view bytes(
      reinterpret_cast<const char*>(model.bytes().data()),
      model.bytes().size());
  std::string to;
  Fields fields(bytes);
  while (const auto field = fields.Next()) {
    if (field->number == kModelGraph) {
      AppendBytes(kModelGraph, CopiedGraph(field->bytes, seeds), to);
    } else {
      to += field->raw;
    }
  }
  return Model::Parse(std::as_bytes(std::span(to)));
}

}  // namespace assay::inline v1
