#!/usr/bin/env python3
"""trisolve_cpu_table.py FILE.jsonl: the triangular solves of bench/trisolve_cpu.py as tables in Markdown.
trisolve_cpu_table.py --results FILE.jsonl: their summary between the marks of docs/results.md.
trisolve_cpu_table.py --scaling [--results] FILE.jsonl: auto on more and more threads, as a table, also in docs/results.md.
trisolve_cpu_table.py --docs FILE.jsonl SCALING.jsonl: every row of both with its floor and the share reached, to bench/results/trisolve-cpu.md.

best: the fastest of a plain serial loop, Gable's serial, and MKL on one and on several threads, of those with a right result."""
import json
import pathlib
import sys

from marks import ROOT, mean, put

OUR_MEAN, OUR_LEAST = 1.3, 0.95


def load(path):
    """{(matrix, triangle): {(method, threads): line}}"""
    rows = {}
    for line in open(path):
        r = json.loads(line)
        rows.setdefault((r["matrix"], r["uplo"]), {})[r["method"], r["threads"]] = r
    return rows


def right(r):
    return r["max_error_bound_ratio"] is not None and r["max_error_bound_ratio"] <= 1


def best(r):
    return min((x for (m, _), x in r.items() if m in ("plain", "serial", "mkl") and right(x)), key=lambda x: x["solve_s"])


def gain(r, threads):
    return best(r)["solve_s"] / r["auto", threads]["solve_s"]


def microseconds(x):
    return f"{1e6 * x:.4g}"


def table(rows):
    keys = sorted({k for r in rows.values() for k in r}, key=lambda k: ((["plain", "mkl", "serial"] + [k[0]]).index(k[0]), k))
    threads = max(t for _, t in keys)
    print("Microseconds, medians. Floor: reading the bytes (from the caches where they fit), or levels x latency of a row, whichever is more.\n")
    print("| matrix | triangle | rows | entries a row | levels | " + " | ".join(f"{m} ({t})" for m, t in keys)
          + f" | best / auto ({threads}) | auto is | floor | share |")
    print("|---" * (9 + len(keys)) + "|")
    for (matrix, uplo), r in rows.items():
        a = r["auto", threads]
        cells = [(microseconds(r[k]["solve_s"]) + ("" if right(r[k]) else " wrong")) if k in r else "" for k in keys]
        print(f'| {matrix} | {uplo} | {a["n"]} | {a["nnz"] / a["n"]:.1f} | {a["levels"]} | ' + " | ".join(cells)
              + f' | {gain(r, threads):.2f} | {a["method_used"]} on {a["threads_used"]} | {microseconds(a["floor_s"])} | {a["share"]:.2f} |')
    print()


def sets(rows, limit):
    grids = {k: r for k, r in rows.items() if ":" in k[0]}
    real = {k: r for k, r in rows.items() if ":" not in k[0]}
    work = {k: r for k, r in real.items() if best(r)["solve_s"] >= limit}
    return [("grids", grids), ("triangles of real matrices", real), (f"of them, those beyond {1e6 * limit:.0f} us", work), ("all", rows)]


def summary(rows, name):
    threads = max(t for r in rows.values() for _, t in r)
    lines = [f"From `{name}` by `bench/trisolve_cpu_table.py --results`. Gain: best of a plain serial loop, Gable's serial and MKL's "
             f"`mkl_sparse_d_trsv` on 1 and {threads} threads, over `auto`.", "",
             f"| set | solves | gain on {threads} threads: mean | least | below {OUR_LEAST} | gain on 1 thread: mean | least | below {OUR_LEAST} |",
             "|---" * 8 + "|"]
    for what, part in sets(rows, 50e-6):
        if not part:
            continue
        many, one = ([gain(r, t) for r in part.values()] for t in (threads, 1))
        cells = [f"{mean(g):.2f} | {min(g):.2f} | {sum(x < OUR_LEAST for x in g)}" for g in (many, one)]
        lines.append(f"| {what} | {len(part)} | " + " | ".join(cells) + " |")
    any_row = next(iter(next(iter(rows.values())).values()))
    everything = [gain(r, threads) for r in rows.values()]
    wrong = sum(not right(r["mkl", threads]) for r in rows.values() if ("mkl", threads) in r)
    lines += ["", f"Wanted: mean {OUR_MEAN} on {threads} threads ({'reached' if mean(everything) >= OUR_MEAN else 'MISSED'}), none below {OUR_LEAST} "
              f"({'reached' if min(everything) >= OUR_LEAST else 'MISSED: ' + ', '.join(f'{k[0]} {k[1]} {gain(r, threads):.2f}' for k, r in rows.items() if gain(r, threads) < OUR_LEAST)})."]
    if not any(m == "mkl" for r in rows.values() for m, _ in r):
        lines.append("MKL was not there.")
    elif wrong:
        lines.append(f"MKL on {threads} threads missed the error bound in {wrong} of {len(rows)} solves, which do not count.")
    lines.append(f'{any_row["machine"]}, last-level cache {any_row["llc_bytes"] >> 20} MiB, commit{"s" if len(commits(rows)) > 1 else ""} {", ".join(commits(rows))}, {any_row["date"]}.')
    return "\n".join(lines)


def scaling(rows, name):
    """auto on each number of threads, over the better one of a plain loop and Gable's serial."""
    threads = sorted({t for r in rows.values() for _, t in r})
    lines = [f"From `{name}` by `bench/trisolve_cpu_table.py --scaling --results`: microseconds of one thread in the natural order, the better one of a plain "
             "loop and Gable's `serial`, and how many times faster `auto` is on so many threads.", "",
             "| matrix | triangle | rows | levels | one thread, us | " + " | ".join(f"auto ({t})" for t in threads) + " |", "|---" * (5 + len(threads)) + "|"]
    for (matrix, uplo), r in rows.items():
        a = r["auto", 1]
        cells = [f'{gain(r, t):.2f}' if ("auto", t) in r else "" for t in threads]
        lines.append(f'| {matrix} | {uplo} | {a["n"]} | {a["levels"]} | {microseconds(best(r)["solve_s"])} | ' + " | ".join(cells) + " |")
    cells = []
    for t in threads:
        g = [gain(r, t) for r in rows.values() if ("auto", t) in r]
        cells.append(f"{mean(g):.2f} ({min(g):.2f})")
    lines.append("| geometric mean (least) | | | | | " + " | ".join(cells) + " |")
    any_row = next(iter(next(iter(rows.values())).values()))
    about = [str(any_row[k]) for k in ("machine", "commit", "date") if k in any_row]
    lines += ["", ", ".join(about) + "." if about else ""]
    return "\n".join(lines)


def bound_of(r):
    return "bytes" if r["floor_bytes_s"] >= r["floor_chain_s"] else "levels"


def mkl_cell(r):
    found = [x for (m, _), x in r.items() if m == "mkl" and right(x)]
    return microseconds(min(x["solve_s"] for x in found)) if found else ""


def about(rows):
    any_row = next(iter(next(iter(rows.values())).values()))
    return f'{any_row["machine"]}; commit{"s" if len(commits(rows)) > 1 else ""} {", ".join(commits(rows))}; {any_row["date"]}.'


def commits(rows):
    return sorted({x["commit"] for r in rows.values() for x in r.values()})


def floors(rows):
    """Every triangle: auto on each number of threads, with its floor and the share of it that the most threads reach."""
    threads = sorted({t for r in rows.values() for _, t in r})
    has_mkl = any(m == "mkl" for r in rows.values() for m, _ in r)
    lines = ["| matrix | triangle | rows | entries a row | levels | plain | serial | " + ("MKL | " if has_mkl else "")
             + " | ".join(f"auto ({t})" for t in threads) + f" | auto ({threads[-1]}) is | floor | of | share |",
             "|---" * (11 + has_mkl + len(threads)) + "|"]
    for (matrix, uplo), r in rows.items():
        a = r["auto", max(t for m, t in r if m == "auto")]
        cells = [microseconds(r[k]["solve_s"]) for k in (("plain", 1), ("serial", 1))] + ([mkl_cell(r)] if has_mkl else [])
        cells += [microseconds(r["auto", t]["solve_s"]) if ("auto", t) in r else "" for t in threads]
        lines.append(f'| {matrix} | {uplo} | {a["n"]} | {a["nnz"] / a["n"]:.1f} | {a["levels"]} | ' + " | ".join(cells)
                     + f' | {a["method_used"]} on {a["threads_used"]} | {microseconds(a["floor_s"])} | {bound_of(a)} | {a["share"]:.2f} |')
    return "\n".join(lines)


def docs(paths):
    text = ["# Triangular solves on the CPU: every row, its floor and the share reached", "",
            "Written by `bench/trisolve_cpu_table.py --docs " + " ".join(str(p) for p in paths) + "`; how it is measured: [benchmarks.md](../../docs/benchmarks.md).",
            "Microseconds, medians. Floor, of the most threads in the row: reading the bytes with so many threads, from the caches where they fit, or levels x "
            "the latency of a row on one core, whichever is more (`of`). Share: floor over `auto` on the most threads. What lies between: "
            "[algorithms/tiles.md](../../docs/algorithms/tiles.md).", ""]
    for path in paths:
        rows = load(ROOT / path)
        text += [f"## {about(rows)}", "", f"From `{path}`.", "", floors(rows), ""]
    (ROOT / "bench/results/trisolve-cpu.md").write_text("\n".join(text))


def main():
    words = [w for w in sys.argv[1:] if not w.startswith("--")]
    if "--docs" in sys.argv:
        docs([pathlib.Path(w).resolve().relative_to(ROOT) for w in words])
        return 0
    rows = load(words[0])
    path = pathlib.Path(words[0]).resolve()
    name = path.relative_to(ROOT) if ROOT in path.parents else path.name
    if "--scaling" in sys.argv:
        text, marks = scaling(rows, name), "cpu-scaling"
    else:
        table(rows)
        text, marks = summary(rows, name), "cpu-trisolve"
    print(text)
    if "--results" in sys.argv:
        put("docs/results.md", marks, text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
