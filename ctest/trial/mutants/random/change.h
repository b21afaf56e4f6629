// SPDX-License-Identifier: Apache-2.0
//
// The changes of one token, or of one statement, that a C++ source admits and
// that a test should see:
//
//     operator   < <=   > >=   == !=   && ||   + -   * /   & |   ++ --   += -=
//     constant   0 1   n n + 1   true false
//     statement  f();             ->  ;
//     condition  if (a < b)       ->  if (!(a < b))
//     return     int F() { G();   ->  int F() { return {}; G();
//     value      return x;        ->  return {};
//
//   for (const Change& change : ChangesOf(source)) {
//     Compile(Changed(source, change));
//   }
//
// The source is read as tokens and not parsed, so that some of the changes do
// not compile.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace assay::random_mutants {

struct Change {
  std::string kind;
  size_t at;    // the first character of the text that goes
  size_t size;  // of that text; 0 where something is only added
  std::string replacement;
  int line;  // from 1
};

/// In the order of the source, at most one of each kind for a place.
std::vector<Change> ChangesOf(std::string_view source);

/// The source with the change in it. It has as many lines as before.
std::string Changed(std::string_view source, const Change& change);

}  // namespace assay::random_mutants
