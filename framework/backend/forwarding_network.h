// SPDX-License-Identifier: Apache-2.0
//
// ForwardingNetwork: a network around another. It passes every call on, so that
// a decorator says only what it changes and forgets no optional interface.
//
//   class Counting : public ForwardingNetwork {
//    public:
//     using ForwardingNetwork::ForwardingNetwork;
//     Status Forward(Binding& binding) override {
//       ++forwards;
//       return inner().Forward(binding);
//     }
//     int forwards = 0;
//   };
//
// Bindings are those of the inner network. A decorator that makes its own also
// overrides what is handed them: Forward, differentiable and native_step.

#pragma once

#include <memory>
#include <span>
#include <utility>

#include "framework/backend/backend.h"

namespace assay::inline v1 {

class ForwardingNetwork : public Network {
 public:
  explicit ForwardingNetwork(std::unique_ptr<Network> inner)
      : inner_(std::move(inner)) {}

  std::span<const ValueInfo> inputs() const override {
    return inner_->inputs();
  }
  std::span<const ValueInfo> outputs() const override {
    return inner_->outputs();
  }
  Result<std::unique_ptr<Binding>> Bind(
      std::span<const Value> inputs, std::span<const Value> outputs) override {
    return inner_->Bind(inputs, outputs);
  }
  Status Forward(Binding& binding) override { return inner_->Forward(binding); }
  Status Synchronize() override { return inner_->Synchronize(); }

  Differentiable* differentiable() override { return inner_->differentiable(); }
  Parameters* parameters() override { return inner_->parameters(); }
  NativeStep* native_step() override { return inner_->native_step(); }
  Draws* draws() override { return inner_->draws(); }
  Placement* placement() override { return inner_->placement(); }
  Exact* exact() override { return inner_->exact(); }

 protected:
  Network& inner() { return *inner_; }

 private:
  std::unique_ptr<Network> inner_;
};

}  // namespace assay::inline v1
