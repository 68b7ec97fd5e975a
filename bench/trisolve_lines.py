"""trisolve_lines.py: lines of `gable bench --json`, for the makers of tables and charts of triangular solves on a GPU."""
import json
import re

from marks import ROOT

RESULTS = ROOT / "bench/results"
SHORT_S = 50e-6  # where auto takes less, both sides count as timed back to back in a captured graph
FEW_ROWS, MANY_ENTRIES = 20000, 1000000


def load(names):
    """{(matrix, triangle, right-hand sides): {method: line}}"""
    rows = {}
    for name in names:
        for line in open(name):
            r = json.loads(line)
            if "sweep" in r or "error" in r or "status" in r or "permuted" in r["matrix"] and "methods" in str(name):
                continue
            rows.setdefault((r["matrix"], r["uplo"], r["rhs"]), {})[r["method"]] = r
    return rows


def seconds(r, beside):
    """A solve of line r; beside: the line of auto that decides how solves of the pair are timed."""
    return r["batch_solve_s"] if beside["solve_s"] < SHORT_S and "batch_solve_s" in r and "batch_solve_s" in beside else r["solve_s"]


def pairs_of(name, pattern="", reference=None):
    """[(cuSPARSE's line, auto's)] of a file of bench/results; reference: the file that has cuSPARSE's."""
    path, other = RESULTS / name, RESULTS / (reference or name)
    if not path.exists() or not other.exists():
        return []
    own, theirs = load([path]), load([other])
    return [(theirs[key]["cusparse"], r["auto"]) for key, r in own.items()
            if re.search(pattern, key[0]) and "auto" in r and "cusparse" in theirs.get(key, {})]


def gain(pair):
    return seconds(pair[0], pair[1]) / seconds(pair[1], pair[1])


def total(r):
    """Analysis, update and first solve."""
    return r["analyse_s"] + r["update_s"] + r["first_solve_s"]


def size_class(r):
    """0: few rows, 1: in between, 2: many entries."""
    return 0 if r["n"] < FEW_ROWS else 2 if r["nnz"] > MANY_ENTRIES else 1


SIZES = ["below 20,000 rows", "20,000 rows and more, up to 10^6 entries", "above 10^6 entries"]


def run_of(lines):
    """Machine and date, and the commits, of some lines."""
    return ("; ".join(sorted({f'{r["machine"]}, {r["date"]}' for r in lines})), ", ".join(sorted({r["commit"] for r in lines})))
