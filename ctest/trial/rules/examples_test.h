// SPDX-License-Identifier: Apache-2.0
//
// Names that the examples in headers take for given (examples.py).

#pragma once

#include <fcntl.h>

#include <filesystem>
#include <iostream>

#include "framework/file/file.h"
#include "framework/file/scratch_folder.h"
#include "framework/graph/edit/model_edit.h"

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

/// The scalar of a template.
using T = float;
using S = float;

/// Stand for the reader's own use of a result.
void Use(auto&&...);
void Show(auto&&...);
void Print(auto&&...);
void Report(auto&&...);
void Write(auto&&...);
void Compile(auto&&...);

}  // namespace example
