#!/bin/sh
# The cost function that decides between CPU and GPU has the constants that bench/results give.
command -v python3 >/dev/null 2>&1 || { echo "no python3 on this machine"; exit 77; }
python3 -c 'import sys; sys.exit(sys.version_info < (3, 10))' || { echo "python3 is older than 3.10"; exit 77; }
python3 bench/device_cost.py --check
