#!/usr/bin/env python3
"""Fits the cost function of src/pipeline/device_cost.c to the recorded results, the H200's and its host's, and prints its constants and their errors: every second matrix
by name is fitted, the errors are those of the others.

The replay makes both choices of place that the library makes: by clusters before anything is prepared, and again, by the launches of a solve
level by level, where the inverses of clusters do not serve.

device_cost.py [--check|--write]: --check compares with the constants of the source, to one part in a hundred, and with the page; --write puts them there, and
what is printed on docs/algorithms/decisions.md.
device_cost.py --measured FILE: objects of `gable solve --json` with --where cpu, cuda:0 and auto (device-run's supernodal-where-h200.json): the time
of preparation and of the expected solves (--repeat in older lines) where auto went over that of the better place; upload, which is left out of
that, in a column of its own; the worst ratio of the matrices that a fit takes, and of the others."""
import json
import math
import os
import re
import sys

from linear_system import solve
from marks import put

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
TERMS = ("fixed", "row", "supernode", "height", "entry", "root", "byte")
VALUES = {
    "fixed": lambda r: 1,
    "row": lambda r: r["n"],
    "supernode": lambda r: r["supernodes"],
    "height": lambda r: r["tree_height"],
    "entry": lambda r: r["nnz_l"] + r["nnz_u"],
    "root": lambda r: math.sqrt(r["flops"]),
    "byte": lambda r: r["solve_bytes"] * math.sqrt(1 / threads(r)),
}


PAGE = "docs/algorithms/decisions.md"
TABLE = os.path.join(ROOT, "src/cuda/gpu_class.c")
PLACES = (("host", "one"), ("host", "sixteen"), ("host", "hosts_sixteen"), ("sweep", "one"), ("sweep", "sixteen"), ("sweep", "preparation"))
LAUNCHES = {"mhd4800a": 1103, "szdMat": 53}  # of a solve level by level, in lines without solve_launches
THREAD_VALUES = 524288  # of a factor that earn one thread more in a sweep (src/supernodal/cpu/solve_plan.c)


def threads(r):
    if "nnz_u" not in r:
        return r["threads"]
    return max(1, min(r["threads"], (r["nnz_l"] + r["nnz_u"]) // THREAD_VALUES))


def lines(name):
    with open(os.path.join(ROOT, "bench/results", name), encoding="utf-8") as f:
        return [json.loads(line) for line in f]


def objects(path):
    with open(path, encoding="utf-8") as f:
        text, at = f.read(), 0
    while text[at:].strip():
        at += len(text[at:]) - len(text[at:].lstrip())
        r, at = json.JSONDecoder().raw_decode(text, at)
        if "solve_s" in r:
            yield r


def host(name):
    """Gable's own runs, one for each matrix and way."""
    runs = [r for r in lines(name) if r.get("peer") == "gable" and r.get("ok") and r.get("solve_bytes")]
    return list({(r["matrix"], r["mode"], r["variant"], r["given_order"]): r for r in runs}.values())


def kind(r):
    """Of the factorization: in lines before bench/solve_line.py `method`."""
    return r.get("kind", r["method"])


def with_shape(rows, others):
    """Rows of `gable bench supernodal` with what `gable solve` says of their factors."""
    known = {(r["matrix"], kind(r)): {key: r[key] for key in ("supernodes", "tree_height")} for r in others}
    return [r | known[r["matrix"], kind(r)] for r in rows if (r["matrix"], kind(r)) in known]


def cost_of(cost, r):
    """Predicted seconds."""
    return sum(c * VALUES[t](r) for t, c in cost.items() if c)


def fit(all_runs, terms, seconds):
    """Least squares of relative errors over the terms, of every second matrix by name; terms whose constant is negative leave, one after
    another.  Then the errors of the other matrices, the median and the worst."""
    names = sorted({r["matrix"] for r in all_runs})
    runs = [r for r in all_runs if r["matrix"] in names[::2]]
    others = [r for r in all_runs if r["matrix"] in names[1::2]]
    terms = list(terms)
    while True:
        a = [[VALUES[t](r) / seconds(r) for t in terms] for r in runs]
        n = range(len(terms))
        most = [max(row[i] for row in a) for i in n]
        a = [[row[i] / most[i] for i in n] for row in a]
        x = solve([[sum(row[i] * row[j] for row in a) for j in n] + [sum(row[i] for row in a)] for i in n])
        x = [x[i] / most[i] for i in n]
        if min(x) >= 0:
            break
        terms.pop(x.index(min(x)))
    cost = dict.fromkeys(TERMS, 0.0) | dict(zip(terms, x))
    off = sorted(abs(math.log(cost_of(cost, r) / seconds(r))) for r in others)
    return cost, math.exp(off[len(off) // 2]), math.exp(off[-1])


def part(text, place):
    """Where the host's costs lie in gpu_class.c, or the sweeps' of the H200."""
    begin = text.index("gik_host_costs_measured = {" if place == "host" else '.name = "H200"')
    return text.index(".sweep = {", begin) if place == "sweep" else begin


def constants(text, place, name):
    """The match of one initializer."""
    return re.compile(rf"\.{name} = {{(\.\w+ = [^{{}}]*)}}").search(text, part(text, place))


def source():
    """The constants of gpu_class.c, in the order of PLACES."""
    with open(TABLE, encoding="utf-8") as f:
        text = f.read()
    found = [constants(text, *where)[1] for where in PLACES]
    return [dict.fromkeys(TERMS, 0.0) | {t: float(x) for t, x in re.findall(r"\.(\w+) = ([-0-9.e]+)", c)} for c in found]


def words(cost):
    return ", ".join(f".{t} = {cost[t]:.3g}" for t in TERMS if cost[t])


def write(costs, out):
    """The constants into gpu_class.c, and the lines on the page."""
    with open(TABLE, encoding="utf-8") as f:
        text = f.read()
    for where, cost in zip(PLACES, costs, strict=True):
        m = constants(text, *where)
        text = text[:m.start(1)] + words(cost) + text[m.end(1):]
    with open(TABLE, "w", encoding="utf-8") as f:
        f.write(text)
    put(PAGE, "costs", "\n" + "\n".join("    " + line for line in out) + "\n")


def measured(path):
    """Prints each matrix with its two totals, the upload and where auto went, then the worst ratio of both halves of the names."""
    runs = {}
    for r in objects(path):
        runs.setdefault((r["matrix"], r["rhs"]), {})["auto" if r["where_reason"] else r["where"]] = r
    ratios = {}
    for (matrix, rhs), by in sorted(runs.items()):
        if not {"cpu", "cuda:0", "auto"} <= set(by):
            print(f"{matrix}, {rhs}: only {', '.join(by)}")
            continue
        total = {w: by[w].get("solves", by[w]["repeat"]) * by[w]["solve_s"] + (by[w]["prepare_s"] if w != "cpu" else 0) for w in ("cpu", "cuda:0")}
        went = by["auto"]["where_solve"]
        ratio = total[went] / min(total.values())
        ratios[matrix, rhs] = ratio
        print(f"{matrix}, {rhs}: cpu {total['cpu']:.3g} s, cuda:0 {total['cuda:0']:.3g} s and {by['cuda:0']['upload_s']:.3g} s of upload, "
              f"auto {went}: {ratio:.2f} of the better")
    names = sorted({matrix for matrix, _ in ratios})
    for half, what in ((names[::2], "every second matrix by name, which a fit takes"), (names[1::2], "the other matrices")):
        found = [ratio for (matrix, _), ratio in ratios.items() if matrix in half]
        if found:
            print(f"{what}: worst {max(found):.2f}, above 1.05 {sum(x > 1.05 for x in found)} of {len(found)}")
    if ratios:
        print(f"worst {max(ratios.values()):.2f}")


def by_level():
    """Seconds of a launch and of a byte of a solve level by level, one right-hand side."""
    with open(TABLE, encoding="utf-8") as f:
        text = f.read()
    m = re.compile(r"\.by_level = {\.launch = ([-0-9.e]+), \.byte = ([-0-9.e]+)").search(text, text.index('.name = "H200"'))
    return float(m[1]), float(m[2])


def launched(r):
    """Predicted seconds of a solve level by level, None of one by clusters."""
    if not r["solve_levels"]:
        return None
    launch, byte = by_level()
    return launch * (r.get("solve_launches") or LAUNCHES[r["matrix"]]) + byte * r["solve_bytes"]


def prepared(c, g):
    """Seconds until a factor is on the GPU: g, of the lines c of the CPU and g, says what the form that solves took; where it is not clusters
    their operators, which do not serve, were made before."""
    return g["load_s"] - c["load_s"] if g["solve_levels"] else g["prepare_s"] + g["upload_s"]


def taken(solves, c, g, host, device, preparation):
    """Seconds that auto takes for so many solves, and those on the better place, upload counted, from the lines of the CPU and of the GPU: as
    belongs_on_device of src/pipeline/pipeline.c chooses, before the preparation and, where the solve goes level by level, after it."""
    here, there = solves * c["solve_s"], solves * g["solve_s"] + prepared(c, g)
    on_host, before = solves * cost_of(host, c), cost_of(preparation, g)
    if before + solves * cost_of(device, g) >= on_host:
        return here, min(here, there)
    if launched(g) and before + solves * launched(g) >= on_host:
        return here + prepared(c, g), min(here, there)
    return there, min(here, there)


def replay(where, host, device, preparation):
    """Lines: what auto would take of the better place's time for some numbers of solves, upload counted: the worst and its matrix."""
    out = []
    runs = {}
    for r in where:
        runs.setdefault(r["matrix"], {})[r["where_reason"] and "auto" or r["where"]] = r
    runs = {matrix: by for matrix, by in runs.items() if {"cpu", "cuda:0"} <= set(by)}
    for solves in (20, 50, 100, 200, 500, 1000, 5000):
        ratios = []
        for matrix, by in runs.items():
            took, best = taken(solves, by["cpu"], by["cuda:0"], host, device, preparation)
            ratios.append((took / best, matrix))
        far = sum(ratio > 1.05 for ratio, _ in ratios)
        out.append(f"{solves} solves: {max(ratios)[0]:.2f} of the better place at most ({max(ratios)[1]}), above 1.05 {far} of {len(ratios)}")
    return out


def main():
    if sys.argv[1:2] == ["--measured"]:
        return measured(sys.argv[2])
    one = host("cpu-2026-11-22-18h.jsonl")
    two = [r for r in host("cpu-2-threads-2026-11-22.jsonl") if r["solve_bytes"] >= 16 * THREAD_VALUES]
    where = lines("supernodal-where-h200.json")
    beside = [r for r in where if r["where"] == "cpu" and not r["where_reason"]]
    gpu = with_shape([r for r in lines("supernodal-auto-h200.json") if r.get("method") == "auto"], where)
    sweep, path = ("fixed", "supernode", "byte"), ("fixed", "row", "height", "entry")
    fits = [
        ("CPU", fit(beside, sweep[1:], lambda r: r["solve_s"])),  # another machine's 16 right-hand sides have no constant either
        ("CPU, 1 thread, 16 right-hand sides", fit(one, sweep, lambda r: r["solve16_s"])),
        ("CPU, 2 threads, 16 right-hand sides", fit(two, sweep, lambda r: r["solve16_s"])),
    ]
    for rhs, name in ((1, "GPU"), (16, "GPU, 16 right-hand sides")):
        fits.append((name, fit([r for r in gpu if r["rhs"] == rhs], path, lambda r: r["solve_s"])))
    there = [r for r in where if r["where_solve"] != "cpu"]
    fits.append(("preparation and upload", fit(there, ("fixed", "row", "root"), lambda r: r["prepare_s"] + r["upload_s"])))
    out = []
    for name, (cost, median, worst) in fits:
        out.append(f"{name}: {{{words(cost)}}}, off by {median:.2f} (median), {worst:.2f} (worst)")
    out += replay(where, fits[0][1][0], fits[3][1][0], fits[5][1][0])
    print("\n".join(out))
    if "--write" in sys.argv[1:]:
        write([cost for _, (cost, _, _) in fits], out)
    if "--check" in sys.argv[1:]:
        for have, (name, (cost, _, _)) in zip(source(), fits, strict=True):
            for t in TERMS:
                if abs(have[t] - cost[t]) > 0.01 * abs(cost[t]):
                    sys.exit(f"device_cost.py: {name}: {t} is {have[t]:g} in gpu_class.c and {cost[t]:.3g} by the results")
        with open(os.path.join(ROOT, PAGE), encoding="utf-8") as f:
            page = f.read()
        for line in out:
            if line not in page:
                sys.exit(f"device_cost.py: {PAGE} has not the line: {line}")


if __name__ == "__main__":
    main()
