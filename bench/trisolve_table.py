#!/usr/bin/env python3
"""trisolve_table.py FILE.json...: the tables of the triangular solves on a GPU, in Markdown, from JSON lines of
`gable bench --json`: cuSPARSE's time, each method's, its gain, and both analyses.
trisolve_table.py --readme: the summary of bench/results between the marks of README.md."""
import json
import math
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
MARKS = ("<!-- gpu:begin -->", "<!-- gpu:end -->")
SETS = [("laplacian-h200.json", r"^5-", "5 points, two dimensions"), ("laplacian-h200.json", r"^9-", "9 points, two dimensions"),
        ("laplacian-h200.json", r"^7-", "7 points, three dimensions"), ("laplacian-h200.json", r"^27-", "27 points, three dimensions"),
        ("laplacian-h200.json", "", "all 20 Laplacians"), ("laplacian-permuted-h200.json", "", "the Laplacians numbered at random, random values"),
        ("matrices-h200.json", "", "triangles of real matrices"),
        ("matrices-seed-h200.json", "", "twins of the seed's table 4"),
        ("laplacian-16rhs-h200.json", r"^5-", "16 right-hand sides against SpSM, 5 points"),
        ("laplacian-16rhs-h200.json", r"^[^5]", "16 right-hand sides against SpSM, 9, 7 and 27 points"),
        ("matrices-16rhs-h200.json", "", "16 right-hand sides against SpSM, triangles of real matrices")]


def load(names):
    """{(matrix, triangle, right-hand sides): {method: line}}"""
    rows = {}
    for name in names:
        for line in open(name):
            r = json.loads(line)
            if "sweep" in r or "error" in r:
                continue
            rows.setdefault((r["matrix"], r["uplo"], r["rhs"]), {})[r["method"]] = r
    return rows


def mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def table(rows):
    methods = sorted({m for r in rows.values() for m in r} - {"cusparse"})
    print("| matrix | triangle | rhs | levels | cuSPARSE ms | analysis ms | " + " | ".join(f"{m} ms | gain" for m in methods)
          + " | auto: analysis ms | floor ms (bytes) | floor ms (hops) |")
    print("|---" * (9 + 2 * len(methods)) + "|")
    gain = {m: [] for m in methods}
    analysis = []
    for (matrix, uplo, rhs), r in rows.items():
        if "cusparse" not in r:
            continue
        peer, auto, cells = r["cusparse"], r.get("auto"), []
        for m in methods:
            if m not in r:
                cells.append(" | ")
                continue
            gain[m].append(peer["solve_s"] / r[m]["solve_s"])
            cells.append(f'{r[m]["solve_s"] * 1e3:.3f} | {gain[m][-1]:.2f}')
        if auto:
            analysis.append(auto["analyse_s"] / peer["analyse_s"])
        levels = auto["levels"] if auto else peer["levels"]
        star = "*" if peer["scaled_to_dominance"] else ""
        print(f'| {matrix}{star} | {uplo} | {rhs} | {levels} | {peer["solve_s"] * 1e3:.3f} | {peer["analyse_s"] * 1e3:.2f} | '
              + " | ".join(cells)
              + f' | {auto["analyse_s"] * 1e3 if auto else 0:.2f} | {peer["floor_bytes_s"] * 1e3:.3f} | {levels * 0.07e-3:.3f} |')
    for m in methods:
        if gain[m]:
            print(f"\n{m}: geometric mean {mean(gain[m]):.2f}, least {min(gain[m]):.2f}, largest {max(gain[m]):.2f} over {len(gain[m])} solves",
                  end="")
    if analysis:
        print(f"\nanalysis of auto over cuSPARSE's: geometric mean {mean(analysis):.2f}, largest {max(analysis):.2f}; "
              f"below a half in {sum(a <= 0.5 for a in analysis)} of {len(analysis)}")
    print("\n\\* off-diagonal entries scaled to dominance, because plain substitution overflows")


def summary():
    """The README's table: a line a set of bench/results, and which run it is."""
    lines = ["| set | solves | gain of `auto`, geometric mean | least | largest | analysis: time over cuSPARSE's | commit |",
             "|---|---|---|---|---|---|---|"]
    runs = set()
    for name, pattern, text in SETS:
        pairs = [(r["cusparse"], r["auto"]) for key, r in load([ROOT / "bench/results" / name]).items()
                 if re.search(pattern, key[0]) and "cusparse" in r and "auto" in r]
        gain = [p["solve_s"] / a["solve_s"] for p, a in pairs]
        runs |= {(a["machine"], a["date"]) for _, a in pairs}
        commits = ", ".join(sorted({a["commit"] for _, a in pairs}))
        lines.append(f"| {text} | {len(pairs)} | {mean(gain):.1f} | {min(gain):.2f} | {max(gain):.1f} | "
                     f"{mean([a['analyse_s'] / p['analyse_s'] for p, a in pairs]):.2f} | {commits} |")
    lines.append("")
    lines += [f"{machine}, {date}." for machine, date in sorted(runs)]
    return "\n".join(lines)


def main():
    if sys.argv[1:] != ["--readme"]:
        table(load(sys.argv[1:]))
        return
    readme = ROOT / "README.md"
    block = f"{MARKS[0]}\n{summary()}\n{MARKS[1]}"
    readme.write_text(re.sub(MARKS[0] + ".*?" + MARKS[1], lambda _: block, readme.read_text(), flags=re.S))


main()
