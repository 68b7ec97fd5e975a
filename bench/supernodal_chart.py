#!/usr/bin/env python3
"""supernodal_chart.py: from bench/results/supernodal-*-h200.json the seed's slides 8 and 9, bars of every solve method over cuSPARSE:
docs/figures/supernodal-sierra.svg (the generated problem of the seed's class, block columns merged and not) and
docs/figures/supernodal-matrices.svg; the table of docs/notebook/solve-methods-gpu.md."""
import json
import math

from marks import ROOT, mean, put

RESULTS = ROOT / "bench/results"
METHODS = ("levels", "batched", "inverted", "merged", "partitioned", "partitioned-cusparse", "auto")
COLOURS = dict(zip(METHODS, ("#999999", "#c2571a", "#e0a030", "#6aa84f", "#2f6f9f", "#8fb8d0", "#222222")))
WIDTH, LEFT, RIGHT, ROW, LEAST, MOST = 820, 190, 60, 15, 0.05, 200.0


def read(name):
    """Lines with a time by matrix and method."""
    found = {}
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


def main():
    rows = {m: r for m, r in read("supernodal-methods-h200.json").items() if "cusparse" in r}
    merged = read("supernodal-merge-h200.json")
    (ROOT / "docs/figures").mkdir(exist_ok=True)
    seed, base = rows["sierra-sd"], rows["sierra-sd"]["cusparse"]["solve_s"]
    draw("supernodal-sierra.svg", f'Elasticity, n = {seed["cusparse"]["n"]}: solve methods on one H200',
         [("supernodes as they are", gains(seed, base)), ("block columns of one pattern merged", gains(merged["sierra-sd"], base))])
    draw("supernodal-matrices.svg", "Solve methods on one H200",
         [(f'{m}, n = {r["cusparse"]["n"]}', gains(r, r["cusparse"]["solve_s"])) for m, r in rows.items()])
    put("docs/notebook/solve-methods-gpu.md", "methods", table(rows))


if __name__ == "__main__":
    main()
