#!/usr/bin/env python3
"""krylov_table.py: Krylov solvers on a GPU and on the CPU beside it, in Markdown, from bench/results/krylov-h200.json (lines of
bench/drivers/krylov.c).
krylov_table.py --docs: writes the table between the marks of docs/algorithms/krylov.md."""
import json
import sys

from marks import ROOT, put

NAMES = {"cg": "CG", "bicgstab": "BiCGSTAB", "gmres": "GMRES"}
SHOWN = [("cg", "none"), ("cg", "gs"), ("cg", "ic0"), ("bicgstab", "ilu0"), ("gmres", "ilu0")]


def cells(r):
    return f'{1e3 * r["setup_s"]:.1f} | {1e3 * r["iteration_s"]:.3f}' if r else " | "


def table():
    lines = [json.loads(line) for line in open(ROOT / "bench/results/krylov-h200.json")]
    found = {(r["matrix"], r["where"][:3], r["solver"], r["precond"]): r for r in lines}
    out = ["| matrix | solver, preconditioner | iterations | setup ms | an iteration ms | CPU: setup ms | an iteration ms |", "|---" * 7 + "|"]
    for matrix in dict.fromkeys(r["matrix"] for r in lines):
        for solver, precond in SHOWN:
            gpu, cpu = (found.get((matrix, where, solver, precond)) for where in ("cud", "cpu"))
            r = gpu or cpu
            if not r:
                continue
            stop = "" if r["stop"] == "converged" else ", not there yet" if r["stop"] == "iterations" else f', {r["stop"]}'
            out.append(f'| {matrix} | {NAMES[solver]}, {precond} | {r["iterations"]}{stop} | {cells(gpu)} | {cells(cpu)} |')
    runs = sorted({f'{r["machine"]}, commit {r["commit"]}, {r["date"]}' for r in lines})
    return "\n".join(out + [""] + [f"{run}." for run in runs])


def main():
    if sys.argv[1:] == ["--docs"]:
        put("bench/results/krylov-h200.md", "krylov", table())
    else:
        print(table())


main()
