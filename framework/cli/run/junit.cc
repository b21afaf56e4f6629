// SPDX-License-Identifier: Apache-2.0

#include "framework/cli/run/junit.h"

#include <map>
#include <pugixml.hpp>
#include <sstream>
#include <string>

#include "framework/file/csv.h"

namespace assay::run {
namespace {

/// failure, error or skipped; null for what counts as passed.
const char* ElementOf(record::Outcome outcome) {
  switch (outcome) {
    case record::Outcome::kPass:
    case record::Outcome::kWaived:
      return nullptr;
    case record::Outcome::kFail:
    case record::Outcome::kSuspect:
    case record::Outcome::kXpass:
    case record::Outcome::kFlaky:
      return "failure";
    case record::Outcome::kUnsupported:
    case record::Outcome::kUnavailable:
    case record::Outcome::kXfail:
      return "skipped";
    case record::Outcome::kError:
    case record::Outcome::kCrash:
    case record::Outcome::kTimeout:
    case record::Outcome::kMissing:
      return "error";
  }
  return "error";
}

double Seconds(const record::ResultRow& row) {
  return static_cast<double>(row.load_us.value_or(0) + row.run_us.value_or(0) +
                             row.judge_us.value_or(0)) *
         1e-6;
}

void AddProperty(pugi::xml_node properties, const char* name,
                 const std::string& value) {
  if (value.empty()) return;
  pugi::xml_node property = properties.append_child("property");
  property.append_attribute("name") = name;
  property.append_attribute("value") = value.c_str();
}

void AddCase(pugi::xml_node suite, const record::Record& record) {
  const record::ResultRow& row = record.result;
  pugi::xml_node test = suite.append_child("testcase");
  test.append_attribute("name") = row.test_id.c_str();
  test.append_attribute("classname") =
      StrCat(row.backend, ".", row.suite, ".", row.op).c_str();
  test.append_attribute("time") = file::ToText(Seconds(row)).c_str();
  pugi::xml_node properties = test.append_child("properties");
  AddProperty(properties, "outcome", std::string(ToString(row.outcome)));
  AddProperty(properties, "vacuous", row.vacuous ? "1" : "");
  AddProperty(properties, "limit_source", row.limit_source);
  if (row.headroom)
    AddProperty(properties, "headroom", file::ToText(*row.headroom));
  AddProperty(properties, "placement", row.placement);
  AddProperty(properties, "repro", row.repro);
  const char* element = ElementOf(row.outcome);
  if (element == nullptr) return;
  pugi::xml_node verdict = test.append_child(element);
  verdict.append_attribute("message") =
      StrCat(row.outcome, ": ", row.message).c_str();
  if (std::string_view(element) != "skipped") {
    verdict.append_attribute("type") =
        (row.reason_code.empty() ? std::string(ToString(row.outcome))
                                 : row.reason_code)
            .c_str();
    // Pages that show no properties show the text of a failure.
    if (!row.repro.empty()) verdict.text() = row.repro.c_str();
  }
}

}  // namespace

std::string JUnitXml(const std::string& suite, const std::string& backend,
                     const std::vector<record::Record>& records) {
  pugi::xml_document document;
  pugi::xml_node declaration = document.append_child(pugi::node_declaration);
  declaration.append_attribute("version") = "1.0";
  declaration.append_attribute("encoding") = "UTF-8";
  pugi::xml_node root =
      document.append_child("testsuites").append_child("testsuite");
  root.append_attribute("name") = StrCat(suite, ".", backend).c_str();
  int64_t tests = 0;
  std::map<std::string_view, int64_t> elements;
  double seconds = 0;
  for (const record::Record& record : records) {
    if (record.result.suite != suite || record.result.backend != backend) {
      continue;
    }
    ++tests;
    seconds += Seconds(record.result);
    const char* element = ElementOf(record.result.outcome);
    if (element != nullptr) ++elements[element];
    AddCase(root, record);
  }
  root.append_attribute("tests") = std::to_string(tests).c_str();
  root.append_attribute("failures") =
      std::to_string(elements["failure"]).c_str();
  root.append_attribute("errors") = std::to_string(elements["error"]).c_str();
  root.append_attribute("skipped") =
      std::to_string(elements["skipped"]).c_str();
  root.append_attribute("time") = file::ToText(seconds).c_str();
  std::ostringstream out;
  document.save(out, " ");
  return std::move(out).str();
}

}  // namespace assay::run
