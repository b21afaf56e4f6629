// SPDX-License-Identifier: Apache-2.0
//
// Requests of the program assay to assay-trainer, a kind for each command.

#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "framework/testing/record/field.h"
#include "framework/testing/request/request.h"

namespace assay::program {

struct TrainRequest {
  static const request::Form& form();

  std::string run;               // RunSpec
  std::string module;            // of its backend
  std::string model = "lenet5";  // or a file that ends in .onnx
  std::string dataset = "digits";
  int64_t batch = 64;
  int64_t micro_batch = 0;  // 0: a whole batch at once
  int64_t seed = 0;
  int64_t epochs = 10;
  int64_t checkpoint_every = 100;  // steps
  double stop_at = 0;              // accuracy of the test set; 0: none
  double seconds = 0;              // 0: as many as it takes
  std::filesystem::path out;
  bool goes_on = false;  // from the folder's checkpoint
  int64_t parent = 0;    // process to die with; 0: none
};

struct PairRequest {
  std::string a, b;  // RunSpec
  std::string a_module, b_module;
  std::string oracle, oracle_module;
  std::string model = "lenet5";
  std::string dataset = "drawn";
  int64_t steps = 100;
  int64_t batch = 64;
  int64_t seed = 0;
  int64_t parent = 0;
};

struct OptDiffRequest : PairRequest {
  static const request::Form& form();

  std::filesystem::path table;  // empty: none
};

struct BisectRequest : PairRequest {
  static const request::Form& form();

  record::Integer weights_seed_b, order_seed_b;  // none: those of run a
};

/// How many samples runs of several seeds take to learn.
struct ConvergeRequest {
  static const request::Form& form();

  std::string a, b;  // RunSpec; b may be empty
  std::string a_module, b_module;
  std::filesystem::path against;  // a table, whose first run is held beside a
  std::filesystem::path table;    // to write; empty: none
  std::string model = "lenet5";
  std::string dataset = "digits";
  double accuracy = 0.95;
  int64_t batch = 64;
  int64_t every = 10;  // steps between two tests
  int64_t most_epochs = 20;
  int64_t seeds = 10;
  int64_t parent = 0;
};

}  // namespace assay::program
