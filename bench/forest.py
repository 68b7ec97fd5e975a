#!/usr/bin/env python3
"""make bench-forest: star forests on the CPU beside PetscSF, two ranks pinned to a core each, the same tests in interleaved rounds.

Runs `gable forest` on cpu/ranks:2 and cpu/mpi and, where PETSc is found (pkg-config PETSc, or PETSC_DIR), bench/reference_solvers/petsc_sf.c,
under mpirun.  Of each row the round with the least median counts, for every program: that median and its quartiles.  Writes
bench/results/forest-cpu-DATE.json with the machine, the commit, the load and the rows, and prints the ratios.

  make bench-forest                                    both transports and PETSc
  make bench-forest FOREST="--rounds 5 --most 65536"
"""
import argparse
import datetime
import json
import math
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile
import time

from run import ROOT, commit, machine

BUILD = ROOT / os.environ.get("BUILD", "build")
TESTS = ["pingpong", "newpingpong", "unpack", "scatter", "halo"]
LAUNCH = ["mpirun.openmpi", "-n", "2", "--bind-to", "core"]
MPI = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_btl_base_warn_component_unused": "0"}
TIMES = ("one_way_s", "q1_s", "q3_s")


def petsc():
    """Flags to build with PETSc; None: it is not here."""
    folder = os.environ.get("PETSC_DIR")
    if folder:
        return [f"-I{folder}/include", f"-I{folder}/../include", f"-L{folder}/lib", f"-Wl,-rpath,{folder}/lib", "-lpetsc_real",
                "-Wl,--allow-shlib-undefined"]
    found = subprocess.run(["pkg-config", "--cflags", "--libs", "PETSc"], capture_output=True, text=True)
    return shlex.split(found.stdout) if found.returncode == 0 else None


def build_petsc():
    flags = petsc()
    if flags is None:
        print("bench: left out: PETSc (Debian package: petsc-dev)", flush=True)
        return None
    program = BUILD / "bench" / "petsc_sf"
    program.parent.mkdir(parents=True, exist_ok=True)
    source = str(ROOT / "bench/reference_solvers/petsc_sf.c")
    extra = shlex.split(os.environ.get("PETSC_CFLAGS", ""))
    result = subprocess.run(["mpicc.openmpi", "-O3", *extra, source, "-o", str(program), *flags], capture_output=True, text=True)
    if result.returncode:
        print("bench: left out: PETSc, whose program was not built\n" + result.stderr, flush=True)
        return None
    return program


def run(command):
    result = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **MPI})
    if result.returncode:
        sys.exit(f"bench: {' '.join(map(str, command))}\n{result.stdout}{result.stderr}")
    return result.stdout


def gable(where, test, most, path):
    launch = LAUNCH if where == "cpu/mpi" else []
    pin = [] if where == "cpu/mpi" else ["--pin"]
    program = BUILD / "bin" / ("gable-mpi" if where == "cpu/mpi" else "gable")
    run([*launch, str(program), "forest", test, "--where", where, *pin, "--most", str(most), "--json", str(path)])
    return [{"test": test, **row} for row in json.loads(path.read_text())["rows"]]


def round_of(programs, most, folder):
    rows = {}
    for name, program in programs.items():
        if name == "petsc":
            rows[name] = [json.loads(line) for line in run([*LAUNCH, str(program), str(most)]).splitlines() if line.startswith("{")]
        else:
            rows[name] = [row for test in TESTS for row in gable(program, test, most, folder / "rows.json")]
    return rows


def keep_least(best, rows):
    for name, found in rows.items():
        for row in found:
            at = (name, row["test"], row["n"])
            if not row["checked"]:
                sys.exit(f"bench: {at} is wrong")
            old = best.get(at)
            setup = min(row["setup_s"], old["setup_s"]) if old else row["setup_s"]
            if old is None or row["one_way_s"] < old["one_way_s"]:
                best[at] = row
            best[at]["setup_s"] = setup


def mean(values):
    return math.exp(sum(map(math.log, values)) / len(values)) if values else float("nan")


def compare(best, name):
    """Of each test and of all: how many times as long PETSc takes."""
    result = {}
    for test in TESTS + ["setup"]:
        key = "setup_s" if test == "setup" else "one_way_s"
        rows = [(at[2], best[("petsc", at[1], at[2])][key] / row[key]) for at, row in best.items()
                if at[0] == name and (test == "setup" or at[1] == test) and ("petsc", at[1], at[2]) in best]
        if rows:
            least = min(rows, key=lambda r: r[1])
            result[test] = {"geometric_mean": mean([r[1] for r in rows]), "least": least[1], "least_n": least[0]}
    ways = [best[("petsc", at[1], at[2])]["one_way_s"] / row["one_way_s"] for at, row in best.items()
            if at[0] == name and ("petsc", at[1], at[2]) in best]
    if ways:
        result["all_tests"] = {"geometric_mean": mean(ways), "least": min(ways), "below_0.95": sum(w < 0.95 for w in ways), "rows": len(ways)}
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=220, help="no round begins that would end later")
    parser.add_argument("--most", type=int, default=4 << 20, help="bytes of the largest message")
    parser.add_argument("--out", type=pathlib.Path)
    asked = parser.parse_args()
    programs = {"ranks": "cpu/ranks:2"}
    if (BUILD / "bin" / "gable-mpi").exists():
        programs["mpi"] = "cpu/mpi"
    program = build_petsc()
    if program:
        programs["petsc"] = program
    best, loads = {}, []
    with tempfile.TemporaryDirectory() as folder:
        begun, longest = time.monotonic(), 0.0
        for k in range(asked.rounds):
            if k and time.monotonic() - begun + longest > asked.seconds:
                print(f"{k} of {asked.rounds} rounds: the time is over (--seconds)")
                break
            from_here = time.monotonic()
            loads.append(os.getloadavg()[0])
            keep_least(best, round_of(programs, asked.most, pathlib.Path(folder)))
            longest = max(longest, time.monotonic() - from_here)
            print(f"round {k + 1} of {asked.rounds}, load {loads[-1]:.1f}", flush=True)
    today = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d")
    out = asked.out or ROOT / f"bench/results/forest-cpu-{today}.json"
    ratios = {name: compare(best, name) for name in ("ranks", "mpi") if name in programs and program}
    rows = [{"program": at[0], **row} for at, row in sorted(best.items())]
    out.write_text(json.dumps({"machine": machine(), "commit": commit(), "date": today, "ranks": 2, "rounds": len(loads),
                               "load_before_each_round": loads, "peer": "PETSc " + os.environ.get("PETSC_VERSION", "of pkg-config")
                               if program else None, "petsc_time_over_gable_time": ratios, "rows": rows}, indent=1) + "\n")
    for name, tests in ratios.items():
        for test, r in tests.items():
            print(f"{name:6} {test:12} geometric mean {r['geometric_mean']:.2f}, least {r['least']:.2f}"
                  + (f" at n = {r['least_n']}" if "least_n" in r else f"; {r['below_0.95']} of {r['rows']} rows below 0.95"))
    print(out)


if __name__ == "__main__":
    main()
