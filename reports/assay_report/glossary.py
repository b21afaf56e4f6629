# SPDX-License-Identifier: Apache-2.0
"""The words of the pages that only this project uses, each with its meaning.

    term("vacuous")   # markup: the word, which says its meaning

A page explains a word where it first stands, and lists them all at its end. The
scripts have the same list: templates/rows.js, `explained`.
"""

from markupsafe import Markup, escape

from assay_report.verdict import OUTCOMES

WORDS = {
    "headroom": "how much of the limit is left at the worst element: 1 is exact, 0 "
    "is at the limit, below 0 is outside",
    "claims": "the cases that a backend says it runs rightly; conformance is about "
    "these alone, other passes are a gift",
    "floor": "the cases of passing.txt, which passed once and must go on passing",
    "conformant": "every case inside the backend's claims passes, and nothing "
    "beside them is unexpected",
    "partial": "not every case was run, so that nothing is said on conformance",
    "vacuous": "the expected outputs are constant or empty, so that a pass says little",
    "corpus": "a set of cases by name, with a digest; expected outputs have digests "
    "of their own, and may drift from those where another machine exports them",
    "tolerance policy": "a digest of the expectations, claims and floors that results "
    "were held against: two runs of one policy can be compared",
    "mutants": "broken backends and broken parts of this harness, which its own tests "
    "must see; one that they see is killed",
    "exact, oracle": "answers in more digits than the type has, with a bound; a "
    "distance within a wide bound is undecided",
    "limit": "how far an element may be off before the case fails",
    "units": "a limit in condition units follows from the computation: how far the "
    "element moves when each input and result is rounded once",
    "placement": "what really computed: the device and the implementation, as the "
    "backend says",
    "probe": "the simple operator that a case of the contract is built of",
    "redrawn": "cases of ONNX at other inputs, drawn from the seed, so that answers "
    "cannot be looked up",
    "special": "cases by hand with exact answers, and the inputs at special values",
    "field": "cases of gradients by hand, many from public bug reports",
    "graphs": "small networks for gradients, written by hand",
    "scaled": "ONNX's light models with fewer channels and smaller images, for "
    "gradients",
    "composed": "networks for gradients that are put together at random",
    "light": "ONNX's nine models of real networks, whose weights are not the trained "
    "ones",
    "golden": "networks whose gradients a person can work out",
    "block": "residual blocks, transformers and others, in training",
    "network": "small networks with their loss",
    "contract": "promises of every backend that no data set shows",
    "cotangent": "the weights of the outputs for which a gradient is taken",
    "kink": "a point where a function has no one derivative, as Relu at 0",
    "hull": "all values that a derivative may have at a kink or a tie",
    "smooth": "a gradient at inputs away from every kink",
    "judge": "a run in float64 with the optimizer's rule in 113 bits, quad",
    "locked": "each step begins where the backend's last one ended; -graph and "
    "-native: the backend computes the update, too",
    "free": "the judge goes its own way, and roundings grow with the steps",
    "staleness": "how many updates behind a gradient's parameters are; in slack3 a "
    "worker waits where it is more than 3 steps ahead of the slowest",
    "consensus": "how far the ranks' parameters are apart",
    "contraction": "by how much a step of averaging brings the ranks together",
    "interval": "where the median of all calls lies, in 95 of 100 such measurements, "
    "by the order of the samples; too narrow where neighbours hang together",
    "exponent": "the median of the slopes between all pairs of sizes, in logarithms "
    "(Theil and Sen), with an interval by Kendall's law",
    "quartile": "a number that one or three quarters of the samples are below; between "
    "the two lies half of them",
    "warm": "called again and again, with other inputs for each sample",
    "cold": "called behind 64 MiB that were written, so that caches hold nothing of it",
    "first call": "the first call of a network, when many libraries choose and compile",
    "noisy": "work waited meanwhile, or other machines took time",
    "roofline": "speed over operations a byte, under what the machine can do at most",
    "unsure": "too few or too different blocks to say same, faster or slower",
    "same": "the whole interval lies within the band that counts for nothing",
    "worse": "slower beyond the band, and so again in a second set of blocks",
    "better": "faster beyond the band, and so again in a second set of blocks",
}


def term(word: str, shown: str = "") -> Markup:
    """The word, explained; one that is not known stays as it is."""
    meaning = WORDS.get(word) or OUTCOMES.get(word)
    if not meaning:
        return escape(shown or word)
    return Markup('<abbr title="{}">{}</abbr>').format(meaning, shown or word)
