// SPDX-License-Identifier: Apache-2.0
//
// Tape: the primitives of a chain in the order in which they run, with the
// memories that they read and write and where these lie, so that the chain can
// be run backward (../reverse).
//
//   Tape tape;
//   ChainBuilder chain(engine, facts, threads, &tape);
//   chain.Eltwise(dnnl::algorithm::eltwise_tanh, 0, 0, from, to);
//   tape.entries.back().at(DNNL_ARG_SRC);

#pragma once

#include <any>
#include <cstdint>
#include <map>
#include <vector>

#include "dnnl.hpp"
#include "framework/core/dtype.h"
#include "framework/core/shape.h"

namespace assay::onednn {

/// What a memory stands over.
enum class Role : uint8_t {
  kOwn,        // bytes of a chain
  kInput,      // of the node
  kOutput,     // of the node, which the chain writes
  kResult,     // an output, as backward reads it
  kCotangent,  // of an output
  kGradient,   // of an input, which backward writes
};

/// An argument of a primitive.
struct Argument {
  int name;  // DNNL_ARG_...
  dnnl::memory memory;
};

struct Place {
  Role role = Role::kOwn;
  int position = 0;   // of an input or an output
  dnnl::memory root;  // of the chain's own bytes: the memory that holds them
  int64_t offset_bytes = 0;
};

struct Taped {
  std::any desc;  // the primitive descriptor
  std::vector<Argument> arguments;
  std::vector<float> scales = {};  // of a sum, which cannot be asked for them

  /// An empty memory where there is no such argument.
  dnnl::memory at(int name) const {
    for (const Argument& argument : arguments) {
      if (argument.name == name) return argument.memory;
    }
    return {};
  }
};

struct Tape {
  struct Type {
    DType dtype = DType::kUndefined;
    Shape shape;
  };

  std::vector<Taped> entries;
  std::map<dnnl_memory_t, Place> places;
  std::map<int, Type> inputs;   // those read, by position
  std::map<int, Type> outputs;  // those written, by position
  /// Positions of inputs whose numbers primitives were made for.
  std::vector<int> numbers;
};

}  // namespace assay::onednn
