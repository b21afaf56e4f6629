// SPDX-License-Identifier: Apache-2.0

#include <google/protobuf/arena.h>

#include "framework/graph/model.h"
#include "framework/graph/reader/onnx_reader.h"

namespace assay::reader {
namespace {

Result<Model::Parts> ReadModel(std::span<const std::byte> bytes,
                               const External& external) {
  google::protobuf::Arena arena;
  auto* const proto =
      google::protobuf::Arena::CreateMessage<onnx::ModelProto>(&arena);
  ASSAY_RETURN_IF_ERROR(ParseInto(bytes, *proto));
  if (!proto->has_graph() || proto->ir_version() < 1) {
    return InvalidArgument("is no ONNX model: it has ",
                           proto->has_graph() ? "no IR version" : "no graph");
  }
  // A newer version is read when nothing in it is new.
  if (proto->ir_version() > onnx::IR_VERSION && HasUnknownFields(*proto)) {
    return Unsupported(Reason::kReader, "has IR version ", proto->ir_version(),
                       " and fields that version ", int{onnx::IR_VERSION},
                       " does not have");
  }
  Model::Parts parts;
  parts.ir_version = proto->ir_version();
  ASSAY_ASSIGN_OR_RETURN(parts.opsets, ReadOpsets(proto->opset_import()));
  // Before IR version 3 there were no imports, and one operator set.
  if (parts.opsets.empty()) parts.opsets.emplace("", 1);
  ASSAY_ASSIGN_OR_RETURN(parts.functions, ReadFunctions(*proto, external));
  ASSAY_ASSIGN_OR_RETURN(parts.graph,
                         ReadGraph(proto->graph(), parts.opsets, external));
  ASSAY_RETURN_IF_ERROR(CheckCalls(parts.functions, parts.graph));
  parts.directory = external.directory;
  return parts;
}

/// Files without a folder in their name lie in the current one.
fs::path DirectoryOf(const fs::path& file) {
  return file.has_parent_path() ? file.parent_path() : fs::path(".");
}

}  // namespace
}  // namespace assay::reader

namespace assay::inline v1 {

Result<std::shared_ptr<const Model>> Model::Read(
    const std::filesystem::path& file, uint64_t most_external) {
  Result<std::vector<std::byte>> bytes = reader::ReadFile(file);
  if (!bytes.ok()) return bytes.status().WithContext(file.string());
  Result<Parts> parts =
      reader::ReadModel(*bytes, {reader::DirectoryOf(file), most_external});
  if (!parts.ok()) return parts.status().WithContext(file.string());
  parts->bytes = *std::move(bytes);
  return std::make_shared<const Model>(*std::move(parts));
}

Result<std::shared_ptr<const Model>> Model::Parse(
    std::span<const std::byte> bytes, const std::filesystem::path& directory) {
  ASSAY_ASSIGN_OR_RETURN(Parts parts, reader::ReadModel(bytes, directory));
  parts.bytes.assign(bytes.begin(), bytes.end());
  return std::make_shared<const Model>(std::move(parts));
}

}  // namespace assay::inline v1
