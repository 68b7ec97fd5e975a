#!/usr/bin/env python3
"""layers.py [BUILD]: checks that a file includes and calls lower layers and its own folder only.

Includes are read from the sources, calls from the symbols of the objects under BUILD/src (nm).  The tool, the benchmarks and the
examples see include/ only; #if on compilers and features stands in base/portable.h alone."""
import pathlib
import re
import subprocess
import sys

LEVEL = {"base": 0, "sparse": 1, "cuda": 2, "graph": 2, "kernels": 3, "device": 4, "comm": 5, "factor": 5, "forest": 6,
         "trisolve": 6, "supernodal": 6, "gsofa": 6, "smooth": 7, "precond": 8, "dist": 8, "krylov": 9,
         "pipeline": 10, "api": 11}
INCLUDE = re.compile(r'^\s*#\s*include\s+["<]([^">]+)[">]', re.M)
CONDITION = re.compile(r"^\s*#\s*(?:if|ifdef|ifndef|elif)\b.*(?:__GNUC__|__clang__|_OPENMP|__x86_64__|__AVX|HAVE_|__linux__|__CUDA)", re.M)
BANNED = re.compile(r"\b(sprintf|strcpy|strcat|atoi|gets|rand|vsprintf)\s*\(")
ROOT = pathlib.Path(__file__).resolve().parent.parent
errors = []


def fail(path, text):
    errors.append(f"{path.relative_to(ROOT)}: {text}")


def files(folder):
    return sorted(p for p in (ROOT / folder).rglob("*") if p.suffix in {".c", ".h", ".cu", ".inc", ".cuh"})


for path in files("src"):
    text = path.read_text()
    folder = path.relative_to(ROOT / "src").parts[0]
    if folder not in LEVEL:
        fail(path, f"folder src/{folder} has no layer: give it one in scripts/layers.py")
        continue
    for name in INCLUDE.findall(text):
        target = name.split("/")[0]
        if target in LEVEL and target != folder and LEVEL[target] >= LEVEL[folder]:
            fail(path, f"includes {name}, which is not below src/{folder}")
    if path.name != "portable.h" and CONDITION.search(text):
        fail(path, f"#if on a compiler or feature: {CONDITION.search(text).group(0).strip()} (only base/portable.h may)")
    if path.suffix != ".inc" and BANNED.search(text):
        fail(path, f"banned function {BANNED.search(text).group(1)}")

def symbols(objects, *flags):
    """(object, symbol) of each symbol that nm prints for the objects"""
    text = subprocess.run(["nm", "-A", "-P", *flags, *map(str, objects)], capture_output=True, text=True, check=True).stdout
    for line in text.splitlines():
        name, symbol = line.split()[:2]
        yield pathlib.Path(name.rstrip(":")), symbol


def check_calls(build):
    """reports each call from a room to a room that is not below it"""
    objects = sorted(o for o in (build / "src").rglob("*.o") if (ROOT / o.relative_to(build)).with_suffix("").exists())
    if not objects:
        errors.append(f"{build}: no objects under src: build the library first")
        return
    room = {o: o.relative_to(build / "src").parts[0] for o in objects}
    home = {symbol: room[o] for o, symbol in symbols(objects, "-g", "--defined-only")}
    for o, symbol in symbols(objects, "-u"):
        target = home.get(symbol, room[o])
        if target != room[o] and LEVEL.get(target, 0) >= LEVEL.get(room[o], 99):
            errors.append(f"{o.relative_to(build)}: calls {symbol} of src/{target}, which is not below src/{room[o]}")


if len(sys.argv) > 1:
    check_calls(pathlib.Path(sys.argv[1]))
for folder in ("tool", "bench", "examples"):
    for path in files(folder):
        for name in INCLUDE.findall(path.read_text()):
            if name.split("/")[0] in LEVEL:
                fail(path, f"includes {name}: {folder}/ sees include/ only")
for path in [p for d in ("src", "tool", "bench", "tests", "scripts") for p in (ROOT / d).rglob("*")]:
    if re.fullmatch(r"(utils?|misc|helpers?)\..*", path.name):
        fail(path, "a file named utils, misc or helpers says nothing")
print("\n".join(errors) if errors else "layers: in order")
sys.exit(1 if errors else 0)
