#!/usr/bin/env python3
"""solve_line.py MATRIX [KEY=VALUE ...]: an object of `gable solve --json` on standard input as one line of bench/results, with the names of
`gable bench supernodal`: kind (of the factorization), method (of the solve), q1_s, q3_s, machine, commit, date; and the keys that are given."""
import json
import os
import sys
import time


def main():
    r = json.load(sys.stdin)
    if "solve_s" not in r:
        sys.exit(f"solve_line.py: {sys.argv[1]}: {r.get('reason', 'no solve')}")
    line = {"matrix": sys.argv[1], "kind": r.pop("method"), "method": r.pop("solve_method"), "q1_s": r.pop("solve_q1_s"), "q3_s": r.pop("solve_q3_s")}
    r.pop("matrix")
    given = dict(word.split("=", 1) for word in sys.argv[2:])
    line |= r | {k: int(v) if v.isdigit() else v for k, v in given.items()}
    line |= {"machine": os.environ["GABLE_BENCH_MACHINE"], "commit": os.environ["GABLE_BENCH_COMMIT"], "date": time.strftime("%Y-%m-%d")}
    print(json.dumps(line))


main()
