// SPDX-License-Identifier: Apache-2.0
//
// Communication: what ranks do together as operators of a graph, so that a backend of kernels
// runs them between its own: Deep500's native form of a distributed optimizer (its thesis,
// chapter 5).
//
//   class Acme : public EagerBackend {
//    public:
//     explicit Acme(Endpoint& mine) {
//       AddFamily(std::make_unique<ranks::Communication>(mine, ranks::Travel{}));
//     }
//     std::string_view name() const override { return "acme"; }
//     Result<Probe> Inspect() override { return Probe{"1.0", "cpu"}; }
//   };

#pragma once

#include "framework/backend/eager/eager.h"
#include "framework/ranks/endpoint.h"
#include "framework/ranks/scheme/bundle.h"

namespace assay::ranks {

/// Operators of the domain "assay.dist", each of a tensor of float32 or float64, with the
/// same shape on all ranks:
///
///   AllReduceMean(x) -> y   the mean over all ranks
///   MeanAtRoot(x) -> y      the same on rank 0; elsewhere nothing of use
///   FromRoot(x) -> y        that of rank 0
///
/// All ranks run the same ones in the same order. The bits are those of the schemes that
/// call MeanOfAll, MeanAtRoot and FromRoot. None has a gradient.
class Communication : public OperatorVisitor {
 public:
  static constexpr char kDomain[] = "assay.dist";

  /// The endpoint outlives the networks.
  Communication(Endpoint& endpoint, Travel travel)
      : endpoint_(endpoint), travel_(travel) {}

  Result<Kernel> VisitCustom(const Node& node, LoadContext& load) override;

 private:
  Endpoint& endpoint_;
  const Travel travel_;
};

}  // namespace assay::ranks
