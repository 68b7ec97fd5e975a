#!/usr/bin/env python3
"""trisolve_table.py FILE.json...: the tables of the triangular solves on a GPU, in Markdown, from JSON lines of
bench/drivers/trisolve_cuda: cuSPARSE's time, each method's, its gain, and both analyses."""
import json
import math
import sys

rows = {}
for name in sys.argv[1:]:
    for line in open(name):
        r = json.loads(line)
        rows.setdefault((r["matrix"], r["uplo"], r["rhs"]), {})[r["method"]] = r
methods = sorted({m for r in rows.values() for m in r} - {"cusparse"})
print("| matrix | triangle | rhs | levels | cuSPARSE ms | analysis ms | " + " | ".join(f"{m} ms | gain" for m in methods) + " | auto: analysis ms | floor ms (bytes) | floor ms (hops) |")
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
        g = peer["solve_s"] / r[m]["solve_s"]
        gain[m].append(g)
        cells.append(f'{r[m]["solve_s"] * 1e3:.3f} | {g:.2f}')
    if auto:
        analysis.append(auto["analyse_s"] / peer["analyse_s"])
    levels = auto["levels"] if auto else peer["levels"]
    star = "*" if peer["scaled_to_dominance"] else ""
    print(f'| {matrix}{star} | {uplo} | {rhs} | {levels} | {peer["solve_s"] * 1e3:.3f} | {peer["analyse_s"] * 1e3:.2f} | '
          + " | ".join(cells) + f' | {auto["analyse_s"] * 1e3 if auto else 0:.2f} | {peer["floor_bytes_s"] * 1e3:.3f} | {levels * 0.07e-3:.3f} |')
for m in methods:
    if gain[m]:
        mean = math.exp(sum(map(math.log, gain[m])) / len(gain[m]))
        print(f"\n{m}: geometric mean {mean:.2f}, least {min(gain[m]):.2f}, largest {max(gain[m]):.2f} over {len(gain[m])} solves", end="")
if analysis:
    mean = math.exp(sum(map(math.log, analysis)) / len(analysis))
    print(f"\nanalysis of auto over cuSPARSE's: geometric mean {mean:.2f}, largest {max(analysis):.2f}; below a half in {sum(a <= 0.5 for a in analysis)} of {len(analysis)}")
print("\n\\* off-diagonal entries scaled to dominance, because plain substitution overflows")
