// SPDX-License-Identifier: Apache-2.0

#include "backends/reference/kernel_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "backends/reference/scalar/codec.h"
#include "framework/graph/model_text.h"

namespace assay::reference {
namespace {

void ExpectElement(double got, double want, bool is_float,
                   const std::string& where) {
  if (std::isnan(want)) {
    EXPECT_TRUE(std::isnan(got)) << where << " is " << got;
  } else if (!is_float || std::isinf(want) || want == 0) {
    EXPECT_EQ(got, want) << where;
    EXPECT_EQ(std::signbit(got), std::signbit(want)) << where;
  } else {
    EXPECT_NEAR(got, want, 4e-7 * std::abs(want)) << where;
  }
}

void ExpectTensor(const Tensor& got, const Feed& wanted,
                  const std::string& graph) {
  ASSERT_EQ(got.dtype(), wanted.dtype) << graph;
  ASSERT_EQ(got.shape(), wanted.shape) << graph << got.shape().ToString();
  std::vector<double> values(wanted.values.size());
  Decode(got, values.data());
  for (size_t i = 0; i < values.size(); ++i) {
    ExpectElement(values[i], wanted.values[i], IsFloatingPoint(got.dtype()),
                  StrCat(graph, " element ", i));
  }
}

}  // namespace

Tensor Feed::Make() const {
  Tensor tensor = *Tensor::Allocate(dtype, shape);
  EXPECT_EQ(tensor.num_elements(), static_cast<int64_t>(values.size()));
  Encode(values.data(), tensor);
  return tensor;
}

std::string Declare(const std::string& names, const std::vector<Feed>& feeds) {
  std::istringstream words(names);
  std::string all;
  std::string name;
  for (size_t i = 0; words >> name; ++i) {
    const Feed& feed = feeds.at(i);
    std::string extents;
    for (int axis = 0; axis < feed.shape.rank(); ++axis) {
      extents += StrCat(axis == 0 ? "[" : ",", name, axis);
    }
    all +=
        StrCat(i == 0 ? "" : ", ",
               feed.dtype == DType::kFloat32 ? "float" : ToString(feed.dtype),
               extents, extents.empty() ? " " : "] ", name);
  }
  return all;
}

std::shared_ptr<const Model> ModelOf(const std::string& graph) {
  return graph::ModelOfText(graph);
}

Result<std::vector<Value>> Compute(const std::string& graph,
                                   const std::vector<Feed>& feeds,
                                   const LoadOptions& options) {
  RowBackend backend;
  ASSAY_ASSIGN_OR_RETURN(auto network,
                         backend.Load(graph::ModelOfText(graph), options));
  std::map<std::string, Value> inputs;
  for (size_t i = 0; i < feeds.size(); ++i) {
    inputs[network->inputs()[i].name] = feeds[i].Make();
  }
  return Run(*network, inputs);
}

void ExpectRows(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    const auto outputs = Compute(row.graph, row.feeds);
    ASSERT_TRUE(outputs.ok()) << row.graph << outputs.status().ToString();
    ASSERT_EQ(outputs->size(), row.wanted.size()) << row.graph;
    for (size_t i = 0; i < outputs->size(); ++i) {
      ExpectTensor(*(*outputs)[i].tensor(), row.wanted[i], row.graph);
    }
  }
}

void ExpectRefusals(const std::vector<Refusal>& rows) {
  for (const Refusal& row : rows) {
    const Status status = Compute(row.graph, row.feeds).status();
    EXPECT_EQ(status.code(), row.code) << row.graph << status.ToString();
    EXPECT_THAT(status.ToString(), ::testing::HasSubstr(row.message))
        << row.graph;
  }
}

void ExpectWrong(const std::vector<Wrong>& rows, StatusCode code) {
  for (const Wrong& row : rows) {
    ExpectRefusals({{row.graph, row.feeds, code, row.message}});
  }
}

}  // namespace assay::reference
