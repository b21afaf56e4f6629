// SPDX-License-Identifier: Apache-2.0
//
// How a model gets to a host: its bytes in shared memory and, where great
// values are fixed in it (Model::fixed), the bytes of its base with those
// values beside.
//
//   ASSAY_ASSIGN_OR_RETURN(const ModelCrossing crossing,
//                          ModelCrossing::Of(*model));
//   wire::Writer call = crossing.Call();
//   crossing.Put(&call);                    // keep it until there is an answer
//
//   ModelReader models;                     // the other side
//   ASSAY_ASSIGN_OR_RETURN(const auto same, models.Read(&in));

#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>

#include "framework/core/status.h"
#include "framework/core/tensor.h"
#include "framework/graph/model.h"
#include "framework/testing/host/mirror.h"
#include "framework/testing/host/wire/wire.h"

namespace assay::host {

/// The suite's side. The model must outlive it.
class ModelCrossing {
 public:
  static Result<ModelCrossing> Of(const Model& model);

  /// A writer that knows where the bytes are. This must outlive it.
  wire::Writer Call() const { return mirror_->Call(); }
  void Put(wire::Writer* call) const;

 private:
  ModelCrossing() = default;

  bool checked_ = false;
  std::unique_ptr<std::string> whole_;  // where external data is put in
  Tensor file_;
  std::map<std::string, Tensor> fixed_;
  std::unique_ptr<Mirror> mirror_;
};

/// The host's side.
class ModelReader {
 public:
  /// What Put wrote, in memory of this process; the last model where the bytes
  /// are the same, since a case loads its model several times. Bytes that are
  /// none make a model that holds them, for a backend that takes whole models
  /// to look at.
  Result<std::shared_ptr<const Model>> Read(wire::Reader* in);

 private:
  std::shared_ptr<const Model> Of(std::span<const std::byte> bytes,
                                  bool checked);

  std::mutex mutex_;
  std::shared_ptr<const Model> last_;
};

}  // namespace assay::host
