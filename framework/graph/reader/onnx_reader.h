// SPDX-License-Identifier: Apache-2.0
//
// The parts of the ONNX reader: each turns one protobuf message into our form.
// Included by the reader's sources only: protobuf is hidden in the core, and so
// is this namespace (a template's symbol begins with its return type, by which
// the linker's map could take it for one of assay::v1).

#pragma once

#include <google/protobuf/arena.h>
#include <google/protobuf/message_lite.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/core/status.h"
#include "framework/core/value.h"
#include "framework/graph/model.h"
#include "onnx/onnx-data.pb.h"
#include "onnx/onnx_pb.h"

namespace assay {
namespace [[gnu::visibility("hidden")]] reader {

namespace fs = std::filesystem;

using Opsets = std::map<std::string, int, std::less<>>;

/// The bytes of a regular file of at most 2 GiB, protobuf's limit.
Result<std::vector<std::byte>> ReadFile(const fs::path& file);

/// Data loss for malformed or truncated bytes, and for
/// more than protobuf's 100 levels of nesting, which bounds all recursion over
/// the message.
Status ParseInto(std::span<const std::byte> bytes,
                 google::protobuf::MessageLite& message);

/// The message of a model, to be looked at or changed, in memory of its own.
struct ModelMessage {
  /// As ParseInto.
  Status Read(std::span<const std::byte> bytes) {
    return ParseInto(bytes, proto);
  }
  /// The model that the message is now.
  Result<std::shared_ptr<const Model>> Parse(
      const fs::path& directory = {}) const;

  google::protobuf::Arena arena;
  onnx::ModelProto& proto =
      *google::protobuf::Arena::CreateMessage<onnx::ModelProto>(&arena);
};

/// Where external data is looked up, and how much of a tensor is read: of a
/// larger one the file is looked at, and the tensor has no memory.
struct External {
  External() = default;
  External(fs::path where, uint64_t most = kAllExternal)
      : directory(std::move(where)), most_bytes(most) {}

  fs::path directory;  // empty: nowhere
  uint64_t most_bytes = kAllExternal;
};

Result<Tensor> ReadTensor(const onnx::TensorProto& proto,
                          const External& external);
Result<SparseTensor> ReadSparse(const onnx::SparseTensorProto& proto,
                                const External& external);

/// Makes the sparse tensors of a model dense: an initializer becomes one of the
/// dense, sparse_value of a Constant its value. False when it has none.
Result<bool> MakeDense(const External& external, onnx::ModelProto* model);

/// Memory is taken once the file is known to hold as much.
Result<Tensor> ReadExternal(const onnx::TensorProto& proto, DType type,
                            const Shape& shape, const External& external);

Result<ValueType> ReadType(const onnx::TypeProto& proto);

/// One attribute of a node, or the default of a function's. Subgraphs are read
/// by the caller's function, which knows the scope they stand in.
using SubgraphReader = std::function<Result<Graph>(const onnx::GraphProto&)>;
Result<Attribute> ReadAttribute(const onnx::AttributeProto& proto,
                                const External& external,
                                const SubgraphReader& read_subgraph);

/// "" for "ai.onnx", which is another way of writing it.
std::string_view CanonicalDomain(std::string_view domain);

/// The versions a model or function imports, each domain once.
Result<Opsets> ReadOpsets(
    const google::protobuf::RepeatedPtrField<onnx::OperatorSetIdProto>& protos);

Result<Graph> ReadGraph(const onnx::GraphProto& proto, const Opsets& opsets,
                        const External& external);

/// Gives the values of `proto` the types that ONNX's shape inference finds,
/// with data propagation. Its exceptions end here.
Status RunInference(onnx::ModelProto& proto);

/// The body of one function, whose nodes refer to its attributes.
Result<Function> ReadFunction(const onnx::FunctionProto& proto,
                              const External& external);

}  // namespace reader
}  // namespace assay
