#!/usr/bin/env python3
"""trisolve_table.py FILE.json...: the tables of the triangular solves on a GPU, in Markdown, from JSON lines of
`gable bench --json`: cuSPARSE's time, each method's, its gain, the floor, the share of it that is reached, both analyses.
trisolve_table.py --results: the summary of bench/results between the marks of docs/results.md, and all its lines between those of
bench/results/trisolve-gpu.md."""
import math
import re
import sys

from marks import mean, put
from trisolve_lines import RESULTS, SIZES, gain, load, pairs_of, run_of, seconds, size_class, total

# file, pattern of the matrices or number of a size class, name
SETS = [("laplacian-h200.json", r"^5-", "5 points, two dimensions"), ("laplacian-h200.json", r"^9-", "9 points, two dimensions"),
        ("laplacian-h200.json", r"^7-", "7 points, three dimensions"), ("laplacian-h200.json", r"^27-", "27 points, three dimensions"),
        ("laplacian-h200.json", "", "all 20 Laplacians"), ("laplacian-permuted-h200.json", "", "the Laplacians numbered at random, random values"),
        ("matrices-h200.json", "", "triangles of real matrices"), ("matrices-h200.json", 0, f"of them {SIZES[0]}"),
        ("matrices-h200.json", 1, f"of them {SIZES[1]}"), ("matrices-h200.json", 2, f"of them {SIZES[2]}"),
        ("matrices-seed-h200.json", "", "table 4 of Li and Zhang, mostly twins"),
        ("laplacian-16rhs-h200.json", r"^5-", "16 right-hand sides against SpSM, 5 points"),
        ("laplacian-16rhs-h200.json", r"^[^5]", "16 right-hand sides against SpSM, 9, 7 and 27 points"),
        ("matrices-16rhs-h200.json", "", "16 right-hand sides against SpSM, triangles of real matrices")]
LONG = [("laplacian-h200.json", "The 20 Laplacians"), ("laplacian-permuted-h200.json", "The Laplacians numbered at random, with random values"),
        ("matrices-h200.json", "Triangles of real matrices"), ("matrices-seed-h200.json", "The matrices of table 4 of Li and Zhang"),
        ("laplacian-16rhs-h200.json", "The Laplacians, 16 right-hand sides, against SpSM"),
        ("matrices-16rhs-h200.json", "Real matrices, 16 right-hand sides, against SpSM")]
METHODS = [("laplacian-methods-h200.json", r"^5-", "5 points"), ("laplacian-methods-h200.json", r"^9-", "9 points"),
           ("laplacian-methods-h200.json", r"^7-", "7 points"), ("laplacian-methods-h200.json", r"^27-", "27 points"),
           ("matrices-methods-h200.json", "", "real matrices")]
RANGES = [(0, 1), (1, 1.5), (1.5, 2), (2, 3), (3, 5), (5, 10), (10, math.inf)]
STAR = "\\* off-diagonal entries scaled to dominance, because plain substitution overflows"


def us(s):
    return f"{s * 1e6:.0f}" if s >= 1e-4 else f"{s * 1e6:.1f}"


def bound(r):
    return "bytes" if r["floor_bytes_s"] > r["floor_hops_s"] else "hops"


def share(r):
    return r["floor_s"] / seconds(r, r)


def table(rows):
    """A line for each triangle."""
    methods = sorted({m for r in rows.values() for m in r} - {"cusparse", "auto"})
    out = ["| matrix | triangle | rhs | rows | levels | timed | cuSPARSE us | auto us | gain | by | floor us | of | reached | analysis: cuSPARSE us | auto us "
           "| of it | with update and first solve | update us |" + "".join(f" {m} us | gain |" for m in methods), "|---" * (18 + 2 * len(methods)) + "|"]
    scaled = False
    for (matrix, uplo, rhs), r in rows.items():
        if "cusparse" not in r or "auto" not in r:
            continue
        peer, auto, cells = r["cusparse"], r["auto"], []
        for m in methods:
            cells.append(f' {us(seconds(r[m], auto))} | {seconds(peer, auto) / seconds(r[m], auto):.2f} |' if m in r else " | |")
        star = "\\*" if peer["scaled_to_dominance"] else ""
        scaled |= peer["scaled_to_dominance"]
        both = total(auto) / total(peer)
        how = "graph" if seconds(auto, auto) != auto["solve_s"] else "alone"
        out.append(f'| {matrix}{star} | {uplo} | {rhs} | {auto["n"]} | {auto["levels"]} | {how} | {us(seconds(peer, auto))} | {us(seconds(auto, auto))} '
                   f'| {gain((peer, auto)):.2f} | {auto["method_used"]} | {us(auto["floor_s"])} | {bound(auto)} | {share(auto):.0%} '
                   f'| {us(peer["analyse_s"])} | {us(auto["analyse_s"])} | {auto["analyse_s"] / peer["analyse_s"]:.2f} | {both:.2f} '
                   f'| {us(auto["update_s"])} |' + "".join(cells))
    return out + (["", STAR] if scaled else [])


def summary():
    """The table of docs/results.md: a line a set of bench/results, and which run it is."""
    lines = ["| set | solves | gain of `auto`, geometric mean | least | below 1 | share of the floor reached | analysis over cuSPARSE's | above 0.5 "
             "| analysis, update and first solve slower | commit |", "|---" * 10 + "|"]
    runs = set()
    for name, pattern, text in SETS:
        pairs = [p for p in pairs_of(name) if size_class(p[1]) == pattern] if isinstance(pattern, int) else pairs_of(name, pattern)
        if not pairs:
            continue
        gains = [gain(pair) for pair in pairs]
        analysis = [a["analyse_s"] / p["analyse_s"] for p, a in pairs]
        lost = sum(total(a) > total(p) for p, a in pairs)
        run, commits = run_of([a for _, a in pairs])
        runs.add(run)
        lines.append(f"| {text} | {len(pairs)} | {mean(gains):.1f} | {min(gains):.2f} | {sum(g < 1 for g in gains)} | {mean([share(a) for _, a in pairs]):.0%} "
                     f"| {mean(analysis):.2f} | {sum(v > 0.5 for v in analysis)} | {lost} | {commits} |")
    return "\n".join(lines + [""] + [f"{run}." for run in sorted(runs)])


LAUNCH_S = 2.5e-6  # of one kernel on an H200, from one stream


def multi_rhs_allowed(name, one):
    """Of 16 right-hand sides: the time over what is allowed, four times that of one or twice the bytes' floor."""
    alone = {key[:2]: r["auto"] for key, r in load([RESULTS / one]).items() if "auto" in r}
    return [seconds(r["auto"], r["auto"]) / max(4 * seconds(alone[key[:2]], alone[key[:2]]), 2 * r["auto"]["floor_bytes_s"])
            for key, r in load([RESULTS / name]).items() if "auto" in r and key[:2] in alone]


def goals():
    """What was aimed at, what was measured, and whether it is reached."""
    grids, real, seed = pairs_of("laplacian-h200.json", ""), pairs_of("matrices-h200.json", ""), pairs_of("matrices-seed-h200.json", "")
    permuted = pairs_of("laplacian-permuted-h200.json", "")
    many = pairs_of("laplacian-16rhs-h200.json", "") + pairs_of("matrices-16rhs-h200.json", "")
    allowed = multi_rhs_allowed("laplacian-16rhs-h200.json", "laplacian-h200.json") + multi_rhs_allowed("matrices-16rhs-h200.json", "matrices-h200.json")
    if not (grids and real and seed and permuted and many):
        return []
    single = grids + permuted + real + seed

    def gains(pairs, pattern=""):
        return [gain(pair) for pair in pairs if re.search(pattern, pair[1]["matrix"])]

    analysis = [a["analyse_s"] / p["analyse_s"] for p, a in single]
    both = [total(a) / total(p) for p, a in single]
    updates = [a["update_s"] / (1.5 * 20 * a["nnz"] / 4.28e12 + LAUNCH_S) for _, a in single]
    lines = ["## What was aimed at", "", "| what | goal | measured | reached |", "|---|---|---|---|"]

    def line(what, goal, measured, reached):
        lines.append(f"| {what} | {goal} | {measured} | {'yes' if reached else 'NO'} |")

    def least(what, bar, values):
        line(what, f"each >= {bar}", f"least {min(values):.2f}" + (f"; {sum(v < bar for v in values)} of {len(values)} below" if min(values) < bar else ""),
             min(values) >= bar)

    def most(what, bar, values):
        line(what, f"each <= {bar}", f"mean {mean(values):.2f}, most {max(values):.2f}"
             + (f"; {sum(v > bar for v in values)} of {len(values)} above" if max(values) > bar else ""), max(values) <= bar)

    line("20 Laplacians, gain over SpSV", "mean >= 8", f"{mean(gains(grids)):.2f}", mean(gains(grids)) >= 8)
    least("the same in two dimensions", 7, gains(grids, "^[59]-"))
    least("the same in three", 3, gains(grids, "^(7|27)-"))
    least("numbered at random", 1, gains(permuted))
    line("triangles of real matrices, gain", "mean >= 3", f"{mean(gains(real)):.2f}", mean(gains(real)) >= 3)
    line("table 4 of Li and Zhang, mostly twins", "mean >= 3", f"{mean(gains(seed)):.2f}", mean(gains(seed)) >= 3)
    least("both", 1, gains(real + seed))
    line("16 right-hand sides, gain over SpSM", "mean >= 3", f"{mean(gains(many)):.2f}", mean(gains(many)) >= 3)
    least("the same", 3, gains(many))
    most("16 right-hand sides over what is allowed: four times one, or twice the floor of bytes", 1, allowed)
    most("analysis over SpSV_analysis", 0.5, analysis)
    most("analysis, update and first solve over SpSV's", 1, both)
    most(f"update over 1.5 floors of its bytes (20 an entry) and a launch ({LAUNCH_S * 1e6:.1f} us)", 1, updates)
    return lines + [""]


def in_ranges(pairs):
    """How many solves gain how much, and which matrices are in the lowest ranges."""
    out = ["| gain | solves | share of the floor reached | which |", "|---|---|---|---|"]
    for low, high in RANGES:
        own = [(p, a) for p, a in pairs if low <= gain((p, a)) < high]
        if not own:
            continue
        names = sorted({a["matrix"] for _, a in own}, key=str.lower)
        label = f"below {high}" if low == 0 else f"{low} to {high}" if high < math.inf else f"{low} and more"
        out.append(f'| {label} | {len(own)} | {mean([share(a) for _, a in own]):.0%} | {", ".join(names) if len(names) < 25 else f"{len(names)} matrices"} |')
    return out


def methods_table():
    """Every method over cuSPARSE, a line a set."""
    order, lines, sources = ["auto", "tiles", "rows", "levr", "levc", "elmr", "elmc", "gsf"], [], []
    for name, pattern, text in METHODS:
        path, cells = RESULTS / name, []
        rows = [r for key, r in (load([path]) if path.exists() else {}).items() if re.search(pattern, key[0]) and "cusparse" in r]
        if not rows:
            continue
        sources += [line for r in rows for line in r.values()]
        for m in order:
            gains = [seconds(r["cusparse"], r["auto"]) / seconds(r[m], r["auto"]) for r in rows if m in r and "auto" in r]
            cells.append(f"{mean(gains):.2f} ({min(gains):.2f})" if gains else "")
        best = [min(seconds(r[m], r["auto"]) for m in order[1:] if m in r) / seconds(r["auto"], r["auto"])
                for r in rows if {"auto", "tiles", "rows"} <= r.keys()]
        cells.append(f"{mean(best):.2f} ({min(best):.2f})" if best else "")
        lines.append(f"| {text} | {len(rows)} | " + " | ".join(cells) + " |")
    if not lines:
        return []
    run, commits = run_of(sources)
    return ["## Every method over cuSPARSE", "",
            "Geometric mean and, in brackets, the least of SpSV's time over the method's; the last column is the fastest method's time over `auto`'s: "
            "below 1 another one would have been faster. Grids: the first of each kind and 128x32768.", "",
            "| set | solves | " + " | ".join(order) + " | fastest over auto |", "|---" * (len(order) + 3) + "|"] + lines + ["", f"{run}, commit {commits}.", ""]


def twin_check():
    """Real matrices beside their twins, of their files and of three numbers alone."""
    def both(pairs):
        return {(a["matrix"].removesuffix(" (twin)"), a["uplo"]): (gain((p, a)), a["analyse_s"] / p["analyse_s"]) for p, a in pairs}
    twins, real = both(pairs_of("twin-check-h200.json", "")), both(pairs_of("matrices-h200.json", ""))
    keys = [(key[0].removesuffix("-file"), key[1]) for key in twins
            if key[0].endswith("-file") and (key[0].removesuffix("-file"), key[1]) in real]
    if not keys:
        return []
    lines = ["## Twins beside what they are twins of", "",
             f"{len(keys)} triangles of real matrices, twins of their files and twins of three numbers, as in most of table 4 below (bench/lists/twin-check.txt).", "",
             "| triangles | gain of auto, mean | of the real one's gain: least, median, most | analysis over SpSV's, mean | above 0.5 |", "|---|---|---|---|---|"]
    for text, end in (("real", None), ("twins of their files", "-file"), ("twins of three numbers", "-numbers")):
        own = [twins[k[0] + end, k[1]] if end else real[k] for k in keys]
        against = sorted(o[0] / real[k][0] for o, k in zip(own, keys))
        lines.append(f"| {text} | {mean([o[0] for o in own]):.2f} | "
                     + (f"{against[0]:.2f}, {against[len(against) // 2]:.2f}, {against[-1]:.2f}" if end else "")
                     + f" | {mean([o[1] for o in own]):.2f} | {sum(o[1] > 0.5 for o in own)} |")
    run, commits = run_of([a for _, a in pairs_of("twin-check-h200.json", "")])
    return lines + ["", f"`bench/results/twin-check-h200.json`: {run}, commit {commits}.", ""]


def long_tables():
    out = goals() + methods_table() + twin_check()
    for name, title in LONG:
        pairs = pairs_of(name)
        if not pairs:
            continue
        run, commits = run_of([a for _, a in pairs])
        out += [f"## {title}", ""] + in_ranges(pairs) + ["", "<details><summary>each triangle</summary>", ""]
        out += table(load([RESULTS / name])) + ["", "</details>", "", f"`bench/results/{name}`: {run}, commit {commits}.", ""]
    return "\n".join(out)


def main():
    if sys.argv[1:] == ["--results"]:
        put("docs/results.md", "gpu", summary())
        put("bench/results/trisolve-gpu.md", "gpu", long_tables())
        return
    rows = load(sys.argv[1:])
    print("\n".join(table(rows)))
    for m in sorted({m for r in rows.values() for m in r} - {"cusparse"}):
        gains = [seconds(r["cusparse"], r.get("auto", r[m])) / seconds(r[m], r.get("auto", r[m])) for r in rows.values() if m in r and "cusparse" in r]
        if gains:
            print(f"\n{m}: geometric mean {mean(gains):.2f}, least {min(gains):.2f}, largest {max(gains):.2f} over {len(gains)} solves", end="")
    print()


main()
