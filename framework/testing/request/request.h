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
//   const std::string text = TextOf(form, &nap);
//   ASSAY_RETURN_IF_ERROR(Parse(text, form, &same));
//
// A field that the text lacks keeps its default. The kind of a request is a
// struct with a form, which lists its fields:
//
//     const Form& NapRequest::form() {
//       using Row = NapRequest;
//       static const Form form = {{"nap", {ASSAY_COLUMN(seconds, "to sleep")}},
//                                 {"seconds"}};
//       return form;
//     }

#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "framework/core/status.h"
#include "framework/file/file.h"
#include "framework/testing/record/columns.h"

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

}  // namespace assay::request
