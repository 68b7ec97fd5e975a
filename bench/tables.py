#!/usr/bin/env python3
"""From a file of results (bench/run.py): the tables, geometric means and verdicts, as text.

  bench/tables.py RESULTS.jsonl ...              prints all
  bench/tables.py --results RESULTS.jsonl ...     puts the summary between the marks of docs/results.md
  bench/tables.py FIRST.jsonl+MORE.jsonl          one table of both: runs on one machine; what is in both is taken from the last
Ratios are reference / Gable: above 1 Gable is faster.  A reference solver counts with the better of its runs, figure by figure.
"""
import argparse
import json
import pathlib
import sys

from marks import ROOT, mean, put

LU = ("umfpack", "superlu", "mumps")
# Tree, column counts and supernodal structure by good code on one core, in seconds (docs/benchmarks.md).
SYMBOLIC_S = {"bcsstk18": 0.0035, "laplacian5:300x300": 0.011, "laplacian5:1000x1000": 0.28, "laplacian7:60x60x60": 0.30}
TOLERANCE = 1e-12  # Gable's default; a solve above it is refined, and then the refined solve stands in the total
ERROR_LIMIT = 1e-6  # a run that is further off has no answer to time


def mean_of_known(ratios):
    return mean(r for r in ratios if r and r > 0)


class Case:
    """One matrix at one number of threads."""

    def __init__(self, name, threads):
        self.name, self.threads, self.gable, self.kind, self.runs, self.tried = name, threads, None, "", [], {}

    def add(self, run):
        self.kind = run.get("kind", self.kind)
        error = run.get("refined_error", run.get("backward_error"))
        right = run["ok"] and error is not None and error <= ERROR_LIMIT
        self.tried.setdefault(run["peer"], []).append(run.get("reason", "backward error") if not right else "fine")
        if run["peer"] == "gable":
            self.gable = run if right else None
        elif right:
            self.runs.append(run)

    @property
    def form(self):
        """What Gable made of the matrix."""
        return {"cholesky": "LLt", "ldlt": "LDLt"}.get(self.gable["options"].split(",")[0], "LU")

    @property
    def spd(self):
        return self.form == "LLt"

    def pick(self, value, references, where=lambda r: True):
        """(smallest value, its reference) over the runs of these references, or None."""
        found = [(value(r), r["peer"]) for r in self.runs if r["peer"] in references and where(r)]
        return min(found) if found else None

    def ratio(self, value, references, where=lambda r: True):
        best = self.pick(value, references, where)
        return best[0] / value(self.gable) if best and value(self.gable) > 0 else None

    def total(self, run):
        order = self.gable["order_s"] if run["given_order"] else 0
        if run["given_order"] and run["peer"] == "klu":  # it alone takes the rows, too, which the matching found
            order += self.gable["match_s"]
        solve = run["refined_solve_s"] if run is self.gable and run["backward_error"] > TOLERANCE else run["solve_s"]
        return run["order_s"] + order + run["symbolic_s"] + run["first_factor_s"] + solve

    def solve_bytes(self, count=1):
        """Read and written by a solve at least: the panels once (LU) or twice (LLt, LDLt) with their rows, and the vectors."""
        return self.gable["solve_bytes"] + 16 * self.gable["n"] * (count - 1)

    @property
    def factor_bytes(self):
        return self.gable["solve_bytes"] / (1 if self.form == "LU" else 2)


def load(path):
    """(record of the machine, cases, records of what was left out) of one file."""
    machine, cases, left_out = None, {}, []
    for line in pathlib.Path(path).read_text().splitlines():
        record = json.loads(line)
        if record["record"] == "machine":
            machine = record
        elif record["record"] == "left_out":
            left_out.append(record)
        else:
            cases.setdefault((record["matrix"], record["threads"]), Case(record["matrix"], record["threads"])).add(record)
    return machine, cases, left_out


def load_joined(paths):
    """The same of files of one machine, between plus signs; commits and dates say how many matrices each file holds."""
    machines, cases, left_out, runs = [], {}, {}, []
    for path in paths.split("+"):
        machine, more, out = load(path)
        same = ("cpu", "family_model", "cores", "compiler", "flags", "seconds")
        if machines and any(machine[key] != machines[0][key] for key in same):
            sys.exit(f"tables: {path} is of another machine, compiler or time per phase than the files before it")
        machines.append(machine)
        cases.update(more)
        left_out.update({r["matrix"]: r for r in out})
        runs.append(f"{machine['commit']}, {machine['date']}, {len({name for name, _ in more})} matrices")
    joined = {**machines[0], "read_bytes_per_s": {}}
    for machine in reversed(machines):  # the first file that measured a number of threads counts
        joined["read_bytes_per_s"].update(machine["read_bytes_per_s"])
    if len(machines) > 1:
        joined["runs"] = "; ".join(runs)
    measured = {name for name, _ in cases}
    return joined, list(cases.values()), [r for name, r in left_out.items() if name not in measured]


def seconds(t):
    return f"{t * 1e6:.3g} us" if t < 1e-3 else f"{t * 1e3:.3g} ms" if t < 1 else f"{t:.3g} s"


def cell(value, pattern="{:.2f}"):
    return "-" if value is None or value != value else pattern.format(value)


ALL = LU + ("klu", "cholmod")


def row(case):
    g = case.gable
    factor, solve = case.pick(lambda r: r["factor_s"], LU + (("cholmod",) if case.spd else ())), case.pick(lambda r: r["solve_s"], ALL)
    return [case.name, str(g["n"]), case.form, f"{g['nnz_l']:.3g}", seconds(g["factor_s"]),
            f"{factor[0] / g['factor_s']:.2f} {factor[1]}" if factor else "-", seconds(g["solve_s"]),
            f"{solve[0] / g['solve_s']:.2f} {solve[1]}" if solve else "-", f"{g['solve16_s'] / g['solve_s']:.1f}",
            cell(case.ratio(case.total, ALL)), f"{g['backward_error']:.0e}, {g['refined_error']:.0e}"]


HEAD = ["matrix", "n", "", "nnz of the factor", "factor", "best reference / Gable", "solve", "best reference / Gable", "16 / 1", "all phases, ratio", "error, refined"]


def markdown(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(r) + " |" for r in rows])


def set_aside():
    """Names of bench/lists/set-aside.txt."""
    lines = (ROOT / "bench/lists/set-aside.txt").read_text().splitlines()
    return {name for line in lines if not line.startswith("#") for name in line.split()}


def verdicts(machine, cases):
    """(what, target, reached, yes or no) for the targets; cases of one number of threads."""
    threads = cases[0].threads
    bandwidth, llc = machine["read_bytes_per_s"][str(threads)], machine["llc_bytes"]
    general, spd = [c for c in cases if not c.spd], [c for c in cases if c.spd]
    out = []

    def say(what, target, value, fine, pattern="{:.2f}"):
        if value == value and value is not None:
            out.append((what, target, pattern.format(value), "yes" if fine else "NO"))

    def level(what, group, value, references, target, where=lambda r: True):
        m = mean_of_known([c.ratio(value, references, where) for c in group])
        say(f"{what} ({sum(c.ratio(value, references, where) is not None for c in group)} matrices)", f"mean >= {target}", m, m >= target)

    factor = lambda r: r["factor_s"]
    solve = lambda r: r["solve_s"]
    level("factor, best LU reference / Gable, not positive definite, references as LU", general, factor, LU, 1, lambda r: r["mode"] == "general")
    level("the same, MUMPS as LDLt where symmetric", general, factor, LU, 1)
    level("factor, CHOLMOD / Gable, positive definite", spd, factor, ("cholmod",), 1)
    circuits = [c for c in general if "circuit" in c.kind]
    level("factor, KLU / Gable, circuits", circuits, factor, ("klu",), 0.667)

    large = [c for c in cases if c.factor_bytes > llc]
    small = [c for c in cases if c.factor_bytes <= llc]
    read = lambda c: c.gable.get("read_bytes_per_s", bandwidth)  # right after the matrix's own run, where it was measured
    share = [c.solve_bytes() / c.gable["solve_s"] / read(c) for c in large]
    if share:
        say(f"solve, share of read bandwidth, factors above the last-level cache ({len(large)})", "mean >= 0.80", mean(share), mean(share) >= 0.8, "{:.3f}")
        say("the least of them", ">= 0.80", min(share), min(share) >= 0.8)
    level("solve, best reference / Gable, the other factors", small, solve, ALL, 2)
    beyond = [c.ratio(solve, ALL) for c in cases if c.gable["solve_s"] > 5e-6]
    beyond = [r for r in beyond if r]
    if beyond:
        say("solve, the worst ratio beyond 5 microseconds", ">= 0.90", min(beyond), min(beyond) >= 0.9)
    over = []
    for c in cases:
        g = c.gable
        over.append(g["solve16_s"] / max(4 * g["solve_s"], 1.5 * c.solve_bytes(16) / read(c)))
    say(f"16 right-hand sides, share of what is allowed, the worst ({sum(x > 1 for x in over)} of {len(over)} above 1)", "<= 1", max(over), max(over) <= 1)
    sixteen = mean(c.gable["solve16_s"] / c.gable["solve_s"] for c in cases)
    say("16 right-hand sides / one", "mean <= 4", sixteen, sixteen <= 4)
    level("symbolic, CHOLMOD at Gable's order / Gable, positive definite", spd, lambda r: r["symbolic_s"], ("cholmod",), 1,
          lambda r: r["given_order"])
    for c in cases:
        if c.name in SYMBOLIC_S:
            whole, bar = c.gable["symbolic_s"] - c.gable.get("match_s", 0), SYMBOLIC_S[c.name]
            took = c.gable.get("structure_s", whole)  # results from before that key have the whole alone
            say(f"tree, counts and structure, {c.name}, ms (with reading the matrix and the plan of the solve {1e3 * whole:.1f})",
                f"<= {1e3 * bar:g}", 1e3 * took, took <= bar)
    totals = [c.ratio(c.total, ALL) for c in cases]
    total = mean_of_known(totals)
    say(f"analyse + factor + solve, best reference / Gable ({sum(t is not None for t in totals)})", "mean >= 1", total, total >= 1)
    aside = set_aside()
    real = [(c.name in aside, t) for c, t in zip(cases, totals) if t and ":" not in c.name]
    for what, some in (("real matrices", [t for _, t in real]), ("of them, those set aside from tuning", [t for apart, t in real if apart])):
        if some:
            near = sum(t >= 1 / 1.2 for t in some) / len(some)
            say(f"the same, {what} ({len(some)})", "mean >= 1.3", mean(some), mean(some) >= 1.3)
            say(f"the same, {what}: share at 1.2 times the best reference or below", ">= 0.90", near, near >= 0.9)
            say(f"the same, {what}: Gable / best reference, the worst", "<= 2", 1 / min(some), min(some) >= 0.5)
    memory = lambda r: r["peak_rss_bytes"] - r["rss_before_bytes"]
    heavy = [c.ratio(memory, ALL, lambda r: r["given_order"]) for c in cases if c.gable["nnz_l"] * 8 > 1e8]
    heavy = [1 / r for r in heavy if r]
    if heavy:
        say(f"peak memory, Gable / thriftiest reference at the same order, factors above 100 MB ({len(heavy)}), the worst", "<= 1.2", max(heavy), max(heavy) <= 1.2)
    wrong = [c for c in cases if c.gable["refined_error"] > TOLERANCE]
    say(f"matrices above backward error 1e-12 after refinement, of {len(cases)}", "0", len(wrong), not wrong, "{:.0f}")
    return out


def heading(machine, threads):
    return (f"{machine['cpu']} (family/model {machine['family_model']}), {machine['cores']} cores, last-level cache "
            f"{machine['llc_bytes'] >> 20} MiB, read bandwidth {machine['read_bytes_per_s'][str(threads)] / 1e9:.1f} GB/s with "
            f"{threads} thread{'s' * (threads > 1)}; {machine['compiler']}; "
            + (f"commits {machine['runs']}" if "runs" in machine else f"commit {machine['commit']}, {machine['date']}"))


def unanswered(cases):
    """Solver by solver, the runs that gave no answer: over the limit, out of memory, too far off."""
    found = {}
    for c in cases:
        for reference, tried in c.tried.items():
            why = sorted({t for t in tried if t != "fine"})
            if why and reference != "gable":
                found.setdefault(reference, []).append(f"{c.name} ({'; '.join(why)}; {sum(t != 'fine' for t in tried)} of {len(tried)} runs)")
    return ["Runs of reference solvers without an answer:\n", *(f"- {reference}: {', '.join(at)}" for reference, at in sorted(found.items())), ""] if found else []


def report(path):
    machine, cases, left_out = load_joined(path)
    parts, short = [], []
    for threads in sorted({c.threads for c in cases}):
        group = [c for c in cases if c.threads == threads]
        failed = [c for c in group if not c.gable]
        group = [c for c in group if c.gable]
        if not group:
            continue
        verdict = markdown(["what", "target", "measured", "reached"], verdicts(machine, group))
        parts += [f"### {threads} thread{'s' * (threads > 1)}\n", heading(machine, threads) + "\n", markdown(HEAD, [row(c) for c in group]), "",
                  verdict, ""]
        parts += unanswered(group)
        short += [f"{threads} thread{'s' * (threads > 1)}: {heading(machine, threads)}.\n", verdict, ""]
        if failed:
            parts.append("No answer of Gable's within the limits: " + "; ".join(f"{c.name} ({c.tried['gable'][-1]})" for c in failed) + "\n")
    if left_out:
        parts.append("Left out: " + "; ".join(f"{x['matrix']} ({x['reason']})" for x in left_out) + "\n")
    return "\n".join(parts), "\n".join(short)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+")
    parser.add_argument("--results", dest="insert", action="store_true", help="into docs/results.md")
    arguments = parser.parse_args()
    reports = [report(path) for path in arguments.files]
    print("\n".join(whole for whole, _ in reports))
    if arguments.insert:
        files = [path for joined in arguments.files for path in joined.split("+")]
        names = ", ".join(f"`{pathlib.Path(path).resolve().relative_to(ROOT)}`" for path in files)
        tables = "\n".join(short for _, short in reports)
        put("docs/results.md", "bench", f"From {names} by `bench/tables.py --results`. Ratios are reference / Gable: above 1 Gable is faster.\n\n{tables}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
