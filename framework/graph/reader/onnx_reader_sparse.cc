// SPDX-License-Identifier: Apache-2.0
//
// Sparse tensors, a form of storage. No operator of ONNX takes one, so that
// those of a model, its initializers and attributes, are made dense before the
// rest of it is read. Those of data files stay sparse.

#include <algorithm>
#include <climits>
#include <cstring>

#include "framework/graph/onnx_writer.h"
#include "framework/graph/reader/onnx_reader.h"

namespace assay::reader {
namespace {

using onnx::AttributeProto;

/// Coordinates inside the shape, in ascending order.
Status CheckCoordinates(const SparseTensor& sparse, int64_t per_value) {
  const auto entries = sparse.indices.elements<int64_t>();
  const auto width = static_cast<size_t>(per_value);
  ASSAY_ASSIGN_OR_RETURN(const int64_t total, sparse.shape.NumElements());
  const bool linear = sparse.indices.shape().rank() == 1;
  for (size_t i = 0; i < entries.size(); ++i) {
    const int64_t extent =
        linear ? total : sparse.shape[static_cast<int>(i % width)];
    if (entries[i] < 0 || entries[i] >= extent) {
      return InvalidArgument("has index ", entries[i], ", wanted 0 to ",
                             extent - 1);
    }
  }
  for (size_t i = width; width > 0 && i + width <= entries.size(); i += width) {
    const auto before = entries.subspan(i - width, width);
    const auto here = entries.subspan(i, width);
    if (!std::ranges::lexicographical_compare(before, here)) {
      return InvalidArgument("has indices that do not ascend at value ",
                             i / width);
    }
  }
  return OkStatus();
}

Result<SparseTensor> ReadParts(const onnx::SparseTensorProto& proto,
                               const External& external) {
  SparseTensor sparse;
  const External all(external.directory);  // for the coordinates are checked
  ASSAY_ASSIGN_OR_RETURN(sparse.values, ReadTensor(proto.values(), all));
  const int64_t count = sparse.values.num_elements();
  if (proto.has_indices() || count > 0) {
    ASSAY_ASSIGN_OR_RETURN(sparse.indices, ReadTensor(proto.indices(), all));
  } else {  // which ONNX's checker permits
    ASSAY_ASSIGN_OR_RETURN(sparse.indices,
                           Tensor::Allocate(DType::kInt64, {0}));
  }
  sparse.shape =
      Shape(std::vector<int64_t>(proto.dims().begin(), proto.dims().end()));
  const Shape& indices = sparse.indices.shape();
  const bool linear = indices == Shape({count});
  const bool fits = linear || indices == Shape({count, sparse.shape.rank()});
  if (sparse.values.shape().rank() != 1 || !fits || sparse.shape.rank() == 0 ||
      sparse.indices.dtype() != DType::kInt64) {
    return InvalidArgument("has shape ", sparse.shape.ToString(), ", values ",
                           sparse.values.Signature(), " and indices ",
                           sparse.indices.Signature(),
                           ", wanted a rank of at least 1, [n], and int64[n] "
                           "or int64[n,rank]");
  }
  ASSAY_RETURN_IF_ERROR(
      CheckCoordinates(sparse, linear ? 1 : sparse.shape.rank()));
  return sparse;
}

/// The place of value `i` among all elements in row-major order.
int64_t PlaceOf(const SparseTensor& sparse, int64_t i) {
  const auto entries = sparse.indices.elements<int64_t>();
  if (sparse.indices.shape().rank() == 1)
    return entries[static_cast<size_t>(i)];
  int64_t place = 0;
  auto entry = static_cast<size_t>(i * sparse.shape.rank());
  for (const int64_t extent : sparse.shape) {
    place = place * extent + entries[entry++];
  }
  return place;
}

/// Copies `width` bits, for the zeros of elements that are packed.
void CopyBits(const std::byte* from, int64_t at, std::byte* to, int64_t place,
              int width) {
  for (int64_t bit = 0; bit < width; ++bit) {
    const int64_t read = at * width + bit;
    const int64_t written = place * width + bit;
    const std::byte one = (from[read / 8] >> (read % 8)) & std::byte{1};
    to[written / 8] |= one << (written % 8);
  }
}

void PutValues(const SparseTensor& sparse, Tensor& dense) {
  const int width = BitsOf(dense.dtype());
  const auto bytes = static_cast<size_t>(width / 8);
  const std::byte* const from = sparse.values.data();
  for (int64_t i = 0; i < sparse.values.num_elements(); ++i) {
    const int64_t place = PlaceOf(sparse, i);
    if (width % 8 != 0) {
      CopyBits(from, i, dense.mutable_data(), place, width);
    } else {
      std::memcpy(dense.mutable_data() + static_cast<size_t>(place) * bytes,
                  from + static_cast<size_t>(i) * bytes, bytes);
    }
  }
}

/// Memory for all elements is taken, so that what a file claims has a limit:
/// protobuf's, which the dense form must keep as well.
Status CheckSize(DType type, int64_t count) {
  constexpr int64_t kMost = INT_MAX;
  const bool strings = type == DType::kString;
  const int64_t most = strings ? kMost / int64_t{sizeof(std::string)} : kMost;
  // No element has less than two bits.
  const bool fits =
      strings ? count <= most
              : count <= 4 * kMost && PackedBytes(type, count) <= most;
  if (fits) return OkStatus();
  return ResourceExhausted("has ", count, " elements of ", type,
                           ", wanted at most ", kMost, " bytes when dense");
}

Result<Tensor> Dense(const SparseTensor& sparse) {
  const DType type = sparse.values.dtype();
  ASSAY_ASSIGN_OR_RETURN(const int64_t count, sparse.shape.NumElements());
  ASSAY_RETURN_IF_ERROR(CheckSize(type, count));
  if (type == DType::kFloat8E8M0 && sparse.values.num_elements() < count) {
    return InvalidArgument("leaves out zeros, which ", type, " does not have");
  }
  if (type == DType::kString) {
    std::vector<std::string> texts(static_cast<size_t>(count));
    for (int64_t i = 0; i < sparse.values.num_elements(); ++i) {
      texts[static_cast<size_t>(PlaceOf(sparse, i))] =
          sparse.values.strings()[static_cast<size_t>(i)];
    }
    return Tensor::FromStrings(sparse.shape, std::move(texts));
  }
  ASSAY_ASSIGN_OR_RETURN(Tensor dense, Tensor::Allocate(type, sparse.shape));
  PutValues(sparse, dense);
  return dense;
}

Status InTensor(const Status& status, const onnx::SparseTensorProto& proto) {
  return status.WithContext(
      StrCat("sparse tensor '", proto.values().name(), "'"));
}

/// Makes the sparse tensors of a message dense, at any depth.
class Densifier {
 public:
  explicit Densifier(const External& external) : external_(external) {}

  Status Change(onnx::GraphProto* graph) {
    for (const auto& sparse : graph->sparse_initializer()) {
      onnx::TensorProto* const dense = graph->add_initializer();
      ASSAY_RETURN_IF_ERROR(Write(sparse, dense));
      dense->set_name(sparse.values().name());
    }
    graph->clear_sparse_initializer();
    return ChangeAll(graph->mutable_node());
  }

  template <class Messages>
  Status ChangeAll(Messages* messages) {
    for (auto& message : *messages) ASSAY_RETURN_IF_ERROR(Change(&message));
    return OkStatus();
  }

  Status Change(onnx::FunctionProto* function) {
    ASSAY_RETURN_IF_ERROR(ChangeAll(function->mutable_attribute_proto()));
    return ChangeAll(function->mutable_node());
  }

  bool changed() const { return changed_; }

 private:
  Status Write(const onnx::SparseTensorProto& sparse, onnx::TensorProto* to) {
    changed_ = true;
    ASSAY_ASSIGN_OR_RETURN(const SparseTensor read,
                           ReadSparse(sparse, external_));
    const Result<Tensor> dense = Dense(read);
    if (!dense.ok()) return InTensor(dense.status(), sparse);
    graph::WriteTensor(*dense, *to);
    return OkStatus();
  }

  /// A Constant has an attribute of its own for a sparse value.
  Status Change(onnx::NodeProto* node) {
    const bool constant = node->op_type() == "Constant" &&
                          CanonicalDomain(node->domain()).empty();
    for (AttributeProto& attribute : *node->mutable_attribute()) {
      const bool sparse = attribute.type() == AttributeProto::SPARSE_TENSOR;
      if (Status status = Change(&attribute); !status.ok()) {
        return status.WithContext(
            StrCat(node->op_type(), ": attribute '", attribute.name(), "'"));
      }
      const bool dense = attribute.type() == AttributeProto::TENSOR;
      if (constant && sparse && dense) attribute.set_name("value");
    }
    return OkStatus();
  }

  Status Change(AttributeProto* attribute) {
    const bool given =
        attribute->has_sparse_tensor() || !attribute->ref_attr_name().empty();
    if (attribute->type() == AttributeProto::SPARSE_TENSOR && given) {
      attribute->set_type(AttributeProto::TENSOR);
      changed_ = true;
    }
    if (attribute->has_sparse_tensor()) {
      ASSAY_RETURN_IF_ERROR(
          Write(attribute->sparse_tensor(), attribute->mutable_t()));
      attribute->clear_sparse_tensor();
    }
    if (attribute->type() == AttributeProto::SPARSE_TENSORS) {
      attribute->set_type(AttributeProto::TENSORS);
      changed_ = true;
      for (const auto& sparse : attribute->sparse_tensors()) {
        ASSAY_RETURN_IF_ERROR(Write(sparse, attribute->add_tensors()));
      }
      attribute->clear_sparse_tensors();
    }
    if (attribute->has_g()) {
      ASSAY_RETURN_IF_ERROR(Change(attribute->mutable_g()));
    }
    return ChangeAll(attribute->mutable_graphs());
  }

  const External& external_;
  bool changed_ = false;
};

}  // namespace

Result<SparseTensor> ReadSparse(const onnx::SparseTensorProto& proto,
                                const External& external) {
  Result<SparseTensor> sparse = ReadParts(proto, external);
  if (!sparse.ok()) return InTensor(sparse.status(), proto);
  return sparse;
}

Result<bool> MakeDense(const External& external, onnx::ModelProto* model) {
  Densifier densifier(external);
  ASSAY_RETURN_IF_ERROR(densifier.ChangeAll(model->mutable_functions()));
  const Status status = densifier.Change(model->mutable_graph());
  if (!status.ok()) {
    return status.WithContext(StrCat("graph '", model->graph().name(), "'"));
  }
  if (densifier.changed() && model->ByteSizeLong() > INT_MAX) {
    return ResourceExhausted("takes ", model->ByteSizeLong(),
                             " bytes with dense tensors, wanted at most ",
                             INT_MAX);
  }
  return densifier.changed();
}

}  // namespace assay::reader
