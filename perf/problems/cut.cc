// SPDX-License-Identifier: Apache-2.0

#include "perf/problems/cut.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <numeric>
#include <set>
#include <utility>

#include "framework/core/numbers.h"
#include "perf/problems/make_problem.h"

namespace assay::problems {
namespace {

using List = std::vector<int64_t>;

List All(int64_t extent, int64_t first = 0) {
  List all(static_cast<size_t>(extent));
  std::iota(all.begin(), all.end(), first);
  return all;
}

/// Draws places of one cut.
class Drawing {
 public:
  Drawing(int set, uint64_t key) : set_(set), numbers_(core::KeyOf(key, set)) {}

  /// So many of an axis: the first, the last, and others between them.
  List Some(int64_t extent, int64_t count) {
    if (extent <= count) return All(extent);
    std::set<int64_t> some = {count > 1 || set_ != 1 ? 0 : extent - 1};
    if (count > 1) some.insert(extent - 1);
    while (std::ssize(some) < count) some.insert(Below(extent));
    return {some.begin(), some.end()};
  }

  /// So many neighbours.
  List Window(int64_t extent, int64_t count) {
    const int64_t last = extent - count;
    return All(count, set_ == 0 ? 0 : set_ == 1 ? last : Below(last + 1));
  }

  int64_t Below(int64_t bound) {
    return static_cast<int64_t>(numbers_.Below(static_cast<uint64_t>(bound)));
  }

 private:
  int set_;
  core::Numbers numbers_;
};

std::optional<Cut> PartOf(const Gemm& p, Drawing& draw) {
  constexpr int64_t kMostSide = 8;
  const auto most =
      static_cast<int64_t>(std::sqrt(kMostProducts / static_cast<double>(p.k)));
  const int64_t side = std::clamp<int64_t>(most, 1, kMostSide);
  const List rows = draw.Some(p.m, side);
  const List columns = draw.Some(p.n, side);
  const List all = All(p.k);
  Gemm part = p;
  part.m = std::ssize(rows);
  part.n = std::ssize(columns);
  return Cut{{.of = part},
             {p.a_transposed ? Places{all, rows} : Places{rows, all},
              p.b_transposed ? Places{columns, all} : Places{all, columns}},
             {{rows, columns}}};
}

/// The places of an image along one axis that outputs are computed of.
List Seen(const List& outputs, int64_t stride, int64_t pad, int64_t filter,
          int64_t extent) {
  List seen;
  const int64_t first = outputs.front() * stride - pad;
  const int64_t count = (std::ssize(outputs) - 1) * stride + filter;
  for (int64_t at = first; at < first + count; ++at) {
    seen.push_back(at >= 0 && at < extent ? at : kZero);
  }
  return seen;
}

std::optional<Cut> PartOf(const Convolution& p, Drawing& draw) {
  constexpr int64_t kImages = 2;
  constexpr int64_t kFilters = 4;
  constexpr int64_t kWindow = 2;
  const int64_t out_h = (p.h + 2 * p.pad_h - p.r) / p.stride_h + 1;
  const int64_t out_w = (p.w + 2 * p.pad_w - p.s) / p.stride_w + 1;
  const int64_t channels = p.c / p.group;
  const int64_t filters = p.k / p.group;
  const int64_t group = draw.Below(p.group);
  const List images = draw.Some(p.n, kImages);
  List taken = draw.Some(filters, kFilters);
  for (int64_t& filter : taken) filter += group * filters;
  const List rows = draw.Window(out_h, std::min(out_h, kWindow));
  const List columns = draw.Window(out_w, std::min(out_w, kWindow));
  const List seen_h = Seen(rows, p.stride_h, p.pad_h, p.r, p.h);
  const List seen_w = Seen(columns, p.stride_w, p.pad_w, p.s, p.w);
  Convolution part = p;
  part.w = std::ssize(seen_w);
  part.h = std::ssize(seen_h);
  part.c = channels;
  part.n = std::ssize(images);
  part.k = std::ssize(taken);
  part.pad_w = part.pad_h = 0;
  part.group = 1;
  return Cut{{.of = part},
             {{images, All(channels, group * channels), seen_h, seen_w},
              {taken, All(channels), All(p.r), All(p.s)}},
             {{images, taken, rows, columns}}};
}

std::optional<Cut> PartOf(const Recurrent& p, Drawing& draw) {
  constexpr int64_t kSteps = 2;
  // Products of matrices, which an oracle takes by the block.
  constexpr double kMost = 16 * kMostProducts;
  const int64_t gates = p.cell == "lstm" ? 4 : p.cell == "gru" ? 3 : 1;
  Recurrent part = p;
  part.steps = std::min(p.steps, kSteps);
  part.batch = 1;
  const auto hidden = static_cast<double>(p.hidden);
  if (static_cast<double>(2 * gates * part.steps) * hidden * hidden > kMost) {
    return std::nullopt;
  }
  const List text = draw.Window(p.batch, 1);
  const List steps = All(part.steps);
  return Cut{{.of = part},
             {{steps, text, All(p.hidden)}, {}, {}, {}},
             {{steps, {0}, text, All(p.hidden)}}};
}

/// No part of a graph is known: a small one is its own.
std::optional<Cut> WholeOf(const Problem& problem) {
  const auto needs = NeedsOf(problem);
  const auto made = MakeProblem(problem);
  if (!needs.ok() || !made.ok() ||
      needs->work.flops + needs->bytes > kMostProducts) {
    return std::nullopt;
  }
  return Cut{problem, std::vector<Places>(made->inputs.size()),
             std::vector<Places>(made->model->graph().outputs.size())};
}

/// The bytes of elements at places, axis by axis.
class Copying {
 public:
  Copying(const Tensor& from, const Places& places, std::byte* to)
      : places_(places), to_(to) {
    const auto count = static_cast<size_t>(from.num_elements());
    const size_t size =
        count == 0 ? 0 : static_cast<size_t>(from.byte_size()) / count;
    steps_.assign(places.size() + 1, size);
    blocks_.assign(places.size() + 1, size);
    for (size_t axis = places.size(); axis-- > 0;) {
      steps_[axis] = steps_[axis + 1] *
                     static_cast<size_t>(from.shape()[static_cast<int>(axis)]);
      blocks_[axis] = blocks_[axis + 1] * places[axis].size();
    }
  }

  void Copy(const std::byte* from, size_t axis = 0) {
    if (axis == places_.size()) {
      std::memcpy(to_, from, steps_[axis]);
      to_ += steps_[axis];
      return;
    }
    for (const int64_t place : places_[axis]) {
      if (place == kZero) {
        to_ += blocks_[axis + 1];  // where zeros are
      } else {
        Copy(from + static_cast<size_t>(place) * steps_[axis + 1], axis + 1);
      }
    }
  }

 private:
  const Places& places_;
  std::byte* to_;
  std::vector<size_t> steps_, blocks_;  // bytes, of the whole and of the part
};

}  // namespace

std::optional<Cut> CutOf(const Problem& problem, int set, uint64_t key) {
  Drawing draw(set, key);
  std::optional<Cut> cut;
  if (const auto* gemm = std::get_if<Gemm>(&problem.of)) {
    cut = PartOf(*gemm, draw);
  } else if (const auto* conv = std::get_if<Convolution>(&problem.of)) {
    cut = PartOf(*conv, draw);
  } else if (const auto* layer = std::get_if<Recurrent>(&problem.of)) {
    cut = PartOf(*layer, draw);
  } else {
    return WholeOf(problem);
  }
  if (cut.has_value()) cut->problem.name = problem.name + ".cut";
  return cut;
}

Result<Tensor> Taken(const Tensor& from, const Places& places) {
  if (places.empty()) return from;
  if (from.shape().rank() != static_cast<int>(places.size())) {
    return InvalidArgument("found ", from.Signature(), ", wanted ",
                           places.size(), " axes");
  }
  std::vector<int64_t> extents;
  for (const List& axis : places) {
    const int64_t extent = from.shape()[static_cast<int>(extents.size())];
    const int64_t last = axis.empty() ? kZero : std::ranges::max(axis);
    if (last >= extent) {
      return InvalidArgument("found ", from.Signature(), ", wanted its place ",
                             last, " on axis ", extents.size());
    }
    extents.push_back(std::ssize(axis));
  }
  ASSAY_ASSIGN_OR_RETURN(Tensor to,
                         Tensor::Allocate(from.dtype(), Shape(extents)));
  Copying(from, places, to.mutable_data()).Copy(from.data());
  return to;
}

Result<std::vector<Value>> TakenOf(std::span<const Value> from,
                                   std::span<const Places> places) {
  if (from.size() != places.size()) {
    return InvalidArgument("found ", from.size(), " values, wanted ",
                           places.size());
  }
  std::vector<Value> taken;
  for (size_t i = 0; i < from.size(); ++i) {
    const Tensor* const tensor = from[i].tensor();
    if (tensor == nullptr) {
      return InvalidArgument("found ", from[i].Type().ToString(), " as value ",
                             i, ", wanted a tensor");
    }
    ASSAY_ASSIGN_OR_RETURN(taken.emplace_back(), Taken(*tensor, places[i]));
  }
  return taken;
}

}  // namespace assay::problems
