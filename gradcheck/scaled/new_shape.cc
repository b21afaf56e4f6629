// SPDX-License-Identifier: Apache-2.0

#include <string>
#include <utility>

#include "framework/kernels/window.h"
#include "gradcheck/scaled/scale.h"

namespace assay::gradcheck {
namespace {

/// Extents of the input and of the output, next to each other, that have the
/// same product.
struct Group {
  int in_begin = 0, in_end = 0, out_begin = 0, out_end = 0;
};

/// The next group behind `last`, as small as can be.
Group NextGroup(const Shape& input, const Shape& output, const Group& last) {
  Group group = {last.in_end, last.in_end, last.out_end, last.out_end};
  int64_t in = 1, out = 1;
  const auto take = [](const Shape& shape, int* end, int64_t* product) {
    *product *= shape[(*end)++];
  };
  if (group.in_end < input.rank()) take(input, &group.in_end, &in);
  if (group.out_end < output.rank()) take(output, &group.out_end, &out);
  while (in != out) {
    if (in < out && group.in_end < input.rank()) {
      take(input, &group.in_end, &in);
    } else if (out < in && group.out_end < output.rank()) {
      take(output, &group.out_end, &out);
    } else {
      break;
    }
  }
  return group;
}

}  // namespace

Result<Shape> Regrouped(const Shape& old_input, const Shape& old_output,
                        const Shape& input) {
  const auto refused = [&] {
    return Unsupported(Reason::kShape, "a Reshape from ", old_input.ToString(),
                       " to ", old_output.ToString(),
                       ", wanted extents that are split or joined");
  };
  Shape output = old_output;
  Group group;
  while (group.in_end < input.rank() || group.out_end < output.rank()) {
    group = NextGroup(old_input, old_output, group);
    int64_t old_product = 1, product = 1, kept = 1;
    for (int i = group.in_begin; i < group.in_end; ++i) {
      old_product *= old_input[i];
      product *= input[i];
    }
    const int last = group.out_end - 1;
    for (int i = group.out_begin; i < last; ++i) kept *= old_output[i];
    if (last < group.out_begin) {
      if (product != 1) return refused();
      continue;
    }
    const bool several = group.in_end - group.in_begin > 1;
    if (old_product != kept * old_output[last] || (several && kept != 1) ||
        product % kept != 0) {
      return refused();
    }
    output[last] = product / kept;
  }
  return output;
}

Result<Shape> Windowed(const Node& node, std::vector<int64_t> kernel,
                       const Shape& input, int64_t channels) {
  kernels::WindowAttributes attributes = {
      .kernel = std::move(kernel),
      .strides = Integers(node, "strides"),
      .dilations = Integers(node, "dilations"),
      .pads = Integers(node, "pads"),
      .ceil_mode = Integer(node, "ceil_mode", 0) != 0};
  if (const Attribute* const mode = node.Find("auto_pad")) {
    attributes.auto_pad = std::get<std::string>(mode->held);
  }
  const std::vector<int64_t> image(input.begin() + 2, input.end());
  ASSAY_ASSIGN_OR_RETURN(const kernels::Window window,
                         kernels::ResolveWindow(attributes, image));
  std::vector<int64_t> output = {input[0], channels};
  output.insert(output.end(), window.output.begin(), window.output.end());
  return Shape(output);
}

std::vector<int64_t> Integers(const Node& node, std::string_view name) {
  const Attribute* const found = node.Find(name);
  const auto* const held =
      found == nullptr ? nullptr
                       : std::get_if<std::vector<int64_t>>(&found->held);
  return held == nullptr ? std::vector<int64_t>() : *held;
}

int64_t Integer(const Node& node, std::string_view name, int64_t by_default) {
  const Attribute* const found = node.Find(name);
  const auto* const held =
      found == nullptr ? nullptr : std::get_if<int64_t>(&found->held);
  return held == nullptr ? by_default : *held;
}

}  // namespace assay::gradcheck
