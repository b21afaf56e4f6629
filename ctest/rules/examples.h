// SPDX-License-Identifier: Apache-2.0
//
// What the examples in headers take for given (examples.py).

#ifndef ASSAY_CTEST_RULES_EXAMPLES_H_
#define ASSAY_CTEST_RULES_EXAMPLES_H_

#include <filesystem>
#include <iostream>

namespace example {

namespace fs = std::filesystem;

/// Stands for three dots and is what a function returns.
struct Anything {
  Anything() = default;
  template <class T>
  Anything(T&&) {}
  template <class T>
  operator T() const;
};

/// What the reader does with a result.
void Use(auto&&...);
void Show(auto&&...);
void Print(auto&&...);
void Report(auto&&...);
void Write(auto&&...);

}  // namespace example

#endif  // ASSAY_CTEST_RULES_EXAMPLES_H_
