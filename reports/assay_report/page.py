# SPDX-License-Identifier: Apache-2.0
"""The verb `page`: one self-contained HTML file from one run folder.

    write_page(Path("runs/latest"), Path("report.html"))

Head, verdicts and unexpected results are plain HTML, readable without
scripts; the matrix of cases and backends is drawn by the scripts from packed
data, and what stands below it when it is about to be seen. The same run folder
gives the same bytes.
"""

import json
import os
import re
import shlex
import tempfile
from functools import cache
from pathlib import Path

import jinja2
from markupsafe import Markup

from assay_report.causes import foremost, short_names
from assay_report.distributed import assess_ranks, rank_rows
from assay_report.glossary import WORDS, term
from assay_report.gradient_payload import pack_gradients
from assay_report.gradients import (
    CONVENTIONS,
    Gradients,
    assess_gradients,
    gradient_rows,
)
from assay_report.losses import losses_of
from assay_report.operators import operator_rows, pack_operators
from assay_report.payload import Cells, cells_of, pack, shown
from assay_report.plot import seconds_text
from assay_report.rank_costs import agreement_of, assess_costs, mixing_of
from assay_report.run_folder import Run, flag, read_run
from assay_report.scaling import SMPI, Network, assess_curves
from assay_report.simulated import assess_simulated
from assay_report.steps import assess_steps
from assay_report.times.drawing import sign
from assay_report.times.packing import pack_times
from assay_report.times.section import assess_times
from assay_report.verdict import OUTCOMES, STATES, Assessment, assess

_TEMPLATES = Path(__file__).with_name("templates")
_SCRIPTS = (
    *("query.js", "store.js", "later.js", "rows.js", "matrix.js", "detail.js"),
    *("gradients.js", "table.js", "operators.js", "times/times.js", "lists.js"),
    "main.js",
)
_STYLES = (
    *("page.css", "gradients.css", "plot.css", "distributed.css", "times/times.css"),
)
# More than these are drawn only when asked for: a browser is slow with many.
_UNEXPECTED_ROWS = 30
_FAULTS = 20
# A number of a sentence that stands alone, but for a seed.
_NUMBER = re.compile(r"(?<![\w.,/+-])(?<!seed )\d{4,}(?![\w/+-]|[.,]\d)")


def write_page(run_folder: Path, out: Path, network: Network = SMPI) -> None:
    """Reads the run folder and replaces `out` in one step."""
    write_whole(out, render_page(read_run(run_folder), network))


def render_page(run: Run, network: Network = SMPI) -> str:
    """The page as text. Times of ranks are simulated on `network`."""
    assessment = assess(run)
    cells = cells_of(run, assessment)
    gradients, gradient_block = _gradients(run, cells)
    causes = foremost(assessment.causes)
    n_told = sum(one.n + one.n_promises + one.n_gradients for one in causes)
    return (
        environment()
        .get_template("page.html")
        .render(
            run=run.facts,
            summary=run.summary,
            is_complete=flag(run.facts["complete"], "runs.csv: complete"),
            is_dirty=flag(run.facts["dirty"], "runs.csv: dirty"),
            selection=_selection(run),
            env=_environment_rows(run),
            headline=assessment.headline,
            verdicts=assessment.backends,
            states=STATES,
            outcomes=OUTCOMES,
            words=WORDS,
            words_json=_json(OUTCOMES | WORDS),
            causes=causes,
            short=dict(zip(cells.backends, short_names(cells.backends))),
            n_more_causes=len(assessment.causes) - sum(one.n_joined for one in causes),
            n_more_results=len(assessment.unexpected) - n_told,
            unexpected=assessment.unexpected[:_UNEXPECTED_ROWS],
            n_unexpected=len(assessment.unexpected),
            n_cases=len(set(run.results["test_id"])),
            gradients=gradients,
            faults=gradients.faults[:_FAULTS] if gradients else (),
            conventions=CONVENTIONS,
            blocks=pack(run, assessment, cells),
            gradient_block=gradient_block,
            steps=assess_steps(run.steps),
            **_ranks(run, cells, network),
            operator_block=_operators(run, assessment, cells),
            **_times(run, cells),
            folder=_folder(run),
            programs=_without_files(run),
            style=inline(*_STYLES),
            script=inline(*_SCRIPTS),
        )
    )


@cache
def environment() -> jinja2.Environment:
    """The templates of all pages, made once."""
    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters.update(
        thousands="{:,}".format,
        seconds=seconds_text,
        duration=_duration,
        moment=_moment,
        shown=shown,
        digits=_digits,
    )
    made.globals.update(term=term, sign=sign)
    return made


def _gradients(run: Run, cells: Cells) -> tuple[Gradients | None, str]:
    """The gradients of the page, and the scripts' block, where a run has any."""
    if not len(run.gradients):
        return None, ""
    rows = gradient_rows(run, cells)
    gradients = assess_gradients(cells, rows)
    return gradients, pack_gradients(cells, rows, gradients.types)


def _ranks(run: Run, cells: Cells, network: Network) -> dict[str, object]:
    """The ranks of the page; `ranks` is None for a run without any."""
    if not len(run.ranks):
        return {"ranks": None}
    rows = rank_rows(run, cells)
    ranks = assess_ranks(cells, rows)
    return {
        "ranks": ranks,
        "rank_costs": assess_costs(cells, rows, ranks),
        "agreement": agreement_of(cells, rows),
        "mixing": mixing_of(cells, rows),
        "losses": losses_of(cells, rows),
        "curves": assess_curves(rows, network),
        "simulated": assess_simulated(rows),
    }


def _times(run: Run, cells: Cells) -> dict[str, object]:
    """The times of the page; `times` is None for a run without any."""
    times = assess_times(run, cells)
    block = pack_times(cells, times.rows) if times and times.rows.of_cell else ""
    return {"times": times, "time_block": block}


def _operators(run: Run, assessment: Assessment, cells: Cells) -> str:
    """The scripts' block of operators and backends; empty for a run of none."""
    unexpected = {
        cells.of(one.test_id, one.backend)
        for one in assessment.unexpected
        if cells.has(one.test_id, one.backend)
    }
    rows = operator_rows(run, cells, unexpected)
    return pack_operators(rows) if rows else ""


def _folder(run: Run) -> str:
    """The run's folder as its command named it, for commands that look at it."""
    try:
        words = shlex.split(run.facts["command"])
    except ValueError:
        words = []
    for at, word in enumerate(words):
        if word.startswith("--out="):
            return word.removeprefix("--out=")
        if word == "--out" and at + 1 < len(words):
            return words[at + 1]
    return f"runs/{run.facts['run_id']}"


def _without_files(run: Run) -> dict[str, str]:
    """Suites whose cases are programs, which no command writes, and those among
    them whose names have ranks, which can be made small."""
    suites: dict[str, set[str]] = {"all": set(), "sized": set()}
    plan = run.plan
    for test_id, folder, ranks in zip(
        plan["test_id"], plan["directory"], plan["ranks"]
    ):
        if not folder:
            suites["all"].add(test_id.split("/")[0])
            if ranks not in ("", "0"):
                suites["sized"].add(test_id.split("/")[0])
    return {name: " ".join(sorted(found)) for name, found in suites.items()}


def _selection(run: Run) -> list[tuple[str, str]]:
    """The selection of a partial run: suites and filter, else its corpora."""
    summary = run.summary
    corpora = dict.fromkeys(tally.corpus for tally in summary.tallies)
    parts = [("suites", ", ".join(summary.suites)), ("cases where", summary.query)]
    chosen = [part for part in parts if part[1]]
    return chosen or [("corpora", ", ".join(corpora))]


def _environment_rows(run: Run) -> list[tuple[str, str]]:
    rows = zip(run.env["env_id"], run.env["key"], run.env["value"])
    return [(key, value) for env, key, value in rows if env == run.facts["env_id"]]


def inline(*names: str) -> Markup:
    """Our own files as they are; never data."""
    return Markup("\n").join(
        Markup((_TEMPLATES / name).read_text(encoding="ascii")) for name in names
    )


def _json(value: object) -> Markup:
    """Our own words as a block of data, which no text of theirs ends."""
    return Markup(json.dumps(value).replace("<", "\\u003c"))


def _digits(text: str) -> str:
    """The sentence with its counts written as the page writes them."""
    return _NUMBER.sub(lambda found: f"{int(found[0]):,}", text)


def _moment(text: str) -> str:
    """2026-03-01T12:00:00Z as a person writes it; other text stays."""
    if len(text) > 11 and text[10] == "T" and text.endswith("Z"):
        return f"{text[:10]} {text[11:-1]} UTC"
    return text


def _duration(text: str) -> str:
    """Seconds as a person says them; unreadable text stays as it is."""
    try:
        seconds = float(text)
    except ValueError:
        return text or "not measured"
    if seconds < 60:
        return f"{seconds:.3g} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"


def write_whole(out: Path, text: str) -> None:
    """Writes beside `out`, then renames: a reader sees old or new, whole."""
    descriptor, name = tempfile.mkstemp(dir=out.parent, prefix=f".{out.name}.")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(name, 0o666 & ~mask)
        os.replace(name, out)
    except BaseException:
        os.unlink(name)
        raise
