#!/usr/bin/env python3
"""foreign_table.py FILE [--write]: the table of docs/notebook/clusters-gpu.md on imported factors, from the lines of `scripts/device-run OUT
foreign`: solves with a factor of another package over those with Gable's own factor under the same order of columns.  --write puts it there."""
import json
import math
import sys

from marks import put


def main():
    runs = {}
    with open(sys.argv[1], encoding="utf-8") as f:
        for r in map(json.loads, f):
            runs.setdefault((r["beside"], r["matrix"]), {})["own" if r["package"] == "gable" else "imported"] = r
    out = []
    out.append("| matrix | kind | package | values M: imported | own | ratio | us: imported | own | ratio |")
    out.append("|---|---|---|---|---|---|---|---|---|")
    ratios = []
    for (package, matrix), by in runs.items():
        if len(by) < 2:
            continue
        i, o = by["imported"], by["own"]
        values = [r["nnz_l"] + (r["nnz_u"] if r["kind"] == "lu" else 0) for r in (i, o)]
        ratios.append(i["solve_s"] / o["solve_s"])
        out.append(f"| {matrix} | {i['kind']} | {package} | {values[0] / 1e6:.2f} | {values[1] / 1e6:.2f} | {values[0] / values[1]:.2f} | "
                   f"{1e6 * i['solve_s']:.0f} | {1e6 * o['solve_s']:.0f} | {ratios[-1]:.2f} |")
    if ratios:
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        out.append(f"\nImported over own: {mean:.2f} in the geometric mean of {len(ratios)}, at most {max(ratios):.2f} (target 1.3)")
    print("\n".join(out))
    if "--write" in sys.argv[2:]:
        put("docs/notebook/clusters-gpu.md", "foreign", "\n".join(out))


main()
