#!/usr/bin/env python3
"""make bench: Gable and the reference solvers on the same matrices, the same machine, the same number of threads.

Builds one program per solver that is installed (a missing one is named and left out), measures each on each matrix at its own order
and at Gable's, and writes one JSON line a run to bench/results.  bench/tables.py turns such a file into tables and verdicts.

  make bench                                   everything: hours
  make bench BENCH="--quick"                   a dozen matrices, one thread: minutes
  make bench BENCH="--only xenon1 --threads 1 --solvers cholmod,mumps"
  make bench BENCH="--out FILE --resume"       goes on with a run that was stopped, or with part of the matrices
"""
import argparse
import csv
import datetime
import json
import os
import pathlib
import re
import resource
import shlex
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / os.environ.get("BUILD", "build") / "bench"
CC = shlex.split(os.environ.get("CC", "cc"))
FLAGS = ["-std=c11", "-O3", "-D_POSIX_C_SOURCE=200809L"]

# name: (libraries, Debian package, the variants at its own order)
SOLVERS = {
    "umfpack": (["-lumfpack"], "libsuitesparse-dev", [""]),
    "klu": (["-lklu"], "libsuitesparse-dev", [""]),
    "cholmod": (["-lcholmod"], "libsuitesparse-dev", [""]),
    "superlu": (["-lsuperlu"], "libsuperlu-dev", [""]),
    "mumps": (["-ldmumps_seq", "-lmetis"], "libmumps-seq-dev", ["", "metis"]),
}
GENERATED = ["laplacian5:300x300", "laplacian5:1000x1000", "laplacian9:400x400", "laplacian7:30x30x30", "laplacian7:60x60x60",
             "laplacian27:30x30x30", "convection3d:40x40x40", "elasticity2d:150x150", "elasticity3d:20x20x20", "circuit:100000"]
TOO_LARGE = {"cage13": "its factor takes 38 GB and 1e14 operations (gable symbolic)"}
TIMES, LEAST_LIMIT = 10, 10  # a solver's run ends at so many times Gable's whole run, but not before so many seconds
QUICK = ["bcsstk18", "bcsstk38", "xenon1", "add20", "pf_jac_case13659pegase", "cage10", "nsjac", "ff_aneurysm_elasticity", "c-62",
         "laplacian5:300x300", "laplacian7:30x30x30", "circuit:20000"]

LONG_ROUND = 20  # seconds of all programs on one matrix: longer ones have one round
SHORT_ROUND, SHORT_TIMES = 6, 3  # shorter ones so many times the rounds: a slow moment lasts longer than all of such a solve's repeats
MEASURED = ("order_s", "symbolic_s", "match_s", "structure_s", "first_factor_s", "factor_s", "solve_s", "solve16_s", "refined_solve_s")


# What a program does once, cold: of a short one the scheduler can take a multiple, so fresh processes repeat it, and the one with the
# median of their sum stands.
ONCE = ("order_s", "match_s", "structure_s", "symbolic_s", "first_factor_s")
SHORT, COLD_RUNS = 0.1, 3


def once(record):
    return record["order_s"] + record["symbolic_s"] + record["first_factor_s"]


def pthread_blas():
    """The folder of the OpenBLAS with threads, for the solvers; None: whatever BLAS the machine links by itself."""
    found = sorted(pathlib.Path("/usr/lib").glob("*/openblas-pthread/libopenblas.so"))
    return found[0].parent if found else None


def build(blas):
    BUILD.mkdir(parents=True, exist_ok=True)
    lib = ROOT / os.environ.get("BUILD", "build") / "lib"
    own = ["-I", str(ROOT / "include"), str(lib / "libgable.a"), *shlex.split(os.environ.get("LIBS", "")), "-lm"]
    frame = str(ROOT / "bench/reference_solvers/frame.c")
    jobs = {"export": [str(ROOT / "bench/drivers/export.c"), *own],
            "bandwidth": [str(ROOT / "bench/drivers/bandwidth.c"), str(ROOT / "tool/stopwatch.c"), "-lpthread"],
            "gable": [frame, str(ROOT / "bench/reference_solvers/gable.c"), *own]}
    where = ["-L" + str(blas), "-Wl,-rpath," + str(blas), "-lopenblas"] if blas else ["-lblas", "-llapack"]
    for name, (libraries, _, _) in SOLVERS.items():
        jobs[name] = [frame, str(ROOT / f"bench/reference_solvers/{name}.c"), *libraries, *where, "-lm"]
    missing = []
    for name, rest in jobs.items():
        result = subprocess.run([*CC, *FLAGS, "-o", str(BUILD / name), *rest], capture_output=True, text=True)
        if result.returncode == 0:
            continue
        if name not in SOLVERS:
            sys.exit(f"bench: {name} was not built\n{result.stderr}")
        missing.append(name)
        print(f"bench: left out: {name} (Debian package: {SOLVERS[name][1]})", flush=True)
    return [p for p in SOLVERS if p not in missing]


def machine():
    cpu = re.search(r"model name\s*:\s*(.*)", pathlib.Path("/proc/cpuinfo").read_text())
    family = re.search(r"cpu family\s*:\s*(.*)\n.*model\s*:\s*(.*)", pathlib.Path("/proc/cpuinfo").read_text())
    llc = 0
    for index in pathlib.Path("/sys/devices/system/cpu/cpu0/cache").glob("index*/size"):
        size = index.read_text().strip()
        llc = max(llc, int(size[:-1]) * {"K": 1 << 10, "M": 1 << 20}.get(size[-1], 1))
    memory = re.search(r"MemTotal:\s*(\d+)", pathlib.Path("/proc/meminfo").read_text())
    return {"cpu": cpu.group(1) if cpu else "?", "family_model": "/".join(family.groups()) if family else "?",
            "cores": os.cpu_count(), "llc_bytes": llc, "memory_bytes": 1024 * int(memory.group(1))}


def commit():
    def git(*words):
        return subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, text=True).stdout.strip()
    if not git("rev-parse", "HEAD"):
        return "?"
    return git("rev-parse", "--short=12", "HEAD") + ("+changes" if git("status", "--porcelain", "--untracked-files=no") else "")


def environment(threads):
    env = dict(os.environ)
    env.update(OMP_NUM_THREADS=str(threads), OPENBLAS_NUM_THREADS=str(threads), OMP_PROC_BIND="true")
    return env


def touch_memory():
    """On a virtual machine the host takes back memory that is free for some seconds, and a page costs its first user
    microseconds more: the first of several programs would pay for all.  So each finds small and large pages that were just used."""
    touch = ("import mmap\nboth = [mmap.mmap(-1, 1 << 29, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) for k in range(2)]\n"
             "if hasattr(mmap, 'MADV_HUGEPAGE'): both[1].madvise(mmap.MADV_HUGEPAGE)\n"
             "for m in both:\n    for k in range(0, 1 << 29, 4096): m[k] = 1\n")
    subprocess.run([sys.executable, "-c", touch], check=False)


def bound_memory():
    """What does not fit into 7/8 of the machine's memory is refused, instead of everything on the machine being stopped for it."""
    most = machine()["memory_bytes"] // 8 * 7
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


def measure(name, raw, limit, threads, *words):
    command = [str(BUILD / name), str(raw), "--threads", str(threads), *words]
    start = time.monotonic()
    try:
        run = subprocess.run(command, capture_output=True, text=True, timeout=limit, env=environment(threads), preexec_fn=bound_memory)
    except subprocess.TimeoutExpired:
        return {"peer": name, "ok": False, "reason": f"over {limit:g} s"}
    lines = [line for line in run.stdout.splitlines() if line.startswith("{")]
    if not lines:
        why = f"signal {-run.returncode}" if run.returncode < 0 else (run.stderr.strip().splitlines() or ["no output"])[-1]
        return {"peer": name, "ok": False, "reason": why}
    return {**json.loads(lines[-1]), "run_s": round(time.monotonic() - start, 3)}


def read_bandwidth(threads):
    run = subprocess.run([str(BUILD / "bandwidth"), str(threads)], capture_output=True, text=True)
    return json.loads(run.stdout)


def symmetric(raw):
    with open(raw, "rb") as file:
        file.seek(24)
        return int.from_bytes(file.read(8), "little") == 1


def better(first, second):
    """Of two runs of one program in turn with the others: each time the lesser one.  A neighbour on the same core slows all that
    falls into his fraction of a second by half."""
    if first["ok"] and second["ok"]:
        first.update({key: min(first[key], second[key]) for key in MEASURED if first.get(key) and second.get(key)})


class Bench:
    def __init__(self, arguments, out, solvers):
        self.arguments, self.out, self.solvers = arguments, out, solvers

    def put(self, *records):
        self.out.write("".join(json.dumps(record) + "\n" for record in records))
        self.out.flush()

    def one(self, matrix, threads, name, raw, limit, *words, **more):
        touch_memory()
        call = (name, raw, limit, threads, "--seconds", str(self.arguments.seconds), *words)
        record = measure(*call)
        self.calls.append(call)
        record.update(record="run", matrix=matrix, threads=threads, given_order="--given" in words, **more)
        if name == "gable":  # the memory is shared with other machines, and what it gives changes within minutes
            record["read_bytes_per_s"] = read_bandwidth(threads)["read_bytes_per_s"]
        if record["ok"] and once(record) < SHORT:
            again = [record] + [measure(name, raw, limit, threads, "--seconds", "0", *words) for _ in range(COLD_RUNS - 1)]
            again = sorted((r for r in again if r["ok"]), key=once)
            record.update({key: again[len(again) // 2][key] for key in ONCE if key in record})
        label = name + (" " + more["variant"] if more.get("variant") else "") + (", Gable's order" if record["given_order"] else "")
        if record["ok"]:
            print(f"  {label:32} factor {record['factor_s']:9.4g} s   solve {record['solve_s']:9.3g} s   16: {record['solve16_s']:9.3g} s"
                  f"   error {record['backward_error'] if record['backward_error'] is not None else float('inf'):.1e}", flush=True)
        else:
            print(f"  {label:32} {record.get('phase', '')} {record['reason']}", flush=True)
        return record

    def matrix(self, name, source, kind, threads, work):
        """All solvers on one matrix; the lines of one count of threads are written together, so that a file holds all or none."""
        raw, order = work / "a.raw", work / "order"
        made = subprocess.run([str(BUILD / "export"), source, str(raw)], capture_output=True, text=True)
        if made.returncode:
            print(f"{name}: left out: {made.stderr.strip()}", flush=True)
            self.put({"record": "left_out", "matrix": name, "reason": made.stderr.strip()})
            return
        for count in threads:
            print(f"{name}, {count} thread{'s' * (count > 1)}", flush=True)
            order.unlink(missing_ok=True)
            self.calls = []
            own = self.one(name, count, "gable", raw, self.arguments.limit, "--write-order", str(order), kind=kind)
            limit = min(self.arguments.limit, max(LEAST_LIMIT, TIMES * own.get("run_s", self.arguments.limit)))
            runs = [own]
            spd = own["ok"] and own["options"].startswith("cholesky")
            mode = "spd" if spd else "symmetric" if symmetric(raw) else "general"
            for solver in self.solvers:
                if solver == "cholmod" and not spd:
                    continue
                modes = {"mumps": [mode] if mode != "symmetric" else ["symmetric", "general"]}.get(solver, ["spd" if spd else "general"])
                for m in modes:
                    for variant in SOLVERS[solver][2]:
                        runs.append(self.one(name, count, solver, raw, limit, "--mode", m, "--variant", variant, kind=kind, variant=variant))
                    if order.exists():
                        runs.append(self.one(name, count, solver, raw, limit, "--mode", m, "--given", str(order), kind=kind))
            seconds = sum(run.get("run_s", self.arguments.limit) for run in runs)
            rounds = self.arguments.rounds if seconds <= LONG_ROUND else 1
            if rounds > 1 and seconds <= SHORT_ROUND:
                rounds *= SHORT_TIMES
            for _ in range(1, rounds):
                for run, call in zip(runs, self.calls):
                    better(run, measure(*call))
            for run in runs:
                run["rounds"] = rounds
            self.put(*runs)
        raw.unlink()


def sources(arguments):
    """(name, what the exporter reads, kind), small files first."""
    folder = pathlib.Path(os.environ.get("GABLE_MATRICES", ROOT / "../shared/matrices"))
    kinds = {}
    if (folder / "INDEX.tsv").exists():
        with open(folder / "INDEX.tsv", newline="") as file:
            for row in csv.DictReader(file, delimiter="\t"):
                if row["field"] in ("real", "integer") and row["structural_rank"] == row["rows"] == row["cols"]:
                    kinds[row["name"]] = row["kind"]
    files = sorted(folder.glob("*.mtx*"), key=lambda p: p.stat().st_size)
    if not files:
        print("bench: no folder of matrices (GABLE_MATRICES): generated ones only", flush=True)
    found = [(p.name.split(".mtx")[0], str(p), kinds.get(p.name.split(".mtx")[0], "")) for p in files]
    found = [f for f in found if not kinds or f[0] in kinds]
    found += [(g, g, "circuit, generated" if g.startswith("circuit") else "generated") for g in dict.fromkeys(GENERATED + QUICK) if ":" in g]
    if arguments.only:
        return [f for f in found if f[0] in arguments.only.split(",")]
    if arguments.quick:
        return [f for f in found if f[0] in QUICK]
    return [f for f in found if f[0] in GENERATED or ":" not in f[0]]


def header(now, solvers, threads, seconds):
    bandwidth = {t: read_bandwidth(t) for t in threads}
    compiler = subprocess.run([*CC, "--version"], capture_output=True, text=True).stdout.splitlines()[0]
    return {"record": "machine", **machine(), "commit": commit(), "date": f"{now:%Y-%m-%dT%H:%MZ}", "compiler": compiler,
            "flags": " ".join(FLAGS), "peers": solvers, "seconds": seconds,
            "read_bytes_per_s": {str(t): b["read_bytes_per_s"] for t, b in bandwidth.items()}}


def stands(path, resume, threads):
    """The records of a run to go on with: none if there is no file.  Another commit, machine or set of threads is another run."""
    if not resume or not path.exists():
        return []
    records = [json.loads(line) for line in path.read_text().splitlines()]
    if not records or records[0]["commit"] != commit() or records[0]["cpu"] != machine()["cpu"] \
            or set(map(str, threads)) - set(records[0]["read_bytes_per_s"]):
        sys.exit(f"bench: {path} is of another commit, machine or set of threads; name another file or leave --resume out")
    return records


def main():
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", help="matrices, by name, with commas")
    parser.add_argument("--solvers", help="with commas; gable always runs")
    parser.add_argument("--threads", default="1,2", help="with commas (1,2)")
    parser.add_argument("--limit", type=float, default=90, help="seconds a run may take (90); a solver's at most 10 and ten times Gable's")
    parser.add_argument("--seconds", type=float, default=0.5, help="spent on repeating each timed phase (0.5)")
    parser.add_argument("--rounds", type=int, default=1, help="of all solvers on a matrix where one takes 20 s at most; three times as many where one takes 6; "
                        "the least time counts (1)")
    parser.add_argument("--resume", action="store_true", help="add what the file of --out does not hold yet")
    parser.add_argument("--out", help="the file of results (bench/results/cpu-DATE.jsonl)")
    arguments = parser.parse_args()
    threads = [int(t) for t in ("1" if arguments.quick else arguments.threads).split(",")]
    solvers = build(pthread_blas())
    if arguments.solvers is not None:
        solvers = [p for p in solvers if p in arguments.solvers.split(",")]
    now = datetime.datetime.now(datetime.timezone.utc)
    path = pathlib.Path(arguments.out or ROOT / f"bench/results/cpu-{now:%Y-%m-%d-%H%M}{'-quick' * arguments.quick}.jsonl")
    path.parent.mkdir(parents=True, exist_ok=True)
    before = stands(path, arguments.resume, threads)
    with open(path, "a" if before else "w") as out, tempfile.TemporaryDirectory() as work:
        bench = Bench(arguments, out, solvers)
        if not before:
            bench.put(header(now, solvers, threads, arguments.seconds))
        for name, source, kind in sources(arguments):
            if name in TOO_LARGE:
                print(f"{name}: left out: {TOO_LARGE[name]}", flush=True)
                if not any(r.get("matrix") == name for r in before):
                    bench.put({"record": "left_out", "matrix": name, "reason": TOO_LARGE[name]})
                continue
            missing = [t for t in threads if not any(r.get("matrix") == name and r.get("threads", t) == t for r in before)]
            if missing:
                bench.matrix(name, source, kind, missing, pathlib.Path(work))
    print(f"\n{path}\n", flush=True)
    return subprocess.run([sys.executable, str(ROOT / "bench/tables.py"), str(path)]).returncode


if __name__ == "__main__":
    sys.exit(main())
