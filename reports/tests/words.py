# SPDX-License-Identifier: Apache-2.0
"""A page as text, and texts that no page may take for anything else."""

import html.parser
import re
import unittest

from synthetic import RunFiles

HOSTILE = (
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "\" onmouseover='alert(1)",
    "{{ 7 * 7 }} {% raw %} &lt;b&gt;",
    "line\nbreak\u2028and \u202e\u00e9\U0001f600",
)


class Words(html.parser.HTMLParser):
    """Collects elements, and the text of a page without scripts and styles."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.ids: list[str] = []
        self._silent = 0
        self._words: list[str] = []
        self.feed(re.sub("</?abbr[^>]*>", "", page))  # a word as any other
        self.text = " ".join(" ".join(self._words).split())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self.ids += [value for name, value in attrs if name == "id" and value]
        self._silent += tag in ("script", "style")

    def handle_endtag(self, tag: str) -> None:
        self._silent -= tag in ("script", "style")

    def handle_data(self, data: str) -> None:
        if not self._silent:
            self._words.append(data)


class WordsCase(unittest.TestCase):
    """A test of what a page says."""

    def assert_stays_text(self, text: str, files: RunFiles, tags: set[str]) -> Words:
        """The page of a run with a hostile text shows it, and has no other tags."""
        found = Words(files.page())
        self.assertIn(" ".join(text.split()), found.text)
        self.assertLessEqual({tag for tag, _ in found.tags}, tags)
        attributes = {name for _, having in found.tags for name in having}
        self.assertEqual([name for name in attributes if name.startswith("on")], [])
        return found

    def assert_is_steady(self, pages: set[str]) -> Words:
        """The same run gave the same page, whose ids are unique."""
        self.assertEqual(len(pages), 1)
        found = Words(pages.pop())
        self.assertEqual(len(found.ids), len(set(found.ids)))
        return found
