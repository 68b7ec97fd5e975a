#!/usr/bin/env python3
"""Fits the steps of src/cuda/gpu_class.c's triangular solves again, to every second matrix by name, and prints what that and the table's
constants miss on the other matrices.  Changes nothing.

trisolve_cost.py: reads bench/results/matrices-methods-h200.json.  The results hold rows, levels, entries and what the model said, not the
features (levels' widths, chain levels) that decide between its formulas; the formula of a triangle is the one that gives the recorded
prediction.  Triangles that are solved level by level, and those whose tiles the model did not predict, are left out."""
import json
import math
import os
import re

from linear_system import solve

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
WHY = re.compile(r"(\d+) rows in (\d+) levels .* model says tiles ([-0-9.e]+) s, rows ([-0-9.e]+) s(.*)")
with open(os.path.join(ROOT, "src/cuda/gpu_class.c"), encoding="utf-8") as f:
    T = {name: float(x) for name, x in re.findall(r"\.(\w+) =\s*([-0-9.e]+)[,}]", f.read().split(".sweep =")[0])}


def triangles():
    """Each triangle that auto predicted: its numbers, the model's two and the measured two."""
    by = {}
    with open(os.path.join(ROOT, "bench/results/matrices-methods-h200.json"), encoding="utf-8") as f:
        for line in f:
            r = json.loads(line)
            by.setdefault((r["matrix"], r["uplo"]), {})[r["method"]] = r
    for (matrix, _), runs in sorted(by.items()):
        found = "auto" in runs and WHY.match(runs["auto"]["why"])
        if not found or "level by level" in found[5] or not {"rows", "tiles"} <= set(runs):
            continue
        n, levels, tiles, rows = int(found[1]), int(found[2]), float(found[3]), float(found[4])
        entries = runs["auto"]["nnz"] - n  # the diagonal is not counted
        yield {"matrix": matrix, "n": n, "levels": levels, "m": entries / n, "entries": entries, "tiles": tiles, "rows": rows,
               "rows_s": runs["rows"]["solve_s"], "tiles_s": runs["tiles"]["solve_s"], "used": runs["auto"]["method_used"]}


def same(a, b):
    """To the three digits that were printed."""
    return abs(a - b) <= 0.006 * b


def rest(t, start):
    """Seconds that are not steps."""
    flood = max(0, t["n"] / t["levels"] - T["flood_rows"]) * T["flood"] * (1 + t["m"] / 4) if start == "rows_start" else 0
    return T[start] + t["levels"] * flood + (12 * t["entries"] + 40 * t["n"]) / T["bytes_s"]


def log_of(t):
    return math.log2(1 + t["entries"] / (100 * t["levels"]))


# formula: where it starts, what it predicts, its constants, and what they are multiplied with in a step
FORMULAS = {
    "rows, near": ("rows_start", "rows", ("hop", "hop_entry"), lambda t: (1, t["m"])),
    "rows, scattered": ("rows_start", "rows", ("far_hop", "far_entry", "far_log"), lambda t: (1, t["m"], log_of(t))),
    "tiles, narrow levels": ("tiles_start", "tiles", ("narrow_step", "narrow_entry"), lambda t: (1, t["m"])),
    "tiles, chains side by side": ("tiles_start", "tiles", ("side_step",), lambda t: (1,)),
}


def predicted(t, formula, constants):
    start, _, _, terms = FORMULAS[formula]
    return rest(t, start) + t["levels"] * sum(c * x for c, x in zip(constants, terms(t)))


def table(formula):
    return [T[name] for name in FORMULAS[formula][2]]


def fit(runs, formula):
    """Least squares of relative errors of the measured seconds."""
    start, what, names, terms = FORMULAS[formula]
    a = [[t["levels"] * x / t[what + "_s"] for x in terms(t)] for t in runs]
    b = [1 - rest(t, start) / t[what + "_s"] for t in runs]
    n = range(len(names))
    return solve([[sum(r[i] * r[j] for r in a) for j in n] + [sum(r[i] * y for r, y in zip(a, b))] for i in n])


def missed(runs, formula, constants):
    """Root mean square, median and worst of measured over predicted, as factors; 1.00: none."""
    off = sorted(abs(math.log(t[FORMULAS[formula][1] + "_s"] / predicted(t, formula, constants))) for t in runs)
    return tuple(math.exp(x) for x in (math.sqrt(sum(x * x for x in off) / len(off)), off[len(off) // 2], off[-1]))


def choices(runs, rows_of):
    """Time of the choice over the better one: mean, largest, how many above 1.15."""
    ratios = []
    for t in runs:
        took = t["tiles_s"] if t["tiles"] < T["tiles_bar"] * rows_of(t) else t["rows_s"]
        ratios.append(took / min(t["tiles_s"], t["rows_s"]))
    return f"mean {sum(ratios) / len(ratios):.3f}, largest {max(ratios):.2f}, above 1.15 {sum(x > 1.15 for x in ratios)} of {len(ratios)}"


def main():
    all_of = list(triangles())
    names = sorted({t["matrix"] for t in all_of})
    fitted, rows_formula = {}, {}
    for formula, (_, what, constants, _) in FORMULAS.items():
        mine = [t for t in all_of if same(t[what], predicted(t, formula, table(formula)))]
        half = [t for t in mine if t["matrix"] in names[::2]]
        others = [t for t in mine if t["matrix"] in names[1::2]]
        if len(half) < 2 * len(constants) or not others:
            print(f"{formula}: {len(half)} and {len(others)} triangles: too few for a fit")
            continue
        fitted[formula] = fit(half, formula)
        if what == "rows":
            rows_formula.update({id(t): formula for t in mine})
        print(f"{formula}: {len(half)} triangles fitted, {len(others)} others; ns: "
              + ", ".join(f"{n} {1e9 * T[n]:.3g}, fitted {1e9 * x:.3g}" for n, x in zip(constants, fitted[formula])))
        for what_of, c in (("table", table(formula)), ("fitted", fitted[formula])):
            print(f"    {what_of}: the others are off by {{:.2f}} (root mean square), {{:.2f}} (median), {{:.2f}} (worst)".format(*missed(others, formula, c)))
    others = [t for t in all_of if t["matrix"] in names[1::2] and id(t) in rows_formula]
    print("choice of tiles or rows on the others, by the table: " + choices(others, lambda t: t["rows"]))
    print("with rows as fitted: " + choices(others, lambda t: predicted(t, rows_formula[id(t)], fitted[rows_formula[id(t)]])))


main()
