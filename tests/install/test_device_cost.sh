#!/bin/sh
# The cost function that decides between CPU and GPU has the constants that bench/results give, and its page the errors; the replay chooses
# the place again where a solve goes level by level: mhd4800a stays on the CPU.
command -v python3 >/dev/null 2>&1 || { echo "no python3 on this machine"; exit 77; }
python3 -c 'import sys; sys.exit(sys.version_info < (3, 10))' || { echo "python3 is older than 3.10"; exit 77; }
python3 bench/device_cost.py --check || exit 1
PYTHONPATH=bench python3 - <<'END'
import device_cost as d

line = {r["where"]: r for r in d.lines("supernodal-where-h200.json") if r["matrix"] == "mhd4800a" and not r["where_reason"]}
one = {name: cost for name, cost in zip(d.PLACES, d.source())}
took, best = d.taken(5000, line["cpu"], line["cuda:0"], one["host", "one"], one["sweep", "one"], one["sweep", "preparation"])
assert best == 5000 * line["cpu"]["solve_s"], "5000 solves on the CPU are not the better place"
assert best < took < 1.1 * best, f"{took} s of {best} s: the second choice is missing, or what the first preparation took"
END
