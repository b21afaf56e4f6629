// SPDX-License-Identifier: Apache-2.0
//
// A request: what one program tells another to do, as text. Its first line has
// its kind, each further one a field; lists are records of CSV in one field.
//
//     request,worker
//     backend,onednn
//     seed,7
//     hide,"/srv/corpus,/srv/answers"
//
//   const std::string text = TextOf(request);
//   ASSAY_ASSIGN_OR_RETURN(const auto same, Parse<WorkerRequest>(text));
//
// A field that the text lacks keeps its default. The kind of a request is a
// struct with a form, which lists its fields.

#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "framework/core/status.h"
#include "framework/file/file.h"
#include "framework/testing/record/columns.h"
#include "framework/testing/record/record.h"
#include "framework/testing/walls/walls.h"

namespace assay::request {

struct Form {
  record::Table table;                   // named as the kind of request
  std::vector<std::string_view> needed;  // fields that must not be empty
};

std::string TextOf(const Form& form, const void* request);

/// Reads a text into a request that has its defaults. Invalid argument, with
/// the line, for another kind, for a field that there is not, that is given
/// twice or does not fit, and for one that is needed and empty; data loss for
/// text that is no CSV.
Status Parse(std::string_view text, const Form& form, void* request);

/// The kind that the first line names; empty where it names none.
std::string KindOf(std::string_view text);

/// A line for each field, as a program's --help has them.
std::string FieldsOf(const Form& form);

template <class Request>
std::string TextOf(const Request& request) {
  return TextOf(Request::form(), &request);
}

template <class Request>
Result<Request> Parse(std::string_view text) {
  Request request;
  ASSAY_RETURN_IF_ERROR(Parse(text, Request::form(), &request));
  return request;
}

/// As Parse, with the name of the file in front; not found where it cannot be
/// read.
template <class Request>
Result<Request> ReadFrom(const std::filesystem::path& file) {
  ASSAY_ASSIGN_OR_RETURN(const std::string text, file::ReadFile(file));
  Result<Request> request = Parse<Request>(text);
  if (request.ok()) return request;
  return request.status().WithContext(file.string());
}

/// The module whose backend assay-host serves. A worker sends it as the first
/// message through the host's door, so that no argument and no file has it,
/// which a backend could read.
struct HostRequest {
  static const Form& form();

  std::string module;   // its file
  std::string name;     // of the backend
  std::string version;  // that it must be of; empty: any
  int64_t parent = 0;   // process to die with; 0: none
  bool forks = true;    // may it fork to serve
  walls::Walls walls;
};

/// A batch of cases on one backend, for assay-worker.
struct WorkerRequest {
  static const Form& form();

  std::string backend;  // an instance
  std::string module;   // its file; empty: the one of its name
  std::string carrier;  // of messages between ranks: its file
  std::string batch;    // file of plan rows
  std::string journal;  // file; empty: none, and GoogleTest tells the outcomes
  record::RunFacts facts;
  int64_t parent = 0;  // process to die with; 0: none
  /// The variable that a launcher sets to the rank; empty: nothing launched it.
  std::string rank_variable;
  int64_t cases_per_process = 1024;
  bool in_process = false;  // the backend
  walls::Walls walls;       // around it
};

}  // namespace assay::request
