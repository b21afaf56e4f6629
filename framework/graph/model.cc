// SPDX-License-Identifier: Apache-2.0

#include "framework/graph/model.h"

#include <algorithm>

namespace assay::inline v1 {

const Attribute* Node::Find(std::string_view attribute) const {
  const auto found = std::ranges::find(attributes, attribute, &Attribute::name);
  return found == attributes.end() ? nullptr : &*found;
}

std::string Node::Label() const {
  return StrCat(op_type, name.empty() ? "" : StrCat(" '", name, "'"),
                function.empty() ? "" : StrCat(" in ", function));
}

const Value* Graph::FindInitializer(ValueId id) const {
  const auto found =
      std::ranges::lower_bound(initializers, id, {}, &Initializer::id);
  return found == initializers.end() || found->id != id ? nullptr
                                                        : &found->value;
}

ValueId Graph::FindValue(std::string_view name) const {
  const auto found = std::ranges::find(values, name, &ValueInfo::name);
  return found == values.end() ? kNoValue
                               : static_cast<ValueId>(found - values.begin());
}

}  // namespace assay::inline v1
