#!/usr/bin/env python3
"""Checks the include graph: a file includes lower layers and its own folder, nothing else; the tool, the benchmarks and the
examples see include/ only; #if on compilers and features stands in base/portable.h alone."""
import pathlib
import re
import sys

LEVEL = {"base": 0, "sparse": 1, "graph": 2, "kernels": 2, "device": 3, "comm": 3, "forest": 4, "factor": 4, "krylov": 4,
         "trisolve": 5, "supernodal": 5, "precond": 6, "dist": 6, "pipeline": 6, "api": 7}
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
