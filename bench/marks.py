"""marks.py: what the makers of tables share: text between the marks of a page, and the geometric mean."""
import math
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def put(page, name, text):
    """Between <!-- name:begin --> and <!-- name:end --> of a page of the repository, whose marks must be there."""
    begin, end = f"<!-- {name}:begin -->", f"<!-- {name}:end -->"
    old = (ROOT / page).read_text()
    if begin not in old:
        sys.exit(f"{pathlib.Path(sys.argv[0]).name}: {page} has no {begin}")
    (ROOT / page).write_text(re.sub(re.escape(begin) + ".*?" + re.escape(end), lambda _: f"{begin}\n{text}\n{end}", old, flags=re.S))


def mean(values):
    """Geometric; NaN of none."""
    values = list(values)
    return math.exp(sum(map(math.log, values)) / len(values)) if values else math.nan
