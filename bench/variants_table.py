#!/usr/bin/env python3
"""variants_table.py: what is asked of triangular solves on a GPU beside the default, the kernels as printed beside ours, and
ILU(0), IC(0) beside cuSPARSE's, from bench/results into docs/results.md, between its marks variants, printed and incomplete."""
import json

from marks import mean, put
from trisolve_lines import RESULTS, SHORT_S, gain, load, pairs_of, run_of

# name, file, the file that has cuSPARSE's time (None: the same)
VARIANTS = [("op N, double (as above)", "h200", None), ("op T", "op-t-h200", None), ("float", "float-h200", None),
            ("float matrix, double vectors; reference: double", "mixed-h200", "h200"),
            ("both ops planned (the default), op N", "both-ops-h200", None), ("both ops planned, op T", "both-ops-t-h200", None),
            ("16 right-hand sides by columns, SpSM", "16rhs-h200", None), ("16 right-hand sides by rows, SpSM", "16rhs-row-h200", None)]
FIRST_GRIDS = "^(5|9)-point 2048x2048$|^(7|27)-point 128x128x128$"
METHODS = ["levr", "levc", "elmr", "elmc", "gsf"]


def cells(pairs):
    gains = [gain(p) for p in pairs]
    return f"{len(pairs)} | {mean(gains):.1f} | {min(gains):.2f} | {sum(g < 1 for g in gains)}" if pairs else " | | | "


def analysis(pairs):
    return f'{mean([a["analyse_s"] / p["analyse_s"] for p, a in pairs]):.2f}' if pairs else ""


def variants():
    lines = ["| what | grids | gain, geometric mean | least | below 1 | real triangles | gain | least | below 1 | analysis over cuSPARSE's |", "|---" * 10 + "|"]
    sources = []
    for text, name, reference in VARIANTS:
        grids = pairs_of(f"laplacian-{name}.json", FIRST_GRIDS, f"laplacian-{reference}.json" if reference else None)
        real = pairs_of(f"matrices-{name}.json", "", f"matrices-{reference}.json" if reference else None)
        sources += [a for _, a in grids + real]
        if grids or real:
            lines.append(f"| {text} | {cells(grids)} | {cells(real)} | {analysis(grids + real)} |")
    short = [p for p in pairs_of("matrices-h200.json") if p[1]["solve_s"] < SHORT_S and all("batch_solve_s" in r for r in p)]
    run, commits = run_of(sources)
    lines += ["", "Grids: the first of each kind, both triangles."]
    if short:
        alone = mean([p["solve_s"] / a["solve_s"] for p, a in short])
        lines.append(f"The {len(short)} real triangles that `auto` solves in less than {SHORT_S * 1e6:.0f} us: gain {mean([gain(p) for p in short]):.2f} "
                     f"back to back in a captured graph (least {min(gain(p) for p in short):.2f}), {alone:.2f} when each solve stands alone between two events.")
    return "\n".join(lines + [f"{run}, commit {commits}."])


def milliseconds(seconds):
    return f"{seconds * 1e3:.3g}"


def printed():
    path = RESULTS / "printed-kernels-h200.json"
    if not path.exists():
        return "Not measured so far."
    own = load([p for p in (RESULTS / "laplacian-methods-h200.json", RESULTS / "matrices-methods-h200.json") if p.exists()])
    theirs = load([path])
    lines = ["| lower triangle | levels | " + " | ".join(f"{m}: printed, ours" for m in METHODS) + " | auto |", "|---" * (len(METHODS) + 3) + "|"]
    ratios = {m: [] for m in METHODS}
    for key, r in theirs.items():
        ours = own.get(key, {})
        row = []
        for m in METHODS:
            row.append(f'{milliseconds(r[m]["solve_s"]) if m in r else ""}, {milliseconds(ours[m]["solve_s"]) if m in ours else ""}')
            if m in r and m in ours:
                ratios[m].append(r[m]["solve_s"] / ours[m]["solve_s"])
        lines.append(f'| {key[0]} | {next(iter(r.values()))["levels"]} | ' + " | ".join(row) + f' | {milliseconds(ours["auto"]["solve_s"]) if "auto" in ours else ""} |')
    lines.append("| printed over ours, geometric mean | | " + " | ".join(f"{mean(ratios[m]):.2f}" if ratios[m] else "" for m in METHODS) + " | |")
    run, commits = run_of([line for r in theirs.values() for line in r.values()])
    return "\n".join(lines + ["", f"Milliseconds of one solve. {run}, commit {commits}."])


def incomplete():
    path = RESULTS / "incomplete-h200.json"
    if not path.exists():
        return "Not measured so far."
    rows = [json.loads(line) for line in open(path)]
    lines = ["| matrix | factor | levels | analysis: ours, cuSPARSE's ms | factorization: ours, cuSPARSE's ms | gain | largest difference of M^-1 r |", "|---" * 7 + "|"]
    for r in rows:
        lines.append(f'| {r["matrix"]} | {r["kind"]}, {r["reference"]} | {r["levels"]} | {milliseconds(r["analyse_s"])}, {milliseconds(r["reference_analyse_s"])} '
                     f'| {milliseconds(r["update_s"])}, {milliseconds(r["reference_update_s"])} | {r["reference_update_s"] / r["update_s"]:.2f} | {r["difference"]:.1g} |')
    for kind in ("ilu0", "ic0"):
        own = [r["reference_update_s"] / r["update_s"] for r in rows if r["kind"] == kind]
        lines.append(f"| geometric mean (least) | {kind} | | | | {mean(own):.2f} ({min(own):.2f}) | |")
    run, commits = run_of(rows)
    return "\n".join(lines + ["", f"{run}, commit {commits}."])


def main():
    put("docs/results.md", "variants", variants())
    put("docs/results.md", "printed", printed())
    put("docs/results.md", "incomplete", incomplete())


if __name__ == "__main__":
    main()
