#!/usr/bin/env python3
"""supernodal_chart.py: from bench/results/supernodal-*-h200.json the seed's slides 8 to 10, solve methods over cuSPARSE:
docs/figures/supernodal-sierra.svg (slide 8: the generated problem of the seed's class, block columns merged and not),
docs/figures/supernodal-elasticity.svg (slide 9: that problem at several sizes) and docs/figures/supernodal-matrices.svg (slide 10: real
matrices); the tables of docs/notebook/solve-methods-gpu.md, and of docs/notebook/clusters-gpu.md the one beside cuDSS.  Slide 7 is what
`gable levels --supernodal` draws."""
import json
import math

from marks import ROOT, mean, put

RESULTS = ROOT / "bench/results"
METHODS = ("levels", "batched", "inverted", "merged", "partitioned", "partitioned-cusparse", "auto")
COLOURS = dict(zip(METHODS, ("#999999", "#c2571a", "#e0a030", "#6aa84f", "#2f6f9f", "#8fb8d0", "#222222")))
BYTES_A_SECOND = 4.28e12  # of an H200's memory (tool/gpu_properties.h)
WIDTH, LEFT, RIGHT, ROW, LEAST, MOST = 820, 190, 60, 15, 0.05, 200.0


def read(name):
    """Lines with a time by matrix and method; none where there is no such file."""
    found = {}
    if not (RESULTS / name).exists():
        return found
    for line in open(RESULTS / name):
        r = json.loads(line)
        if "solve_s" in r:
            found.setdefault(r["matrix"], {})[r["method"] + (" merged" if r["merge_blocks"] else "")] = r
    return found


def across(gain):
    """Logarithmic."""
    return LEFT + (WIDTH - LEFT - RIGHT) * math.log(max(gain, LEAST) / LEAST) / math.log(MOST / LEAST)


def bar(y, label, gain, colour):
    begin, end = sorted((across(1), across(gain)))
    return (f'<text x="{LEFT - 8}" y="{y + 11}" text-anchor="end">{label}</text>'
            f'<rect x="{begin:.1f}" y="{y + 1}" width="{end - begin:.1f}" height="{ROW - 3}" fill="{colour}"/>'
            f'<text x="{max(end, across(1)) + 5:.1f}" y="{y + 11}">{gain:.3g}</text>')


def draw(path, title, groups):
    """groups: (heading, [(label, gain, colour)])."""
    body, y = [], 50
    for heading, bars in groups:
        if heading:
            body.append(f'<text x="12" y="{y + 11}" font-weight="bold">{heading}</text>')
            y += ROW
        for label, gain, colour in bars:
            body.append(bar(y, label, gain, colour))
            y += ROW
        y += 8
    x = across(1)
    (ROOT / "docs/figures" / path).write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y + 10}" font-family="sans-serif" font-size="11">'
        f'<rect width="{WIDTH}" height="{y + 10}" fill="#fff"/>'
        f'<text x="12" y="20" font-size="14" font-weight="bold">{title}</text>'
        '<text x="12" y="37" fill="#555">times cuSPARSE SpSV on the same factors, one right-hand side, logarithmic</text>'
        + "\n".join(body) + f'<line x1="{x:.1f}" x2="{x:.1f}" y1="44" y2="{y}" stroke="#a33"/></svg>\n')


def gains(row, base):
    return [(m, base / row[m]["solve_s"], COLOURS[m.split()[0]]) for m in row if m.split()[0] in METHODS]


def table(rows):
    """Microseconds of a solve, the ratio over cuSPARSE in brackets."""
    methods = [m for m in METHODS if any(m in row for row in rows.values())]
    lines = ["| matrix | kind | n | nnz(L) M | cuSPARSE us | " + " | ".join(methods) + " |", "|---" * (5 + len(methods)) + "|"]
    for matrix, row in rows.items():
        base = row["cusparse"]["solve_s"]
        cells = [f'{1e6 * row[m]["solve_s"]:.0f} ({base / row[m]["solve_s"]:.3g})' if m in row else "" for m in methods]
        r = row["cusparse"]
        lines.append(f'| {matrix} | {r["kind"]} | {r["n"]} | {r["nnz_l"] / 1e6:.2f} | {1e6 * base:.0f} | ' + " | ".join(cells) + " |")
    means = [mean(row["cusparse"]["solve_s"] / row[m]["solve_s"] for row in rows.values() if m in row) for m in methods]
    lines.append("| geometric mean | | | | | " + " | ".join(f"({m:.3g})" for m in means) + " |")
    return "\n".join(lines)


def curves(rows):
    """docs/figures/supernodal-elasticity.svg: each method's gain by n, both logarithmic."""
    height, top, left, right = 420, 60, 60, 160
    sizes = [r["cusparse"]["n"] for r in rows.values()]
    gain = {m: [(r["cusparse"]["n"], r["cusparse"]["solve_s"] / r[m]["solve_s"]) for r in rows.values() if m in r] for m in METHODS}
    values = [g for points in gain.values() for _, g in points] + [1]
    least, most = 10 ** math.floor(math.log10(min(values))), 10 ** math.ceil(math.log10(max(values)))

    def x(n):
        return left + (WIDTH - left - right) * math.log(n / min(sizes)) / math.log(max(sizes) / min(sizes))

    def y(g):
        return height - 40 - (height - 40 - top) * math.log(g / least) / math.log(most / least)

    body = [f'<text x="{x(n):.1f}" y="{height - 22}" text-anchor="middle">{n}</text>' for n in sizes]
    step = least
    while step <= most * 1.001:
        body.append(f'<line x1="{left}" x2="{WIDTH - right}" y1="{y(step):.1f}" y2="{y(step):.1f}" stroke="{"#a33" if step == 1 else "#ddd"}"/>'
                    f'<text x="{left - 6}" y="{y(step) + 4:.1f}" text-anchor="end">{step:g}</text>')
        step *= 10
    for m, points in gain.items():
        if not points:
            continue
        line = " ".join(f"{x(n):.1f},{y(g):.1f}" for n, g in points)
        body.append(f'<polyline points="{line}" fill="none" stroke="{COLOURS[m]}" stroke-width="2"/>'
                    + "".join(f'<circle cx="{x(n):.1f}" cy="{y(g):.1f}" r="3" fill="{COLOURS[m]}"/>' for n, g in points)
                    + f'<text x="{x(points[-1][0]) + 8:.1f}" y="{y(points[-1][1]) + 4:.1f}" fill="{COLOURS[m]}">{m} {points[-1][1]:.3g}</text>')
    (ROOT / "docs/figures/supernodal-elasticity.svg").write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" font-size="11">'
        f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>'
        '<text x="12" y="20" font-size="14" font-weight="bold">Elasticity by size: solve methods on one H200</text>'
        '<text x="12" y="37" fill="#555">times cuSPARSE SpSV on the same factors by unknowns, one right-hand side, both logarithmic</text>'
        + "\n".join(body) + "</svg>\n")


def merge_table(merged, many):
    """Of sierra-sd: block columns of one pattern merged, and 16 right-hand sides."""
    methods = ("cusparse",) + METHODS
    names = {m + " merged": m for m in METHODS}
    one = {names[m]: r for m, r in merged.items()}
    lines = ["| us | " + " | ".join(methods) + " |", "|---" * (1 + len(methods)) + "|"]
    for what, row in (("one, block columns of one pattern merged", one), ("16 right-hand sides", many)):
        lines.append(f"| {what} | " + " | ".join(f'{1e6 * row[m]["solve_s"]:.0f}' if m in row else "" for m in methods) + " |")
    return "\n".join(lines)


def beside_cudss(rows):
    """Own method and cuDSS by factor and number of right-hand sides, us, and what the page says of all of them.  cuDSS may be missing."""
    found = {}
    for r in rows:
        found.setdefault((r["matrix"], r["kind"]), {})[r["method"], r["rhs"]] = r
    lines = ["| matrix | kind | MB | floor | one launch | share | cuDSS | gain | 16: one launch | 16: cuDSS | gain | 128: by level | 128: cuDSS | gain "
             "| backward error | cuDSS |", "|---" * 16 + "|"]
    gain = {rhs: [] for rhs in (1, 16, 128)}
    for (matrix, kind), by in found.items():
        one, other = by["auto", 1], by.get(("cudss", 1))
        cells = [f'{one["floor_s"] * BYTES_A_SECOND / 1e6:.1f}', f'{1e6 * one["floor_s"]:.1f}']
        for rhs in gain:
            ours = by["auto", rhs]["solve_s"]
            cells += [f"{1e6 * ours:.0f}", *([f'{100 * one["share"]:.0f}%'] if rhs == 1 else [])]
            if other:
                theirs = by["cudss", rhs]["solve_s"]
                gain[rhs].append(theirs / ours)
                cells += [f"{1e6 * theirs:.0f}", f"{theirs / ours:.1f}"]
            else:
                cells += ["", ""]
        errors = [f'{r["first_backward_error"]:.1e}' if r else "" for r in (one, other)]
        lines.append(f"| {matrix} | {kind} | " + " | ".join(cells + errors) + " |")
    said = [f"{rhs}: {mean(g):.1f} (least {min(g):.1f})" for rhs, g in gain.items()]
    wider = {rhs: [by["auto", rhs]["solve_s"] / by["auto", 1]["solve_s"] for by in found.values()] for rhs in (16, 128)}
    said += [f"{rhs} cost {mean(w):.1f} times one ({min(w):.1f} to {max(w):.1f})" for rhs, w in wider.items()]
    return "\n".join(lines) + f"\n\nOver cuDSS in the geometric mean of {len(gain[1])}: " + "; ".join(said) + "."


def main():
    page = "docs/notebook/solve-methods-gpu.md"
    rows = {m: r for m, r in read("supernodal-methods-h200.json").items() if "cusparse" in r}
    merged = read("supernodal-merge-h200.json")
    (ROOT / "docs/figures").mkdir(exist_ok=True)
    seed, base = rows["sierra-sd"], rows["sierra-sd"]["cusparse"]["solve_s"]
    draw("supernodal-sierra.svg", f'Elasticity, n = {seed["cusparse"]["n"]}: solve methods on one H200',
         [("supernodes as they are", gains(seed, base)), ("block columns of one pattern merged", gains(merged["sierra-sd"], base))])
    draw("supernodal-matrices.svg", "Solve methods on one H200",
         [(f'{m}, n = {r["cusparse"]["n"]}', gains(r, r["cusparse"]["solve_s"])) for m, r in rows.items()])
    sizes = {m: r for m, r in read("supernodal-elasticity-h200.json").items() if "cusparse" in r}
    if sizes:
        curves(sizes)
        put(page, "sizes", table(sizes))
    put(page, "methods", table(rows))
    with open(RESULTS / "supernodal-auto-h200.json") as one, open(RESULTS / "supernodal-128rhs-h200.json") as wide:
        rows = [r for r in map(json.loads, [*one, *wide]) if r["method"] in ("auto", "cudss")]
    put("docs/notebook/clusters-gpu.md", "cudss", beside_cudss(rows))
    put(page, "merge", merge_table(merged["sierra-sd"], read("supernodal-16rhs-h200.json")["sierra-sd"]))


if __name__ == "__main__":
    main()
