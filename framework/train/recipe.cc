// SPDX-License-Identifier: Apache-2.0

#include "framework/train/recipe.h"

#include <algorithm>
#include <cmath>

namespace assay::train {
namespace {

/// Calls with the elements of a tensor that is float32 or float64.
template <class Visit>
void ForElements(Tensor& tensor, const Visit& visit) {
  if (tensor.dtype() == DType::kFloat32)
    visit(tensor.mutable_elements<float>());
  if (tensor.dtype() == DType::kFloat64) {
    visit(tensor.mutable_elements<double>());
  }
}

}  // namespace

double SquaredNorm(std::span<const Tensor> gradients) {
  double sum = 0;
  for (Tensor gradient : gradients) {
    ForElements(gradient, [&](auto elements) {
      for (const auto element : elements) {
        const double g = element;
        sum += g * g;
      }
    });
  }
  return sum;
}

void ClipGradients(const Clip& clip, std::span<Tensor> gradients) {
  for (Tensor& gradient : gradients) {
    ForElements(gradient, [&]<class T>(std::span<T> elements) {
      const auto most = static_cast<T>(clip.value);
      for (T& element : elements) element = std::clamp(element, -most, most);
    });
  }
  if (std::isinf(clip.norm)) return;
  const double norm = std::sqrt(SquaredNorm(gradients));
  if (!(norm > clip.norm)) return;
  for (Tensor& gradient : gradients) {
    ForElements(gradient, [&]<class T>(std::span<T> elements) {
      const auto scale = static_cast<T>(clip.norm / norm);
      for (T& element : elements) element *= scale;
    });
  }
}

Result<std::vector<Group>> GroupsOf(const Recipe& recipe,
                                    std::span<const std::string> parameters) {
  std::vector<Group> groups(parameters.size(),
                            Group{{}, 1, recipe.weight_decay});
  std::vector<bool> is_said(parameters.size(), false);
  for (const Group& group : recipe.groups) {
    for (const std::string& name : group.names) {
      const auto found = std::ranges::find(parameters, name);
      if (found == parameters.end()) {
        return InvalidArgument("a group names the parameter '", name,
                               "', wanted one of ", Joined(parameters));
      }
      const auto place = static_cast<size_t>(found - parameters.begin());
      if (is_said[place]) {
        return InvalidArgument("two groups name the parameter '", name, "'");
      }
      is_said[place] = true;
      groups[place] = {{name},
                       group.rate_scale,
                       group.weight_decay.value_or(recipe.weight_decay)};
    }
  }
  return groups;
}

}  // namespace assay::train
