#!/usr/bin/env python3
"""chart.py: docs/figures/gain.svg, the geometric mean and the least gain of each set of bench/results as bars."""
from marks import ROOT, mean
from trisolve_lines import gain, pairs_of, size_class

# label, file, pattern of the matrices, number of the size class
GPU = [("5 points, 2D", "laplacian-h200.json", "^5-", None), ("9 points, 2D", "laplacian-h200.json", "^9-", None),
       ("7 points, 3D", "laplacian-h200.json", "^7-", None), ("27 points, 3D", "laplacian-h200.json", "^27-", None),
       ("real, below 20,000 rows", "matrices-h200.json", "", 0), ("real, in between", "matrices-h200.json", "", 1),
       ("real, above 10^6 entries", "matrices-h200.json", "", 2),
       ("real, 16 right-hand sides", "matrices-16rhs-h200.json", "", None)]
WIDTH, ROW, LEFT, UNIT = 760, 26, 250, 26


def gains(name, pattern, size):
    """cuSPARSE's time over auto's of the lines that match"""
    return [gain(p) for p in pairs_of(name, pattern) if size is None or size_class(p[1]) == size]


def bar(y, label, values):
    """One set: its mean as a bar, its least as a line across it."""
    m, least = mean(values), min(values)
    return (f'<text x="{LEFT - 8}" y="{y + 15}" text-anchor="end">{label} ({len(values)})</text>'
            f'<rect x="{LEFT}" y="{y + 3}" width="{m * UNIT:.1f}" height="16" fill="#2f6f9f"/>'
            f'<line x1="{LEFT + least * UNIT:.1f}" x2="{LEFT + least * UNIT:.1f}" y1="{y}" y2="{y + 22}" stroke="#111"/>'
            f'<text x="{LEFT + m * UNIT + 6:.1f}" y="{y + 15}">{m:.1f}</text>')


def main():
    height = 60 + ROW * len(GPU)
    body = [bar(44 + ROW * k, label, gains(name, pattern, size)) for k, (label, name, pattern, size) in enumerate(GPU)]
    (ROOT / "docs/figures").mkdir(exist_ok=True)
    (ROOT / "docs/figures/gain.svg").write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" font-size="13">'
        f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>'
        '<text x="12" y="20" font-size="15" font-weight="bold">Sparse triangular solves on one H200: gain over cuSPARSE</text>'
        '<text x="12" y="37" fill="#555">bar: geometric mean (solves in brackets); line: the least; dashed: as fast as cuSPARSE</text>'
        + "\n".join(body)
        + f'<line x1="{LEFT + UNIT}" x2="{LEFT + UNIT}" y1="42" y2="{height - 12}" stroke="#a33" stroke-dasharray="4 3"/></svg>\n')


if __name__ == "__main__":
    main()
