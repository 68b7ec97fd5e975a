#!/usr/bin/env python3
"""forest_gpu.py GABLE OUT --machine M --commit C [--where W]: star forests between ranks on GPUs, every test eager and captured, one JSON line
a row in OUT (bench/results/forest-h200.json): the keys of `gable forest --json` with machine, commit and date.  A test that fails is
named and left out; the exit status is then 1."""
import argparse
import datetime
import json
import subprocess
import sys
import tempfile

TESTS = [[t] for t in ("pingpong", "newpingpong", "unpack", "scatter", "halo")]


def rows(report):
    """The keys of the run, then those of each size."""
    head = {k: v for k, v in report.items() if not isinstance(v, (list, dict))}
    return [{**head, **row} for row in report.get("rows", [{}])]


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("gable")
    p.add_argument("out")
    p.add_argument("--machine", required=True)
    p.add_argument("--commit", required=True)
    p.add_argument("--where", default="cuda:0/peer:2")
    p.add_argument("--most", default=str(1 << 26), help="bytes")
    o = p.parse_args()
    marks = {"machine": o.machine, "commit": o.commit, "date": datetime.date.today().isoformat()}
    runs = [t + ["--most", o.most] + captured for t in TESTS for captured in ([], ["--captured"])]
    runs.append(["spmv", "laplacian5:1000x1000"])
    failed = 0
    with open(o.out, "w", encoding="utf-8") as out:
        for words in runs:
            with tempfile.NamedTemporaryFile(suffix=".json") as report:
                command = [o.gable, "forest", *words, "--where", o.where, "--deadline", "5", "--json", report.name]
                result = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
                if result.returncode:
                    print(f"left out: {' '.join(words)}: {result.stderr.strip()}")
                    failed = 1
                    continue
                with open(report.name, encoding="utf-8") as f:
                    found = rows(json.load(f))
            for row in found:
                out.write(json.dumps({**row, **marks}) + "\n")
            if "one_way_s" in found[0]:
                print(f"{' '.join(words)}: {1e6 * found[0]['one_way_s']:.1f} us at {found[0]['bytes']} bytes, "
                      f"{1e6 * found[-1]['one_way_s']:.1f} at {found[-1]['bytes']}")
    return failed


if __name__ == "__main__":
    sys.exit(main())
