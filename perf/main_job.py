#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Where the processor seconds of a default run go, stage by stage.

    perf/main_job.py                  # answers kept, if a run came before
    perf/main_job.py --seed 7         # answers to compute, at a seed not run yet
    perf/main_job.py --filter op:Relu # any other option of `assay run`, too

Samples all processes of a run of reference and onednn with Linux' perf (Debian's
linux-perf), on the clock of the processors, so that no counter of the hardware
is needed. A sample belongs to the first stage of its program that a function on
its stack matches. Prints a table in Markdown; takes some minutes.
"""

import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BACKENDS = ["--backend", "reference", "--backend", "onednn"]
HERTZ = 97
STACK_BYTES = 32768  # less cuts the stacks of gradients
IN_KERNEL = "[kernel.kallsyms]"

# Program, stage, and what the name of a function on the stack has.
STAGES = [
    ("assay", "plan", "PlanOf"),
    ("assay", "answers found", "AskOracle|Client::Find"),
    ("assay", "memory of workers looked at", "EnforceMemoryLimit"),
    ("assay", "journals read", "ReadJournal"),
    ("assay", "verdicts", "verdict::Assess"),
    ("assay", "tables and JUnit", "FinishRun|WriteRunFolder"),
    ("assay", "else", ""),
    ("python", "page", ""),
    ("assay-worker", "oracle", "AnswersSuite|EvaluateFrom|gradcheck::.*Ask"),
    ("assay-worker", "answers read", "measure::ReadAnswers"),
    ("assay-worker", "second runs, the judge's side", "Rechecker"),
    ("assay-worker", "optimizers", "optimizer::|optdiff::"),
    ("assay-worker", "random weights made", "ReadRandomCase"),
    ("assay-worker", "files and inputs", "ReadCase|DataOf|SubjectOf"),
    ("assay-worker", "models copied to hosts", "ModelCrossing"),
    ("assay-worker", "messages", "host::Link::|host::Answer"),
    ("assay-worker", "journal written", "journal::Journal"),
    ("assay-worker", "gradients judged", "gradcheck::"),
    ("assay-worker", "other cases judged", "node::|redrawn::|measure::"),
    ("assay-worker", "else", ""),
    ("assay-host", "messages", "wire::Channel"),
    ("assay-host", "models read", "ModelReader"),
    ("assay-host", "networks loaded", "Server::Load"),
    ("assay-host", "backward", "Backward|GradientRun"),
    ("assay-host", "forward", "Server::Bind|Server::Forward|EagerNetwork::Forward"),
    ("assay-host", "stack without these, as code made at run time", ""),
]


def stage_of(program: str, functions: list[str]) -> tuple[str, str]:
    stack = " ".join(functions)
    for owner, stage, pattern in STAGES:
        if owner == program and re.search(pattern, stack):
            return owner, stage
    return "others", program


def count(samples: str) -> tuple[Counter, Counter]:
    """Samples by stage, and how many of them are the kernel's."""
    total, kernel = Counter(), Counter()
    for sample in samples.split("\n\n"):
        head, *frames = sample.strip("\n").split("\n")
        if not frames:
            continue
        stage = stage_of(head.split()[0], [f.split(None, 1)[1] for f in frames])
        total[stage] += 1
        kernel[stage] += IN_KERNEL in frames[0]
    return total, kernel


def record(folder: Path, options: list[str]) -> str:
    """The samples of a run as text."""
    data = str(folder / "perf.data")
    perf = ["perf", "record", "--quiet", "--event=cpu-clock", f"--freq={HERTZ}"]
    perf += [f"--call-graph=dwarf,{STACK_BYTES}", f"--output={data}", "--"]
    run = [str(ROOT / "build/bin/assay"), "run", *BACKENDS, "--tier", "ci"]
    run += ["--out", str(folder / "run"), *options]
    subprocess.run(perf + run, check=True, stdout=sys.stderr, cwd=ROOT)
    script = ["perf", "script", "--no-inline", "--fields=comm,ip,sym,dso"]
    script.append(f"--input={data}")
    read = subprocess.run(script, check=True, capture_output=True, text=True)
    return read.stdout


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        total, kernel = count(record(Path(folder), sys.argv[1:]))
    every = total.total()
    print(f"{every / HERTZ:.0f} processor seconds in {every} samples\n")
    print("| program | stage | share | of it the kernel's |\n| --- | --- | --- | --- |")
    for (program, stage), n in total.most_common():
        part = 100 * kernel[program, stage] / every
        print(f"| {program} | {stage} | {100 * n / every:.1f} % | {part:.1f} % |")


if __name__ == "__main__":
    main()
