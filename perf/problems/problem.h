// SPDX-License-Identifier: Apache-2.0
//
// Problem: one thing to be timed, as a row of a file of problems states it.
//
//   for (const Problem& problem : KnownProblems()) Print(problem.name);
//   // "deepbench.train.gemm.m1760n16k1760nn"

#pragma once

#include <cstdint>
#include <string>
#include <variant>

namespace assay::problems {

/// C [m,n] = op(A) [m,k] op(B) [k,n]; what is transposed is stored [k,m] and
/// [n,k].
struct Gemm {
  int64_t m = 0, n = 0, k = 0;
  bool a_transposed = false, b_transposed = false;
};

/// Images [n,c,h,w] by k filters [c/group,r,s].
struct Convolution {
  int64_t w = 0, h = 0, c = 0, n = 0, k = 0, s = 0, r = 0;
  int64_t pad_w = 0, pad_h = 0, stride_w = 0, stride_h = 0, group = 0;
};

/// A layer of one direction, whose input is as wide as its state.
struct Recurrent {
  std::string cell;  // vanilla (of Relu), lstm or gru
  int64_t hidden = 0, batch = 0, steps = 0;
};

/// A product whose A has numbers at `density` of its places.
struct SparseGemm {
  Gemm product;
  double density = 0;
};

/// A sum of so many elements of each rank, for all of them.
struct AllReduce {
  int64_t elements = 0;
};

/// A model in ONNX's text form, with $T in the place of its element type.
struct GraphText {
  std::string name;
  std::string text;
};

struct Problem {
  std::string name;  // set, kind and extents, each once in a file
  std::string set;   // "deepbench.train", "resnet50"
  /// How often the network has it; of an AllReduce how often DeepBench runs it.
  int64_t times = 1;
  std::variant<Gemm, Convolution, Recurrent, SparseGemm, AllReduce, GraphText>
      of;
  std::string place;  // file:line
  /// The number by which the problems of one row differ, and its value here:
  /// "batch", 8. Empty where a row is one problem.
  std::string axis;
  int64_t size = 0;
};

}  // namespace assay::problems
