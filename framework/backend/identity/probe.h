// SPDX-License-Identifier: Apache-2.0
//
// Probe and Settings: what backends and communicators alike say of themselves,
// and how they are set.
//
//   const Probe probe = {.version = "2.1", .device = "cpu"};

#pragma once

#include <map>
#include <string>

namespace assay::inline v1 {

/// The library and the device with which a module can be used here.
struct Probe {
  std::string version;  // of the library underneath
  std::string device;   // "cpu", "cuda:0", ...
};

/// A module's own settings by name, for example {"threads", "1"}. An unknown
/// name is an invalid argument.
using Settings = std::map<std::string, std::string>;

}  // namespace assay::inline v1
