// SPDX-License-Identifier: Apache-2.0
//
// Probe and Settings: what backends and communicators alike say of themselves,
// and how they are set.
//
//   const Probe probe = {.version = "2.1", .device = "cpu"};

#pragma once

#include <map>
#include <string>
#include <vector>

namespace assay::inline v1 {

/// The library and the device with which a module can be used here.
struct Probe {
  std::string version;  // of the library underneath
  std::string device;   // "cpu", "cuda:0", ...
  /// The instruction sets that the library may take code of, by its own names,
  /// each beside those that it includes: {"sse41", "avx", "avx2"}. Lines of a
  /// policy may hang on them. Empty: the library does not tell.
  std::vector<std::string> isa = {};
};

/// A module's own settings by name, for example {"threads", "1"}. An unknown
/// name is an invalid argument.
using Settings = std::map<std::string, std::string>;

}  // namespace assay::inline v1
