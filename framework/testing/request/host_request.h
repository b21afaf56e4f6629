// SPDX-License-Identifier: Apache-2.0
//
// HostRequest: the module whose backend assay-host serves. A worker sends it as
// the first message through the host's door, so that no argument and no file
// has it, which a backend could read.
//
//   HostRequest request;
//   request.module = "lib/assay/acme.so";
//   request.name = "acme";
//   ASSAY_RETURN_IF_ERROR(door.Send(TextOf(request)));

#pragma once

#include <cstdint>
#include <string>

#include "framework/testing/request/request.h"
#include "framework/testing/walls/walls.h"

namespace assay::request {

struct HostRequest {
  static const Form& form();

  std::string module;   // its file
  std::string name;     // of the backend
  std::string version;  // that it must be of; empty: any
  int64_t parent = 0;   // process to die with; 0: none
  bool forks = true;    // may it fork to serve
  walls::Walls walls;
};

}  // namespace assay::request
