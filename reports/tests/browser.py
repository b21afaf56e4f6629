# SPDX-License-Identifier: Apache-2.0
"""Runs a page in Debian's Chromium and brings back what a script found.

    browse(page, "await main(); return document.title;")
    self.seen(files, "return document.title;")   # of a run, in a BrowserCase

The script is the body of an async function in place of the page's last line,
`main();`, so it sees all that the page's scripts define. The answer comes
over Chromium's log, which needs nothing but Chromium itself.
"""

import json
import os
import shutil
import subprocess
import tempfile
import threading
import unittest
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from synthetic import RunFiles

CHROMIUM = shutil.which("chromium")
_START = "\nmain();\n"
_MARK = "assay-answer:"
_LIMIT_S = 60
# A headless window is no narrower; a narrower page is shown in a frame.
_LEAST_WIDTH = 500
# Before a script of a BrowserCase.
_READY = """
await main();
const get = (id) => document.getElementById(id);
const all = (selector) => [...document.querySelectorAll(selector)];
const panel = get('panel');
const until = async (test) => {
  while (!test()) await new Promise(requestAnimationFrame);
};
const sideways = () => document.documentElement.scrollWidth -
  document.documentElement.clientWidth;
"""


@unittest.skipUnless(CHROMIUM, "no chromium on this machine")
class BrowserCase(unittest.TestCase):
    """A test of a page in Chromium."""

    # Names for its scripts.
    prelude = ""

    def seen(self, files: RunFiles, script: str, **options: Any) -> Any:
        """The answer of a script on the page of a run, once that is drawn."""
        return browse(files.page(), _READY + self.prelude + script, **options)

    def assert_sees(
        self, wanted: object, files: RunFiles, script: str, **options: Any
    ) -> None:
        self.assertEqual(self.seen(files, script, **options), wanted)

    def panel_of(
        self, files: RunFiles, test_id: str, backend: str, state: str = ""
    ) -> str:
        """The words of the panel that an address opens."""
        script = """
            await until(() => panel.open);
            for (const one of panel.querySelectorAll('details')) one.open = true;
            return panel.innerText.replace(/\\s+/g, ' ');
            """
        cell = f"case={test_id.replace('#', '%23')}&backend={backend}"
        return str(self.seen(files, script, hash_text=state + cell))


def browse(page: str, script: str, hash_text: str = "", width: int = 1440) -> Any:
    """The JSON value that `script` returns; raises RuntimeError."""
    assert CHROMIUM is not None
    assert page.count(_START) == 1, "the page does not start with main()"
    probe = (
        f"\n(async () => {{\n{script}\n}})().then(\n"
        "  (value) => ({value}), (error) => ({error: String(error?.stack)}),\n"
        f").then((answer) => console.log('{_MARK}' + encodeURIComponent(\n"
        "  JSON.stringify(answer)) + ';'));\n"
    )
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
        file = Path(scratch) / "page.html"
        file.write_text(page.replace(_START, probe), encoding="utf-8")
        address = f"{file.as_uri()}#{hash_text}"
        if width < _LEAST_WIDTH:
            address = _framed(address, width, Path(scratch) / "frame.html")
        command = [
            CHROMIUM,
            "--headless",
            "--disable-gpu",
            "--no-first-run",
            "--enable-logging=stderr",
            f"--user-data-dir={scratch}/profile",
            f"--window-size={max(width, _LEAST_WIDTH)},900",
            *(["--no-sandbox"] if os.geteuid() == 0 else []),
            address,
        ]
        return _answer(command)


def _framed(address: str, width: int, file: Path) -> str:
    """The address of a page that shows the other as a phone does."""
    file.write_text(
        '<!doctype html><body style="margin:0"><iframe style="border:0;'
        f'width:{width}px;height:780px" src="{escape(address)}"></iframe>'
    )
    return file.as_uri()


def _answer(command: list[str]) -> Any:
    with subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as chromium:
        watchdog = threading.Timer(_LIMIT_S, chromium.kill)
        watchdog.start()
        said: list[str] = []
        try:
            assert chromium.stderr is not None
            for line in chromium.stderr:
                said.append(line)
                if _MARK in line:
                    return _decoded(line)
        finally:
            watchdog.cancel()
            chromium.terminate()
    raise RuntimeError("the page gave no answer:\n" + "".join(said[-20:]))


def _decoded(line: str) -> Any:
    text = line.split(_MARK, 1)[1].split(";", 1)[0]
    answer = json.loads(unquote(text))
    if "error" in answer:
        raise RuntimeError(answer["error"])
    return answer.get("value")
