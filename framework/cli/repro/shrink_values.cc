// SPDX-License-Identifier: Apache-2.0

#include "framework/cli/repro/shrink_values.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

namespace assay::repro {
namespace {

/// An axis of a source, or an element of a short list of integers, that may
/// have to change with others: shapes are data as well.
struct Place {
  size_t source = 0;
  int axis = 0;
  bool is_element = false;  // then `axis` is its index
};
using Places = std::vector<Place>;

std::string Text(const Places& places, const std::vector<Source>& sources) {
  return Joined(places, ", ", [&](const Place& place) {
    return StrCat(sources[place.source].name, place.is_element ? "[" : " axis ",
                  place.axis, place.is_element ? "]" : "");
  });
}

/// Places by extent, the extent being 2 or more.
std::map<int64_t, Places> PlacesOf(const std::vector<Source>& sources) {
  constexpr int64_t kShortList = 8;
  std::map<int64_t, Places> by_extent;
  for (size_t s = 0; s < sources.size(); ++s) {
    const Tensor* tensor = sources[s].value.tensor();
    if (tensor == nullptr || tensor->num_elements() == 0) continue;
    for (int axis = 0; axis < tensor->shape().rank(); ++axis) {
      by_extent[tensor->shape()[axis]].push_back({s, axis, false});
    }
    if (tensor->dtype() != DType::kInt64 ||
        tensor->num_elements() > kShortList) {
      continue;
    }
    const auto elements = tensor->elements<int64_t>();
    for (size_t i = 0; i < elements.size(); ++i) {
      by_extent[elements[i]].push_back({s, static_cast<int>(i), true});
    }
  }
  std::erase_if(by_extent, [](const auto& entry) { return entry.first < 2; });
  // Numbers that no axis has are none of shapes.
  std::erase_if(by_extent, [](const auto& entry) {
    return std::ranges::all_of(entry.second, &Place::is_element);
  });
  return by_extent;
}

/// All combinations of a few places; of many, all of them, those that are axes,
/// and each alone.
std::vector<Places> Combinations(const Places& places) {
  constexpr size_t kFew = 5;
  std::vector<Places> combinations;
  if (places.size() <= kFew) {
    for (size_t bits = (size_t{1} << places.size()) - 1; bits > 0; --bits) {
      Places chosen;
      for (size_t i = 0; i < places.size(); ++i) {
        if ((bits >> i & 1) != 0) chosen.push_back(places[i]);
      }
      combinations.push_back(std::move(chosen));
    }
    return combinations;
  }
  combinations.push_back(places);
  Places axes = places;
  std::erase_if(axes, [](const Place& place) { return place.is_element; });
  if (axes.size() < places.size()) combinations.push_back(axes);
  for (const Place& place : places) combinations.push_back({place});
  return combinations;
}

/// The sources with every place cut to that part of its extent.
Result<std::vector<Source>> Cut(std::vector<Source> sources,
                                const Places& places, const Span& span) {
  for (const Place& place : places) {
    Value& value = sources[place.source].value;
    if (!place.is_element) {
      ASSAY_ASSIGN_OR_RETURN(Tensor cut,
                             Slice(*value.tensor(), place.axis, span));
      value = std::move(cut);
    }
  }
  for (const Place& place : places) {
    if (!place.is_element) continue;
    Value& value = sources[place.source].value;
    if (place.axis >= value.tensor()->num_elements()) {
      return InvalidArgument("the element is gone");
    }
    ASSAY_ASSIGN_OR_RETURN(Tensor copy, value.tensor()->Clone());
    copy.mutable_elements<int64_t>()[static_cast<size_t>(place.axis)] =
        span.count;
    value = std::move(copy);
  }
  return sources;
}

/// Elements of the sources after that cut, without making it.
int64_t CountAfter(const std::vector<Source>& sources, const Places& places,
                   int64_t extent, int64_t count) {
  int64_t total = 0;
  for (size_t s = 0; s < sources.size(); ++s) {
    const Tensor* tensor = sources[s].value.tensor();
    int64_t elements = tensor == nullptr ? 1 : tensor->num_elements();
    for (const Place& place : places) {
      if (place.source == s && !place.is_element) {
        elements = elements / extent * count;
      }
    }
    total += elements;
  }
  return total;
}

enum class Plain : uint8_t { kZeros, kOnes, kSmall, kAny };
constexpr std::array<std::string_view, 3> kPlainNames = {"zeros", "ones",
                                                         "small integers"};

/// A number in -5..5, or 0..10 where there is no sign, from its index.
template <class T>
T SmallAt(size_t i) {
  const auto step = static_cast<int>((i * 7 + 3) % 11);
  return static_cast<T>(std::is_signed_v<T> ? step - 5 : step);
}

template <class T>
bool IsSmall(T x) {
  const auto value = static_cast<double>(x);
  return value == std::trunc(value) && std::abs(value) <= 10;
}

/// The types that numbers can be written in.
template <class Visit>
bool VisitNumber(DType type, const Visit& visit) {
  return VisitType<float, double>(type, visit) || VisitInteger(type, visit);
}

/// The bits of 1 in types that C++ has no name for; 0 when there are none here.
uint16_t OneBits(DType type) {
  if (type == DType::kFloat16) return 0x3C00;
  return type == DType::kBFloat16 ? 0x3F80 : 0;
}

/// How plain the elements are already.
Plain PlainnessOf(const Tensor& tensor) {
  const auto zero = [](std::byte b) { return b == std::byte{0}; };
  if (std::ranges::all_of(tensor.bytes(), zero)) return Plain::kZeros;
  if (const uint16_t one = OneBits(tensor.dtype()); one != 0) {
    return std::ranges::all_of(tensor.elements<uint16_t>(),
                               [&](uint16_t bits) { return bits == one; })
               ? Plain::kOnes
               : Plain::kAny;
  }
  Plain plain = Plain::kAny;
  VisitNumber(tensor.dtype(), [&]<class T>(T) {
    const auto elements = tensor.elements<T>();
    if (std::ranges::all_of(elements, [](T x) { return x == T{1}; })) {
      plain = Plain::kOnes;
    } else if (std::ranges::all_of(elements, IsSmall<T>)) {
      plain = Plain::kSmall;
    }
  });
  return plain;
}

/// A tensor of that type and shape with plain elements; an error where its type
/// has no such.
Result<Tensor> PlainLike(const Tensor& tensor, Plain plain) {
  ASSAY_ASSIGN_OR_RETURN(Tensor made,
                         Tensor::Allocate(tensor.dtype(), tensor.shape()));
  if (plain == Plain::kZeros) return made;
  if (const uint16_t one = OneBits(tensor.dtype());
      one != 0 && plain == Plain::kOnes) {
    std::ranges::fill(made.mutable_elements<uint16_t>(), one);
    return made;
  }
  const bool written = VisitNumber(tensor.dtype(), [&]<class T>(T) {
    const auto elements = made.mutable_elements<T>();
    for (size_t i = 0; i < elements.size(); ++i) {
      elements[i] = plain == Plain::kOnes ? T{1} : SmallAt<T>(i);
    }
  });
  if (written) return made;
  return InvalidArgument(tensor.dtype(), " has no ",
                         kPlainNames.at(static_cast<size_t>(plain)), " here");
}

/// The sources that could be made plainer than they are.
std::vector<size_t> Plainable(const std::vector<Source>& sources, Plain plain,
                              bool floats_only) {
  std::vector<size_t> chosen;
  for (size_t s = 0; s < sources.size(); ++s) {
    const Tensor* tensor = sources[s].value.tensor();
    if (tensor == nullptr || tensor->dtype() == DType::kString ||
        tensor->num_elements() == 0 || PlainnessOf(*tensor) <= plain ||
        (floats_only && !IsFloatingPoint(tensor->dtype())) ||
        !PlainLike(*tensor, plain).ok()) {
      continue;
    }
    chosen.push_back(s);
  }
  return chosen;
}

Candidate PlainCandidate(const Draft& draft, const std::vector<Source>& sources,
                         std::vector<size_t> chosen, Plain plain) {
  const std::string names =
      Joined(chosen, ", ", [&](size_t s) { return sources[s].name; });
  const auto make = [&draft, &sources, chosen = std::move(chosen),
                     plain]() -> Result<Draft> {
    std::vector<Source> changed = sources;
    for (const size_t s : chosen) {
      ASSAY_ASSIGN_OR_RETURN(Tensor made,
                             PlainLike(*sources[s].value.tensor(), plain));
      changed[s].value = std::move(made);
    }
    return WithSources(draft, changed);
  };
  return {StrCat(names, ": ", kPlainNames.at(static_cast<size_t>(plain))),
          ElementCount(sources), make};
}

/// Axes that are multiples of each other, as the gates of a recurrent layer are
/// of its state, cut together: those of `extent` to one entry.
void AddMultiples(const Draft& draft, const std::vector<Source>& sources,
                  const std::map<int64_t, Places>& by_extent, int64_t extent,
                  std::vector<Candidate>* candidates) {
  std::map<int64_t, Places> multiples;
  int64_t elements = ElementCount(sources);
  for (const auto& [other, places] : by_extent) {
    if (other % extent != 0) continue;
    multiples[other] = places;
    elements = std::min(elements, CountAfter(sources, places, extent, 1));
  }
  if (multiples.size() < 2) return;
  const std::string extents =
      Joined(multiples, ", ", [](const auto& entry) { return entry.first; });
  candidates->push_back(
      {StrCat("axes of ", extents, ": divided by ", extent), elements,
       [&draft, &sources, multiples, extent]() -> Result<Draft> {
         std::vector<Source> cut = sources;
         for (const auto& [other, places] : multiples) {
           ASSAY_ASSIGN_OR_RETURN(
               cut, Cut(std::move(cut), places, {0, other / extent}));
         }
         return WithSources(draft, cut);
       }});
}

}  // namespace

Result<std::optional<Draft>> ShrinkShapes(const Draft& draft,
                                          ShrinkJudge& judge) {
  const std::vector<Source> sources = SourcesOf(draft);
  std::vector<Candidate> candidates;
  const auto add = [&](const Places& places, int64_t extent, const Span& span,
                       const char* where) {
    candidates.push_back(
        {StrCat(Text(places, sources), ": ", extent, " to ", span.count, where),
         CountAfter(sources, places, extent, span.count),
         [&draft, &sources, places, span]() -> Result<Draft> {
           ASSAY_ASSIGN_OR_RETURN(const auto cut, Cut(sources, places, span));
           return WithSources(draft, cut);
         }});
  };
  const std::map<int64_t, Places> by_extent = PlacesOf(sources);
  for (const auto& [extent, places] : by_extent) {
    for (const Places& chosen : Combinations(places)) {
      if (std::ranges::all_of(chosen, &Place::is_element)) continue;
      add(chosen, extent, {0, 1}, ", the first");
      add(chosen, extent, {extent - 1, 1}, ", the last");
      if (extent < 4) continue;
      add(chosen, extent, {0, extent / 2}, ", the front");
      add(chosen, extent, {extent - extent / 2, extent / 2}, ", the back");
    }
  }
  for (const auto& [extent, places] : by_extent) {
    AddMultiples(draft, sources, by_extent, extent, &candidates);
  }
  std::ranges::stable_sort(candidates, {}, &Candidate::elements);
  return judge.FirstDraft(candidates);
}

Result<std::optional<Draft>> ShrinkValues(const Draft& draft,
                                          ShrinkJudge& judge) {
  const std::vector<Source> sources = SourcesOf(draft);
  std::vector<Candidate> candidates;
  for (const Plain plain : {Plain::kZeros, Plain::kOnes, Plain::kSmall}) {
    auto floats = Plainable(sources, plain, /*floats_only=*/true);
    if (floats.size() < 2) continue;
    candidates.push_back(
        PlainCandidate(draft, sources, std::move(floats), plain));
  }
  for (const Plain plain : {Plain::kZeros, Plain::kOnes, Plain::kSmall}) {
    for (const size_t s : Plainable(sources, plain, /*floats_only=*/false)) {
      candidates.push_back(PlainCandidate(draft, sources, {s}, plain));
    }
  }
  return judge.FirstDraft(candidates);
}

}  // namespace assay::repro
