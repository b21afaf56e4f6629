// SPDX-License-Identifier: Apache-2.0
//
// Instance: a backend of a run, with how it was set, as one word.
//
// The setting `ranks` is none of the backend's: it names the library that
// carries messages between ranks, each of which runs networks of the backend.
// onednn+ranks=openmpi.

#pragma once

#include <map>
#include <string>
#include <string_view>

#include "framework/core/status.h"

namespace assay::plan {

struct Instance {
  std::string instance;  // all of it
  std::string name;
  std::string version;  // that the backend must say it is of; empty: any
  std::string stem;     // of the module's file
  std::map<std::string, std::string> settings;
  std::string carrier;  // of messages between ranks; empty: there are none
  std::string settings_text;  // device:precision:optimisation:threads
};

/// "name[@version][+key=value...]" taken apart; invalid argument with what was
/// found. `settings_text` follows from it without probing: cpu:f32:all:1 unless
/// one of the settings device, precision, opt, threads says otherwise.
Result<Instance> ParseInstance(std::string_view text);

/// The instance as part of a file's name: '/' and the like become '_'.
std::string FileNameOf(std::string_view instance);

}  // namespace assay::plan
