// SPDX-License-Identifier: Apache-2.0
//
// Names that the examples in headers take for given (examples.py).

#pragma once

#include <fcntl.h>

#include <concepts>
#include <filesystem>
#include <iostream>
#include <type_traits>

#include "framework/file/file.h"
#include "framework/file/scratch_folder.h"
#include "framework/graph/edit/model_edit.h"

namespace example {

namespace fs = std::filesystem;

// The names of all members that the examples ask for: examples.py defines it.
#ifndef ASSAY_EXAMPLE_MEMBERS
#define ASSAY_EXAMPLE_MEMBERS
#endif

/// Stands for three dots, for a name that an example takes for given, and for
/// what a function returns. It becomes any type that a call wants, so that the
/// compiler checks how many arguments the call has and the types of the others.
struct Anything {
  Anything() = default;
  Anything(const Anything&) = default;
  Anything& operator=(const Anything&) = default;
  template <class T>
  Anything(T&&) {}
  // These have bodies since a type may be local to an example.
  template <class T>
  operator T&() const& {
    __builtin_unreachable();
  }
  template <class T>
  operator T&&() const&& {
    __builtin_unreachable();
  }

  Anything operator()(auto&&...) const { return {}; }
  Anything operator[](auto&&) const { return {}; }
  Anything operator*() const;
  Anything operator&() const;
  Anything operator-() const;
  Anything& operator++() const;
  Anything* operator->() const;
  Anything* begin() const;
  Anything* end() const;
  static Anything ASSAY_EXAMPLE_MEMBERS None;
};

template <class L, class R>
concept OneIsAnything = std::same_as<std::remove_cvref_t<L>, Anything> ||
    std::same_as<std::remove_cvref_t<R>, Anything>;

#define ASSAY_OF_ANYTHING(type, op)                         \
  template <class L, class R>                               \
  requires OneIsAnything<L, R> type operator op(L&&, R&&) { \
    __builtin_unreachable();                                \
  }
ASSAY_OF_ANYTHING(Anything, +)
ASSAY_OF_ANYTHING(Anything, -)
ASSAY_OF_ANYTHING(Anything, *)
ASSAY_OF_ANYTHING(Anything, /)
ASSAY_OF_ANYTHING(Anything, %)
ASSAY_OF_ANYTHING(Anything, <<)
ASSAY_OF_ANYTHING(Anything, +=)
ASSAY_OF_ANYTHING(Anything, -=)
ASSAY_OF_ANYTHING(Anything, *=)
ASSAY_OF_ANYTHING(Anything, /=)
ASSAY_OF_ANYTHING(bool, ==)
ASSAY_OF_ANYTHING(bool, !=)
ASSAY_OF_ANYTHING(bool, <)
ASSAY_OF_ANYTHING(bool, <=)
ASSAY_OF_ANYTHING(bool, >)
ASSAY_OF_ANYTHING(bool, >=)
#undef ASSAY_OF_ANYTHING

/// The scalar of a template.
using T = float;
using S = float;

/// Stand for the reader's own use of a result.
Anything Use(auto&&...);
Anything Show(auto&&...);
Anything Print(auto&&...);
Anything Report(auto&&...);
Anything Write(auto&&...);
Anything Compile(auto&&...);

}  // namespace example
