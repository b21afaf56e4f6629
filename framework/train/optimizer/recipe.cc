// SPDX-License-Identifier: Apache-2.0

#include "framework/train/optimizer/recipe.h"

#include <algorithm>
#include <cmath>

#include "framework/train/optimizer/in_place.h"

namespace assay::train {
Result<double> SquaredNorm(std::span<const Tensor> gradients) {
  double sum = 0;
  for (Tensor gradient : gradients) {
    ASSAY_RETURN_IF_ERROR(
        InPlace(&gradient, gradient, {}, [&](const auto& each) {
          for (const double g : each.g) sum += g * g;
        }));
  }
  return sum;
}

Status ClipGradients(const Clip& clip, std::span<Tensor> gradients) {
  for (Tensor& gradient : gradients) {
    ASSAY_RETURN_IF_ERROR(
        InPlace(&gradient, gradient, {}, [&]<class T>(const Elements<T>& each) {
          const auto most = static_cast<T>(clip.value);
          for (T& g : each.x) g = std::clamp(g, -most, most);
        }));
  }
  if (std::isinf(clip.norm)) return OkStatus();
  ASSAY_ASSIGN_OR_RETURN(const double squares, SquaredNorm(gradients));
  const double norm = std::sqrt(squares);
  if (!(norm > clip.norm)) return OkStatus();
  for (Tensor& gradient : gradients) {
    ASSAY_RETURN_IF_ERROR(
        InPlace(&gradient, gradient, {}, [&]<class T>(const Elements<T>& each) {
          const auto scale = static_cast<T>(clip.norm / norm);
          for (T& g : each.x) g *= scale;
        }));
  }
  return OkStatus();
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
