// SPDX-License-Identifier: Apache-2.0

#include "backends/reference/kernel_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <regex>
#include <sstream>
#include <stdexcept>

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

std::vector<assay::Value> ValuesOf(const std::vector<Feed>& feeds) {
  std::vector<assay::Value> values;
  for (const Feed& feed : feeds) values.emplace_back(feed.Make());
  return values;
}

std::vector<assay::Value> Ones(int64_t count) {
  const std::vector<double> ones(static_cast<size_t>(count), 1);
  return ValuesOf({D({count}, ones)});
}

namespace {

/// The element type as a graph's text has it.
std::string NameOf(DType dtype) {
  if (dtype == DType::kFloat32) return "float";
  return dtype == DType::kFloat64 ? "double" : std::string(ToString(dtype));
}

}  // namespace

std::string DeclareFully(const std::string& list,
                         const std::vector<Feed>& feeds) {
  static const std::regex kName("\\w+");
  std::vector<std::string> names;
  for (std::sregex_iterator it(list.begin(), list.end(), kName), end; it != end;
       ++it) {
    if (std::ranges::count(names, it->str()) == 0) names.push_back(it->str());
  }
  EXPECT_EQ(names.size(), feeds.size()) << list;
  std::string all;
  for (size_t i = 0; i < names.size(); ++i) {
    const Shape& shape = feeds.at(i).shape;
    all += StrCat(i == 0 ? "" : ", ", NameOf(feeds.at(i).dtype),
                  shape.rank() == 0 ? "" : shape.ToString(), " ", names[i]);
  }
  return all;
}

Row Of(const std::string& node, std::vector<Feed> feeds,
       std::vector<Feed> wanted) {
  static const std::regex kNamed("[\\w, ]* = .*");
  const std::string whole =
      std::regex_match(node, kNamed) ? node : StrCat("y = ", node);
  const std::string graph =
      StrCat("g (", DeclareFully(whole.substr(whole.rfind('(')), feeds),
             ") => (", DeclareFully(whole.substr(0, whole.find('=')), wanted),
             ") { ", whole, " }");
  return {graph, std::move(feeds), std::move(wanted)};
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
    all += StrCat(i == 0 ? "" : ", ", NameOf(feed.dtype), extents,
                  extents.empty() ? " " : "] ", name);
  }
  return all;
}

std::shared_ptr<const Model> ModelOf(const std::string& graph) {
  return graph::ModelOfText(graph);
}

namespace {

template <class T>
T Only(const std::string& graph, Result<T> result) {
  if (!result.ok()) {
    throw std::runtime_error(StrCat(graph, result.status().ToString()));
  }
  return *std::move(result);
}

}  // namespace

std::unique_ptr<Network> NetworkOf(const std::string& graph,
                                   const LoadOptions& options) {
  return Only(graph, RowBackend().Load(ModelOf(graph), options));
}

Result<std::vector<assay::Value>> Compute(const std::string& graph,
                                          const std::vector<Feed>& feeds,
                                          const LoadOptions& options) {
  RowBackend backend;
  ASSAY_ASSIGN_OR_RETURN(auto network,
                         backend.Load(graph::ModelOfText(graph), options));
  std::map<std::string, assay::Value> inputs;
  for (size_t i = 0; i < feeds.size(); ++i) {
    inputs[network->inputs()[i].name] = feeds[i].Make();
  }
  return Run(*network, inputs);
}

std::vector<assay::Value> OutputsOf(const std::string& graph,
                                    const std::vector<Feed>& feeds,
                                    const LoadOptions& options) {
  return Only(graph, Compute(graph, feeds, options));
}

std::vector<double> NumbersOf(const assay::Value& value) {
  std::vector<double> numbers(
      static_cast<size_t>(value.tensor()->num_elements()));
  Decode(*value.tensor(), numbers.data());
  return numbers;
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

}  // namespace assay::reference
