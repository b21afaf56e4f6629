// SPDX-License-Identifier: Apache-2.0
//
// A model of a person's own, made a corpus of one case: its inputs are those
// that the person gives, or drawn from the seed, and no outputs are expected
// but where the person gives these, too.
//
//   ASSAY_ASSIGN_OR_RETURN(const OwnCorpus own,
//                          MakeCorpus({.file = "m.onnx", .dims = {"batch=4"}},
//                                     seed, "runs/models"));

#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "framework/core/status.h"

namespace assay::select {

/// As it is typed.
struct OwnModel {
  std::filesystem::path file;     // --model, or its folder; empty: none
  std::vector<std::string> dims;  // --dim: "batch=4", of an unnamed one "x.0=4"
  std::filesystem::path inputs;   // --inputs: folder or .npz; empty: drawn
};

struct OwnCorpus {
  std::filesystem::path directory;
  std::string words;  // of a command that makes the same
};

/// Writes the corpus `own` to a folder below `place` that is called by a digest
/// of all that is in it: the model's file by its name, and the inputs. Invalid
/// argument, naming the fault, for a model that cannot be read, for inputs that
/// are not those of the model, and for one that nothing says the extents of, or
/// that cannot be drawn.
Result<OwnCorpus> MakeCorpus(const OwnModel& model, int64_t seed,
                             const std::filesystem::path& place);

}  // namespace assay::select
