#!/usr/bin/env python3
"""make bench-trisolve: triangular solves on the CPU beside a plain serial loop and Intel MKL's mkl_sparse_d_trsv.

Both triangles of every square real or pattern matrix of $GABLE_MATRICES (else ../shared/matrices) with at least 1000 rows, and of a
few grids: one JSON line a triangle, method and number of threads in bench/results/trisolve-cpu-DATE.jsonl, then its tables.
MKL: --mkl or $GABLE_MKL names libmkl_rt.so or a folder that holds it (PyPI packages mkl, mkl-devel); without it that solver is left out.

  make bench-trisolve TRISOLVE="--mkl folder/lib --only xenon1,cage11 --methods serial,tiles,auto"
"""
import argparse
import datetime
import json
import os
import pathlib
import platform
import shlex
import subprocess
import sys
import tempfile

import run

ROOT = run.ROOT
GRIDS = ["laplacian5:300x300", "laplacian5:1000x1000", "laplacian9:400x400", "laplacian7:40x40x40", "laplacian7:80x80x80",
         "laplacian27:40x40x40"]


def build():
    run.BUILD.mkdir(parents=True, exist_ok=True)
    lib = ROOT / os.environ.get("BUILD", "build") / "lib"
    program = run.BUILD / "trisolve_cpu"
    command = [*run.CC, *run.FLAGS, "-fopenmp", "-I", str(ROOT / "include"), str(ROOT / "bench/drivers/trisolve_cpu.c"), str(ROOT / "tool/stopwatch.c"),
               str(ROOT / "bench/reference_solvers/mkl_trsv.c"), str(lib / "libgable.a"), *shlex.split(os.environ.get("LIBS", "")), "-lm", "-ldl",
               "-o", str(program)]
    subprocess.run(command, check=True)
    return program


def find_mkl(where):
    """libmkl_rt.so as named, in the folder that is named, or None, aloud."""
    if where and pathlib.Path(where).is_file():
        return pathlib.Path(where).resolve()
    found = sorted(pathlib.Path(where).glob("**/libmkl_rt.so*")) if where else []
    if found:
        return found[0].resolve()
    print("bench-trisolve: left out: mkl (" + (f"no libmkl_rt.so in {where}" if where else "name it with --mkl or GABLE_MKL") + ")", flush=True)
    return None


def sources(arguments):
    folder = pathlib.Path(os.environ.get("GABLE_MATRICES", ROOT / "../shared/matrices"))
    files = sorted(folder.glob("*.mtx*"), key=lambda p: p.stat().st_size)
    if not files:
        print("bench-trisolve: no folder of matrices (GABLE_MATRICES): grids only", flush=True)
    found = [(f.name.split(".mtx")[0], str(f)) for f in files] + [(g, g) for g in GRIDS]
    if not arguments.only:
        return found
    wanted = arguments.only.split(",")
    for name in sorted(set(wanted) - {f[0] for f in found}):
        print(f"bench-trisolve: no matrix is called {name}: GABLE_MATRICES names their folder, a grid is called as {GRIDS[0]}", flush=True)
    return [f for f in found if f[0] in wanted]


def binary(tool, path, work):
    """The file in Gable's own format, which is read in no time; None when it is not square or small."""
    out = pathlib.Path(work) / (pathlib.Path(path).name.split(".mtx")[0] + ".gbl")
    told = subprocess.run([str(tool), "convert", path, str(out), "--json", "-"], capture_output=True, text=True)
    if told.returncode:
        print(f"{path}: {told.stderr.strip()}", flush=True)
        return None
    report = json.loads(told.stdout)
    return out if report["rows"] == report["columns"] >= 1000 else None


def measure(command, found, out, about):
    told = subprocess.run([*command, *map(str, found)], capture_output=True, text=True)
    sys.stderr.write(told.stderr)
    if told.returncode:
        print(f"bench-trisolve: exit status {told.returncode} on {', '.join(map(str, found))}: not all was measured", flush=True)
    best = {}
    for line in told.stdout.splitlines():
        record = json.loads(line)
        record.update(about)
        out.write(json.dumps(record) + "\n")
        best.setdefault((record["matrix"], record["uplo"]), []).append(
            f'{record["method"]}@{record["threads"]} {1e6 * record["solve_s"]:.4g}')
    out.flush()
    for (name, uplo), times in best.items():
        print(f"{name}, {uplo}: " + ", ".join(times) + " us", flush=True)


def main():
    parser = argparse.ArgumentParser(prog="make bench-trisolve", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mkl", default=os.environ.get("GABLE_MKL"), help="libmkl_rt.so, or the folder that it is in")
    parser.add_argument("--only", help="matrices, by name, with commas")
    parser.add_argument("--methods", default="serial,auto", help="of Gable's, with commas (serial,auto)")
    parser.add_argument("--threads", default="2", help="numbers of threads beside one, with commas (2)")
    parser.add_argument("--seconds", type=float, default=0.2, help="for each method and triangle (0.2)")
    parser.add_argument("--under", default="", help="a command that each measurement runs under, such as 'nice -n -5'")
    parser.add_argument("--group", type=int, default=1, help="matrices that one measurement takes one after the other (1)")
    parser.add_argument("--out", help="the file of results (bench/results/trisolve-cpu-DATE.jsonl)")
    arguments = parser.parse_args()
    todo = sources(arguments)
    if not todo:
        return 1
    program, tool = build(), ROOT / os.environ.get("BUILD", "build") / "bin/gable"
    mkl = find_mkl(arguments.mkl)
    os.environ.setdefault("MKL_THREADING_LAYER", "GNU")  # the runtime that Gable uses too: two would fight over the processors
    os.environ.setdefault("OMP_PROC_BIND", "true")
    now = datetime.datetime.now(datetime.timezone.utc)
    path = pathlib.Path(arguments.out or ROOT / f"bench/results/trisolve-cpu-{now:%Y-%m-%d-%H%M}.jsonl")
    about = {"machine": f'{run.machine()["cpu"]}, {run.machine()["cores"]} cores, {platform.machine()}',
             "llc_bytes": run.machine()["llc_bytes"], "commit": run.commit(), "date": f"{now:%Y-%m-%d}"}
    command = [*shlex.split(arguments.under), str(program), "--threads", arguments.threads, "--seconds", str(arguments.seconds),
               "--methods", arguments.methods, *(["--mkl", str(mkl)] if mkl else [])]
    with open(path, "w") as out, tempfile.TemporaryDirectory() as work:
        for k in range(0, len(todo), arguments.group):
            found = [binary(tool, source, work) if name != source else source for name, source in todo[k : k + arguments.group]]
            measure(command, [f for f in found if f], out, about)
            for file in pathlib.Path(work).iterdir():
                file.unlink()
    print(f"\n{path}\n", flush=True)
    if "auto" not in arguments.methods.split(",") or not path.stat().st_size:
        print("bench-trisolve: no tables: they compare auto with the others", flush=True)
        return 0 if path.stat().st_size else 1
    return subprocess.run([sys.executable, str(ROOT / "bench/trisolve_cpu_table.py"), str(path)]).returncode


if __name__ == "__main__":
    sys.exit(main())
