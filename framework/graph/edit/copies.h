// SPDX-License-Identifier: Apache-2.0
//
// Models with copies of their nodes. Those that draw have other seeds in each:
// a seeded network may give the same draw at every run, so that many draws take
// many seeds. They are in one model, which costs one Load.
//
//   // y = Bernoulli<seed = 0>(x) becomes y.draw0, y.draw1, y.draw2
//   ASSAY_ASSIGN_OR_RETURN(auto many, WithSeeds(*model, seeds));
//
// The serialized model is changed and read again, so that backends that take a
// whole model see the same as those that walk the graph.

#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "framework/core/status.h"
#include "framework/graph/model.h"

namespace assay::edit {

/// `count` distinct integers in [0, 2^24), which float32 holds exactly.
std::vector<int64_t> DrawnSeeds(int64_t count, int64_t seed);

/// One model with as many copies, which is given one set of seeds after the
/// other: what is the same in all of them is made once.
class SeededCopies {
 public:
  static Result<SeededCopies> Of(const Model& model, size_t count);
  SeededCopies(SeededCopies&&) noexcept;
  SeededCopies& operator=(SeededCopies&&) noexcept;
  ~SeededCopies();

  /// As WithSeeds; `seeds` are as many as there are copies.
  Result<std::shared_ptr<const Model>> With(std::span<const int64_t> seeds);

 private:
  struct Template;
  explicit SeededCopies(std::unique_ptr<Template> form);
  std::unique_ptr<Template> template_;
};

/// The model with a copy of all nodes for each seed, the attributes named seed
/// of the copy being that seed. Inputs and initializers are shared; outputs are
/// those of the first copy, then of the second, ... Nodes must not have
/// subgraphs that read outer values.
Result<std::shared_ptr<const Model>> WithSeeds(const Model& model,
                                               std::span<const int64_t> seeds);

/// The model twice over: every node once more, on the same inputs, so that each
/// input has two readers of each kind and the gradients of both halves add up.
/// Its outputs come twice, first as they were, then those of the second half.
/// Initializers are shared. Behind its inputs it has one more, a vector of two
/// float32, of the name `unread`, that no node reads. Invalid argument for a
/// model that has such a value.
Result<std::shared_ptr<const Model>> Doubled(const Model& model,
                                             const std::string& unread);

}  // namespace assay::edit
