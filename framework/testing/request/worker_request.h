// SPDX-License-Identifier: Apache-2.0
//
// WorkerRequest: a batch of cases on one backend, for assay-worker.
//
//   WorkerRequest request;
//   request.backend = "onednn";
//   request.batch = "records/onednn.1.batch";
//   const std::string text = TextOf(request);  // request,worker ...

#pragma once

#include <cstdint>
#include <string>

#include "framework/testing/record/run_facts.h"
#include "framework/testing/request/request.h"
#include "framework/testing/walls/walls.h"

namespace assay::request {

struct WorkerRequest {
  static const Form& form();

  std::string backend;  // an instance
  std::string module;   // its file; empty: the one of its name
  std::string carrier;  // of messages between ranks: its file
  std::string batch;    // file of plan rows
  std::string journal;  // file; empty: none, and GoogleTest tells the outcomes
  record::RunFacts facts;
  int64_t parent = 0;  // process to die with; 0: none
  /// The variable that a launcher sets to the rank; empty: nothing launched it.
  std::string rank_variable;
  int64_t cases_per_process = 1024;
  bool in_process = false;  // the backend
  walls::Walls walls;       // around it
};

}  // namespace assay::request
