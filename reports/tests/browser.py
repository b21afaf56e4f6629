# SPDX-License-Identifier: Apache-2.0
"""Runs a page in Debian's Chromium and brings back what a script found.

    browse(page, "await main(); return document.title;")

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
from pathlib import Path
from typing import Any
from urllib.parse import unquote

CHROMIUM = shutil.which("chromium")
_START = "\nmain();\n"
_MARK = "assay-answer:"
_LIMIT_S = 60


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
        command = [
            CHROMIUM,
            "--headless",
            "--disable-gpu",
            "--no-first-run",
            "--enable-logging=stderr",
            f"--user-data-dir={scratch}/profile",
            f"--window-size={width},900",
            *(["--no-sandbox"] if os.geteuid() == 0 else []),
            f"{file.as_uri()}#{hash_text}",
        ]
        return _answer(command)


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
