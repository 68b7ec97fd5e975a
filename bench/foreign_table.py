#!/usr/bin/env python3
"""foreign_table.py FILE: the table of docs/notebook/clusters-gpu.md on imported factors, from the lines of `scripts/device-run OUT foreign`:
solves with a factor of another package over those with Gable's own factor under the same order of columns."""
import json
import math
import sys


def main():
    runs = {}
    with open(sys.argv[1], encoding="utf-8") as f:
        for r in map(json.loads, f):
            runs.setdefault((r["beside"], r["matrix"]), {})["own" if r["package"] == "gable" else "imported"] = r
    print("| matrix | kind | package | values M: imported | own | ratio | us: imported | own | ratio |")
    print("|---|---|---|---|---|---|---|---|---|")
    ratios = []
    for (package, matrix), by in runs.items():
        if len(by) < 2:
            continue
        i, o = by["imported"], by["own"]
        values = [r["nnz_l"] + (r["nnz_u"] if r["kind"] == "lu" else 0) for r in (i, o)]
        ratios.append(i["solve_s"] / o["solve_s"])
        print(f"| {matrix} | {i['kind']} | {package} | {values[0] / 1e6:.2f} | {values[1] / 1e6:.2f} | {values[0] / values[1]:.2f} | "
              f"{1e6 * i['solve_s']:.0f} | {1e6 * o['solve_s']:.0f} | {ratios[-1]:.2f} |")
    if ratios:
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        print(f"\nImported over own: {mean:.2f} in the geometric mean of {len(ratios)}, at most {max(ratios):.2f} (target 1.3)")


main()
