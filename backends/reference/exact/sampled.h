// SPDX-License-Identifier: Apache-2.0
//
// Sampled: bounds of whole networks. A charge adds up absolute values, so that
// of a network of many layers it grows with the product of the layers' norms,
// whatever cancels. Here every rounding error is drawn at random, at its full
// size, several times, and carried on with its sign; from what arrives follows
// what all errors together can do.
//
//   const std::vector<Bounded<double>> of_nodes = Sampled<double>(tape);
//
//   Borders<Bounded<double>> numbers;  // of the steps of a trace
//   ASSAY_RETURN_IF_ERROR(SampleSteps(trace, Left::kKept, &numbers, see));
//
// To first order the error of a number is the sum of J_i e_i over the roundings
// i, with |e_i| <= own_i, so it is at most sqrt(N) s, where N is their count
// and s^2 the sum of (J_i own_i)^2 (Cauchy and Schwarz). A lane carries the sum
// of J_i own_i x_i for independent x_i, uniform with variance 1: it has the
// standard deviation s and, being a sum of log-concave variables, a density of
// at most 1/s (Bobkov and Chistyakov, "On concentration functions of random
// variables", 2015). So one lane is below s/256 with a probability of at most
// 2/256, and all eight are with one of at most 2e-17. Errors beyond first order
// are counted as in Charged, from these bounds; where these leave a choice, a
// selection or an absolute value in doubt, the way not taken is an error of its
// own.

#pragma once

#include <functional>
#include <vector>

#include "backends/reference/exact/gather.h"
#include "backends/reference/number/quad.h"
#include "backends/reference/tape/steps.h"

namespace assay::reference {

/// The numbers of all nodes, with bounds of this kind where they are less than
/// charges; each call draws the same. Takes 64 bytes a node beside the numbers.
template <class S>
std::vector<Bounded<S>> Sampled(const Tape& tape);

template <class S>
using SeeStep = std::function<void(uint32_t step, const Tape& tape,
                                   const std::vector<Bounded<S>>& of_tape)>;

/// As ReplaySteps. A step of more than 2^24 nodes is charged, and what leaves
/// it is an error of its own.
template <class S>
Status SampleSteps(Trace& trace, Left left, Borders<Bounded<S>>* numbers,
                   const SeeStep<S>& see);

}  // namespace assay::reference
