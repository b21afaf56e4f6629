// SPDX-License-Identifier: Apache-2.0
//
// Root: what a step is divided by, a root that epsilon keeps from zero.
//
//   const T root = root_of(v);   // with Root<T> root_of(settings.epsilon, at)

#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <string_view>

namespace assay::train {

enum class EpsilonAt : uint8_t {
  kAfterRoot,  // sqrt(v) + epsilon
  kInRoot,     // sqrt(v + epsilon)
};
inline constexpr std::array<std::string_view, 2> kEpsilonWords = {"after_root",
                                                                  "in_root"};

template <class T>
class Root {
 public:
  Root(double epsilon, EpsilonAt at)
      : epsilon_(static_cast<T>(epsilon)),
        is_in_root_(at == EpsilonAt::kInRoot) {}

  T operator()(T square) const {
    return is_in_root_ ? std::sqrt(square + epsilon_)
                       : std::sqrt(square) + epsilon_;
  }

 private:
  T epsilon_;
  bool is_in_root_;
};

}  // namespace assay::train
