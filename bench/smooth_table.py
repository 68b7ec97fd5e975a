#!/usr/bin/env python3
"""smooth_table.py [FILE.json...]: Gauss-Seidel sweeps on a GPU in the layout of Li and Zhang's tables 1, 2 and 5, in GFLOPS of
2 x 2 x nnz a pair of sweeps, with their own figures below each line; from JSON lines of `gable bench --measure sweeps`
(default: bench/results/smooth-*-h200.json).
smooth_table.py --docs: writes them between the marks of bench/results/smooth-h200.md, and the summary between those of docs/results.md."""
import json
import re
import sys

from marks import ROOT, mean, put

COLUMNS = ["levr", "levc", "elmr", "elmc", "cus1", "cus2", "gsf"]
TABLES = [("Table 1, 5-point stencil", r"^5-point"), ("Table 1, 9-point stencil", r"^9-point"), ("Table 2, 7-point stencil", r"^7-point"),
          ("Table 2, 27-point stencil", r"^27-point"), ("Table 5, general matrices", r"^(?!\d+-point)")]


def seed_figures():
    """{matrix: {"P100": {column: GFLOPS}, "V100": {...}}} in the seed's order, from tool/seed_figures.inc."""
    figures = {}
    for line in open(ROOT / "tool/seed_figures.inc"):
        m = re.match(r'SEED_(GRID|MATRIX)\("([^"]*)", (.*)\)', line)
        if not m:
            continue
        numbers = [float(v) for v in m.group(3).split(",")][-14:]
        figures[m.group(2)] = {"P100": dict(zip(COLUMNS, numbers[:7])), "V100": dict(zip(COLUMNS, numbers[7:]))}
    return figures


def load(names):
    """({matrix: {method: line}}, [(machine, commit, date)]) of the matrices that the seed has."""
    rows, runs, known = {}, set(), seed_figures()
    for name in names:
        for line in open(name):
            r = json.loads(line)
            if "sweep" not in r or "error" in r or r["matrix"].replace(" (twin)", "") not in known:
                continue
            rows.setdefault(r["matrix"], {})[r["method"]] = r
            runs.add((r["machine"], r["commit"], r["date"]))
    return rows, sorted(runs)


def of(rows, name):
    return rows.get(name) or rows.get(name + " (twin)") or {}


def cell(v):
    return "" if v is None else f"{v:.2f}"


def tables(rows, runs, seed):
    out = []
    for title, pattern in TABLES:
        names = [n for n in seed if re.search(pattern, n) and of(rows, n)]
        if not names:
            continue
        out += [f"{title}:", "", "| matrix | machine | LEVR | LEVC | ELMR | ELMC | CUS1 | CUS2 | GSF | auto |", "|---" * 10 + "|"]
        for n in names:
            here = of(rows, n)
            own = [cell(here[c]["gflops"]) if c in here else "" for c in COLUMNS + ["auto"]]
            label = re.sub(r"^\d+-point ", "", n) + (" (twin)" if n not in rows else "")
            out.append(f"| {label} | H200, Gable | " + " | ".join(own) + " |")
            for gpu in ("V100", "P100"):
                out.append(f"| | {gpu}, the seed | " + " | ".join(cell(seed[n][gpu][c]) for c in COLUMNS) + " | |")
        out.append("")
    out += [f"Here: {m}, commit {c}, {d}." for m, c, d in runs]
    return "\n".join(out)


def summary(rows, runs, seed):
    out = ["| sweeps | matrices | `auto` over the best of Li and Zhang's on V100, geometric mean | least | ELMR here over theirs on V100 "
           "| ELMC | LEVR | LEVC |", "|---" * 8 + "|"]
    for title, pattern in TABLES:
        names = [n for n in seed if re.search(pattern, n) and "auto" in of(rows, n)]
        if not names:
            continue
        gain = [of(rows, n)["auto"]["gflops"] / max(seed[n]["V100"].values()) for n in names]
        own = []
        for c in ("elmr", "elmc", "levr", "levc"):
            ratio = [of(rows, n)[c]["gflops"] / seed[n]["V100"][c] for n in names if c in of(rows, n)]
            own.append(f"{mean(ratio):.1f}" if ratio else "")
        out.append(f"| {title} | {len(names)} | {mean(gain):.1f} | {min(gain):.1f} | " + " | ".join(own) + " |")
    return "\n".join(out + [""] + [f"{m}, commit {c}, {d}." for m, c, d in runs])


def main():
    names = [a for a in sys.argv[1:] if a != "--docs"] or sorted((ROOT / "bench/results").glob("smooth-*-h200.json"))
    rows, runs = load(names)
    seed = seed_figures()
    if "--docs" in sys.argv[1:]:
        put("bench/results/smooth-h200.md", "smooth", tables(rows, runs, seed))
        put("docs/results.md", "smooth", summary(rows, runs, seed))
    else:
        print(tables(rows, runs, seed), "\n\n", summary(rows, runs, seed), sep="")


main()
