# SPDX-License-Identifier: Apache-2.0
"""A source includes, itself or by headers of the tree, what it names of the
headers that the build precompiles: the compiler cannot tell.

    python3 ctest/trial/rules/includes.py
"""

from __future__ import annotations

import re
import sys

from sources import VENDORS, Tree, reached, run

_CMAKE = "ctest/cmake/AssayPrecompiled.cmake"
# The names that are looked for of each, in namespace std. A name of several headers, as
# move and find, counts as that of the header that most have it from.
_NAMES = {
    "algorithm": "all_of any_of binary_search clamp copy count count_if equal fill find"
    " find_if for_each generate lower_bound max max_element min min_element minmax"
    " none_of nth_element ranges remove_if replace reverse rotate sort stable_sort"
    " transform unique upper_bound",
    "array": "array to_array",
    "cmath": "ceil copysign cos erf exp expm1 floor fma fmod frexp hypot ilogb isfinite"
    " isinf isnan ldexp lgamma log log1p log2 lround nearbyint nextafter pow rint round"
    " scalbn signbit sin sqrt tan tanh tgamma trunc",
    "cstring": "memcmp memcpy memmove memset strcmp strerror strlen",
    "filesystem": "filesystem",
    "fstream": "fstream ifstream ofstream",
    "functional": "bind_front cref divides equal_to function greater hash identity"
    " invoke less minus multiplies not_fn plus ref reference_wrapper",
    "limits": "numeric_limits",
    "map": "map multimap",
    "memory": "make_shared make_unique shared_ptr unique_ptr weak_ptr",
    "optional": "make_optional nullopt optional",
    "set": "multiset set",
    "span": "dynamic_extent span",
    "sstream": "istringstream ostringstream stringstream",
    "string": "getline stod stoi stol string to_string",
    "string_view": "string_view",
    "utility": "as_const cmp_less exchange forward index_sequence make_pair"
    " move pair swap",
    "vector": "vector",
}
_HEADER = {name: header for header, names in _NAMES.items() for name in names.split()}
_INTEGER = re.compile(r"\bu?int(?:8|16|32|64|ptr|max)_t\b")
_NO_CODE = re.compile(r'//.*|"(?:\\.|[^"\\\n])*"')


def faults(tree: Tree) -> list[str]:
    system = {}
    project = {}
    for name in tree.sources:
        text = tree.text(name)
        system[name] = set(re.findall(r"^#include <([^>]+)>", text, re.MULTILINE))
        project[name] = re.findall(r'^#include "([^"]+)"', text, re.MULTILINE)
        project[name] += [VENDORS + i for i in system[name] if i.startswith("assay/")]

    def included(name: str) -> set[str]:
        return {i for one in reached(project, [name]) for i in system.get(one, ())}

    missing = []
    for name in tree.sources:
        text = _NO_CODE.sub("", tree.text(name))
        used = {_HEADER.get(word, "") for word in re.findall(r"\bstd::(\w+)", text)}
        if _INTEGER.search(text):
            used.add("cstdint")
        missing += [
            f"{name} does not include <{header}>, of which it names something"
            for header in sorted(used - {""} - included(name))
        ]
    return missing


def found_in(tree: Tree) -> list[str]:
    precompiled = set(re.findall(r"<(\w+)>", tree.text(_CMAKE)))
    return faults(tree) + [
        f"{_CMAKE} and includes.py disagree on <{header}>"
        for header in sorted(precompiled ^ (_NAMES.keys() | {"cstdint"}))
    ]


if __name__ == "__main__":
    held = "sources include what they name"
    sys.exit(run(found_in, lambda tree: f"{len(tree.sources)} {held}"))
