#!/usr/bin/env python3
"""forest_gpu.py BUILD OUT --machine M --commit C: star forests between ranks on GPUs, on two where there are two, else on one that they share.

Runs pingpong and halo of `gable forest` on each transport and model, its other tests between threads and processes, eager and captured, products and conjugate gradients, the proofs, and beside them
messages inside kernels (Gable's, and by NVSHMEM's device calls), messages by MPI, NCCL and NVSHMEM alone (bench/reference_solvers/gpu_messages.cu), calls of the CUDA
runtime alone, PetscSF where PETSC_SF names petsc_sf built with -DON_GPU and a PETSc that has CUDA, and a CUDA-aware MPI where AWARE_LAUNCH has the words that start two of
its processes and AWARE_TOOL and AWARE_MESSAGES name gable-mpi and gpu_messages built with it.  Writes OUT/forest-h200.json (forest-2xh200.json on two GPUs; by the name of
the card): one JSON line a row, with machine, commit and date; and the seed's tables 1 to 4, section 5.4 and figure 15 beside its figures in a .md of the same name.  What
did not run is named at the end, with the reason; the exit status is 1 where something failed, and OUT/failed.log has what that said.

forest_gpu.py --tables FILE.json: the .md again, from a record."""
import argparse
import datetime
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

TESTS = ["pingpong", "newpingpong", "unpack", "scatter", "halo"]
MPI = ["mpirun", "-n", "2"]
ENVIRONMENT = {"CUDA_DEVICE_MAX_CONNECTIONS": "32", "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "OMPI_MCA_rmaps_base_oversubscribe": "1", "NVSHMEM_REMOTE_TRANSPORT": "none", "NVSHMEM_DISABLE_NVLS": "1"}
# Zhang, Mills and Smith, 2020, tables 1 to 4, one way in us, on Summit's V100: 8 bytes, 16, ... 4 MiB; of halo by n.
SIZES = [8 << k for k in range(20)]
SEED = {
    "raw": {  # table 1, MPI aware of GPUs
        "seed: within a GPU": "20.1 20.1 20.1 20.1 20.1 20.1 20.1 20.1 20.0 20.1 20.1 20.1 20.0 20.1 20.1 20.1 20.4 20.7 25.6 31.6",
        "seed: within a socket": "17.8 17.8 17.8 17.8 17.8 17.8 17.8 17.8 17.8 17.8 17.8 17.8 17.8 18.5 20.0 22.6 28.2 39.4 61.7 106.6",
    },
    "pingpong": {  # table 2, within a socket; its default is B
        "seed: A": "25.3 25.2 25.2 25.2 25.2 25.2 25.2 25.2 25.2 25.1 25.0 25.3 25.3 25.7 27.3 30.0 35.5 46.8 68.9 113.9",
        "seed: B": "23.8 23.7 23.6 23.7 23.6 23.6 23.6 23.5 23.6 23.6 23.5 23.5 23.5 24.3 25.5 28.3 34.0 45.1 67.3 112.5",
        "seed: C": "19.9 19.7 19.7 19.7 19.8 19.8 19.8 19.8 19.8 19.8 19.6 19.8 19.8 20.5 21.7 24.5 30.1 41.3 63.6 108.6",
        "seed: D": "19.0 19.0 18.9 19.0 19.0 19.0 19.0 19.0 19.0 19.0 18.9 18.9 19.0 19.7 20.9 23.6 29.3 40.5 62.8 107.9",
    },
    # table 3, within a socket
    "newpingpong": {"seed": "24.3 24.2 24.1 24.2 24.1 24.2 24.2 24.2 24.2 24.1 24.0 24.0 24.1 24.7 25.9 28.5 34.2 45.3 67.6 112.2"},
    "unpack": {"seed": "35.9 35.7 35.8 35.8 35.7 35.8 35.7 35.7 35.6 35.7 35.7 35.7 35.7 36.3 37.4 40.3 46.7 58.0 81.2 138.8"},
    "scatter": {"seed": "35.8 35.6 35.8 35.8 35.6 35.8 35.8 35.6 35.8 35.8 35.6 35.8 35.7 36.2 37.4 40.4 46.7 58.1 81.2 140.5"},
    "halo": {  # table 4, nine ranks
        "seed: nine nodes": "45.6 44.8 45.5 45.5 45.0 46.0 46.3 47.1 57.1 139.9 499.9",
        "seed: three nodes": "75.7 75.6 75.7 75.8 75.8 75.9 75.9 76.0 83.0 139.0 498.3",
    },
}
TURNS = "one GPU without --sharing: kernels of two processes take turns there, 2 ms a message"
NO_NCCL = "one GPU: NCCL refuses two ranks there"
SEED_CALLS = {"figure 15: kernels of 40, 5, 5, 5 and 5 us": 70, "figure 15: the same, synchronised after the first launch": 95}
IN_A_KERNEL = {"in a kernel": "Gable", "nvshmem in a kernel": "NVSHMEM"}  # whose messages, by program
SEED_PRODUCTS = """The seed's products with HV15R on six GPUs: (a) 918.9, (b) 902.2, (c) 904.6 us. Its (a) waits for the stream before it sends, as model b here; (b) and (c)
launch the inner rows before they wait, (c) the outer rows on another stream; model c here waits for nothing."""


def gpus():
    try:
        found = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return 0
    return sum(line.startswith("GPU ") for line in found.stdout.splitlines())


class Record:
    """Runs programs; keeps their rows and what was left out."""

    def __init__(self, o):
        self.o, self.rows, self.skipped, self.failed = o, [], [], 0
        self.begun = time.monotonic()
        self.ends = self.begun + o.seconds
        self.log = o.out / "failed.log"
        self.log.unlink(missing_ok=True)
        self.marks = {"machine": o.machine, "commit": o.commit, "date": datetime.date.today().isoformat(), "gpus": o.gpus}

    def skip(self, what, why):
        self.skipped.append((what, why))

    def say(self, what):
        """A line on what execute() has run, with its seconds."""
        print(f"{what}; {time.monotonic() - self.started:.1f} s", flush=True)

    def execute(self, what, command, launch=()):
        """Its output, or None: it did not run or failed, which is recorded.  launch: the words that start its two processes."""
        if self.o.only and not any(word in what for word in self.o.only.split(",")):
            return None
        self.started = time.monotonic()
        left = self.ends - self.started
        if left < 2:
            return self.skip(what, "the time is over (--seconds)")
        for program in (*[word for word in launch if word != "env" and "=" not in word][:1], command[0]):
            if not shutil.which(program):
                return self.skip(what, f"{os.path.basename(program)} is not there")
        command = [*(self.o.sharing if launch else ()), *launch, *command]
        try:
            result = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **ENVIRONMENT},
                                    timeout=min(left + 5, self.o.each), check=False)
        except subprocess.TimeoutExpired:
            self.failed = 1
            return self.skip(what, f"no end within {min(left + 5, self.o.each):.0f} s")
        if result.returncode:
            self.failed = 1
            with open(self.log, "a", encoding="utf-8") as log:
                log.write(f"{what}: exit status {result.returncode}\n{result.stdout}{result.stderr}\n")
            said = (result.stderr.strip() or result.stdout.strip() or "no word").splitlines()
            words = ("FAILED", "gable", "gpu_messages")
            return self.skip(what, f"failed: {next((line for word in words for line in said if word in line), said[-1])}")
        return result.stdout

    def forest(self, words, where, launch=(), program=None):
        """One run of gable forest; launch: mpirun and its words; program: gable-mpi of another MPI."""
        what = " ".join([*launch, "gable forest", *words, "--where", where])
        program = program or self.o.build / "bin" / ("gable-mpi" if launch else "gable")
        with tempfile.NamedTemporaryFile(suffix=".json") as report:
            deadline = ["--deadline", "5", "--json", report.name]
            if self.execute(what, [str(program), "forest", *words, "--where", where, *deadline], launch) is None:
                return []
            with open(report.name, encoding="utf-8") as f:
                whole = json.load(f)
        head = {"program": "gable", **{k: v for k, v in whole.items() if not isinstance(v, (list, dict))}}
        found = [{**head, **row} for row in whole.get("rows", [{}])]
        self.rows += found
        if found and "one_way_s" in found[0]:
            self.say(f"{what}: {1e6 * found[0]['one_way_s']:.1f} us at {found[0]['bytes']} bytes, "
                     f"{1e6 * found[-1]['one_way_s']:.1f} at {found[-1]['bytes']}")
        else:
            self.say(f"{what}: right")
        return found

    def reference(self, name, command, launch=()):
        """A program that prints one JSON line a row."""
        text = self.execute(name, [str(c) for c in command], launch)
        lines = [line for line in (text or "").splitlines() if line.startswith("{")]
        self.rows += [{"program": name, **json.loads(line)} for line in lines]
        if lines:
            self.say(f"{name}: {len(lines)} rows")

    def proof(self, name, where):
        """A test program, by its exit status."""
        if self.execute(name, [str(self.o.build / "tests/forest" / name), where]) is not None:
            self.rows.append({"program": name, "test": "proof", "where": where, "checked": True})
            self.say(f"{name} {where}: right")

    def write(self):
        card = next((c for c in ("h100", "h200") if c.upper() in self.o.machine.upper()), "gpu")
        name = self.o.out / (f"forest-2x{card}" if self.o.gpus > 1 else f"forest-{card}")
        lines = [{**row, **self.marks} for row in self.rows] + [{"skipped": w, "reason": r, **self.marks} for w, r in self.skipped]
        name.with_suffix(".json").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
        name.with_suffix(".md").write_text(tables(self), encoding="utf-8")
        for what, why in self.skipped:
            print(f"skipped: {what}: {why}")
        print(f"forest_gpu: {time.monotonic() - self.begun:.0f} s")


def us(value):
    return "" if value is None else f"{1e6 * value:.2f}" if value < 1e-4 else f"{1e6 * value:.0f}"


def name_of(row):
    if row["program"] != "gable":
        return row["program"] + (" captured" if row.get("captured") else "")
    words = [row["where"], f"model {row['model']}" if row.get("model") else "", "captured" if row.get("captured") else "",
             row["path"] if row.get("path", "auto") != "auto" else ""]
    return " ".join(w for w in words if w)


def cell(row):
    """A time, its quartiles and, of Gable, what the model says."""
    model = f"; T {us(row['model_s'])}" if row.get("model_s") else ""
    return f"{us(row['one_way_s'])} ({us(row['q1_s'])} to {us(row['q3_s'])}{model})"


def tables(r):
    """Of each test a table: a line a size, a column each program; then products, calls of the runtime and what is left out."""
    by_turns = any(why == TURNS for _, why in r.skipped)
    one = "ONE GPU, which both ranks share" + ("" if by_turns else " (processes by MPS, each on half of the multiprocessors)") + ": these are no figures of two GPUs"
    where = r.o.place or ("two GPUs" if r.o.gpus > 1 else one)
    out = [f"One way, us, median of 15 batches (of solves 3), in brackets the quartiles and the model T (docs/algorithms/forest-gpu.md); {r.o.machine}, commit "
           f"{r.o.commit}, {r.marks['date']}, {where}. The seed's figures are of V100s.", ""]
    for test in ("raw", *TESTS):
        rows = [row for row in r.rows if row.get("test") == test and "one_way_s" in row]
        names = list(dict.fromkeys(map(name_of, rows)))
        if not names:
            continue
        key, sizes = ("n", [4 << k for k in range(11)]) if test == "halo" else ("bytes", SIZES)
        seeds = {name: dict(zip(sizes, text.split(), strict=True)) for name, text in SEED[test].items()}
        out += [f"## {test}", "", f"| {key} | " + " | ".join([*seeds, *names]) + " | floor |", "|---" * (len(seeds) + len(names) + 2) + "|"]
        for size in sorted({row[key] for row in rows}):
            of = {name_of(row): row for row in rows if row[key] == size}
            first = next((row for row in rows if row[key] == size and row["program"] == "gable"), {})
            cells = [seed.get(size, "") for seed in seeds.values()] + [cell(of[n]) if n in of else "" for n in names]
            out.append(f"| {size} | " + " | ".join(cells) + f" | {us(first.get('floor_s'))} |")
        out.append("")
    solves = [row for row in r.rows if row.get("test") in ("spmv", "cg")]
    if solves:
        out += ["## Products and conjugate gradients (section 5.4)", "", SEED_PRODUCTS, "",
                "| test | matrix | place | a product or iteration | its sums alone | floor |", "|---" * 6 + "|"]
        out += [f"| {s['test']} | {s['matrix']} | {name_of(s)} | {cell(s)} | {us(s['local_s'])} | {us(s['floor_s'])} |"
                for s in solves] + [""]
    moves = [row for row in r.rows if row.get("test") == "codecs"]
    if moves:
        out += ["## Pack and unpack by codec, one rank, no messages", "", "| codec | move | bytes | us | GB/s | floor | share |", "|---" * 7 + "|"]
        out += [f"| {m['codec']} | {m['move']} | {m['bytes']} | {us(m['one_way_s'])} ({us(m['q1_s'])} to {us(m['q3_s'])}) | {m['gbytes_s']:.0f} | "
                f"{us(m['floor_s'])} | {m['share']:.2f} |" for m in moves] + [""]
    kernels = [row for row in r.rows if row["program"] in IN_A_KERNEL]
    if kernels:
        names = [program for program in IN_A_KERNEL if any(k["program"] == program for k in kernels)]
        of = {(k["test"], k["bytes"], k["program"]): cell(k) for k in kernels}
        out += ["## In a kernel, no launch between messages", "", "| | bytes | " + " | ".join(IN_A_KERNEL[n] for n in names) + " |",
                "|---" * (2 + len(names)) + "|"]
        out += [f"| {test} | {size} | " + " | ".join(of.get((test, size, n), "") for n in names) + " |"
                for test, size in dict.fromkeys((k["test"], k["bytes"]) for k in kernels)] + [""]
    calls = [row for row in r.rows if row["program"] == "cuda"]
    if calls:
        out += ["## Calls of the CUDA runtime alone, and figure 15", "", "| call | seed | us |", "|---|---|---|"]
        out += [f"| {c['test']} | {SEED_CALLS.get(c['test'], '')} | {us(c['one_way_s'])} ({us(c['q1_s'])} to {us(c['q3_s'])}) |" for c in calls] + [""]
    out += ["## Not run", "", *[f"- {w}: {why}" for w, why in r.skipped]] if r.skipped else []
    return "\n".join(out) + "\n"


def petsc(r):
    program = os.environ.get("PETSC_SF", "")
    if not program:
        r.skip("PetscSF with CUDA", "set PETSC_SF to petsc_sf, built with -DON_GPU from bench/reference_solvers/petsc_sf.c with a PETSc that has CUDA")
    else:
        r.reference("petsc", [program, min(r.o.most, 1 << 22), "-use_gpu_aware_mpi", "0"], MPI)


def aware(r, most):
    """Exchanges by a CUDA-aware MPI, which is seldom the one that the tool was built with."""
    launch, tool, messages = (os.environ.get(name, "") for name in ("AWARE_LAUNCH", "AWARE_TOOL", "AWARE_MESSAGES"))
    launch = launch.split()
    if not launch or not tool or not messages:
        r.skip("cuda/mpi --path aware", "set AWARE_LAUNCH, AWARE_TOOL and AWARE_MESSAGES to a CUDA-aware MPI, gable-mpi and gpu_messages built with it")
        return
    r.reference("mpi-aware", [messages, "mpi-aware", r.o.most], launch)
    r.forest(["check", "--cases", "60", "--seed", "11", "--path", "aware"], "cuda/mpi", launch, tool)
    for test in ("pingpong", "halo"):
        r.forest([test, *most, "--path", "aware"], "cuda/mpi", launch, tool)


def by_kernels(r, peer):
    """Exchanges between GPUs of one process."""
    most = ["--most", str(r.o.most)]
    for test in TESTS:
        largest = 2 * r.o.most if test == "halo" else r.o.most  # a halo of n = 4096, the last of the seed's, has blocks of 128 MiB
        for captured in ([], ["--captured"]):
            r.forest([test, "--most", str(largest), *captured], peer)
    for test, captured in (("pingpong", []), ("pingpong", ["--captured"]), ("unpack", []), ("halo", [])):  # the copy engine, for its threshold
        r.forest([test, *most, "--path", "copy", *captured], peer)


def by_processes(r, two, processes):
    """Exchanges of all other transports that need no host: pingpong and halo by each; the other tests, as between threads, by the first of them, up to 4 MB."""
    most = ["--most", str(r.o.most)]
    direct = ["--path", "direct"]
    nccl = [("cuda:0,1/nccl", [])] if two else []
    places = [("cuda/mpi", direct), ("cuda/nvshmem", []), *nccl, ("cuda/mpi", ["--path", "put"])] if processes else []
    for test in ("pingpong", "halo"):
        for where, words in places:
            for captured in ([], ["--captured"]) if test == "pingpong" else ([],):
                r.forest([test, *most, *words, *captured], where, [] if "nccl" in where else MPI)
    if processes:
        for test in ("unpack", "scatter", "newpingpong"):
            r.forest([test, "--most", str(min(r.o.most, 1 << 22)), *direct], "cuda/mpi", MPI)
    aware(r, most)
    if not processes:
        r.skip("cuda/mpi --path direct and put, cuda/nvshmem", TURNS)
    if not two:
        r.skip("cuda:0,1/nccl", NO_NCCL)


def through_the_host(r, staged):
    """Staged exchanges, up to 4 MB: longer ones take up to 30 ms.  Models b and a of pingpong and halo, b of the other tests."""
    most = ["--most", str(min(r.o.most, 1 << 22))]
    for model in ("b", "a"):
        for test in TESTS if model == "b" else ("pingpong", "halo"):
            r.forest([test, *most, "--model", model], staged)
            r.forest([test, *most, "--path", "window", "--model", model], "cuda/mpi", MPI)


def solves(r, matrix, tolerance, peer, staged):
    """Products and conjugate gradients on one rank and on two."""
    for captured in ([], ["--captured"]):
        for place in ("cuda:0/peer:1", peer):
            r.forest(["spmv", matrix, *captured], place)
            r.forest(["cg", matrix, *captured, "--tolerance", tolerance], place)
    for model in ("b", "a"):
        r.forest(["spmv", matrix, "--model", model], staged)


def again(path):
    """The tables of a record, from its rows."""
    with open(path, encoding="utf-8") as f:
        rows = [json.loads(line) for line in f]
    o = argparse.Namespace(place=None, gpus=rows[0]["gpus"], machine=rows[0]["machine"], commit=rows[0]["commit"])
    skipped = [(row["skipped"], row["reason"]) for row in rows if "skipped" in row]
    record = argparse.Namespace(o=o, rows=[row for row in rows if "skipped" not in row], skipped=skipped, marks=rows[0])
    pathlib.Path(path).with_suffix(".md").write_text(tables(record), encoding="utf-8")


def main():
    if sys.argv[1:2] == ["--tables"]:
        return again(sys.argv[2])
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("build", type=pathlib.Path)
    p.add_argument("out", type=pathlib.Path, help="a folder")
    p.add_argument("--machine", required=True)
    p.add_argument("--commit", required=True)
    p.add_argument("--gpus", type=int, default=gpus(), help="default: what nvidia-smi lists")
    p.add_argument("--sharing", type=str.split, default=[], help="the words before a command of two processes that share a GPU at once: scripts/mps")
    p.add_argument("--place", help="instead of GPUs, as mirror/peer:2: its tests alone")
    p.add_argument("--most", type=int, default=1 << 26, help="bytes of the longest message")
    p.add_argument("--seconds", type=float, default=550, help="of all of it")
    p.add_argument("--each", type=float, default=120, help="seconds of one program at most")
    p.add_argument("--only", help="runs whose command has one of these words in it, separated by commas")
    o = p.parse_args()
    r = Record(o)
    if o.place:
        for test in TESTS:
            least = 128 if test == "halo" else 0  # a halo of n = 4 has blocks of 128 bytes
            r.forest([test, "--most", str(max(o.most, least))], o.place)
        r.forest(["cg", "laplacian5:30x30"], o.place)
        r.forest(["codecs", "--most", str(o.most)], o.place)
    elif o.gpus < 1:
        sys.exit("forest_gpu: no GPU here")
    else:
        two = o.gpus > 1
        processes = two or o.sharing
        peer, staged = ("cuda:0,1/peer", "cuda:0,1/ranks") if two else ("cuda:0/peer:2", "cuda:0/ranks:2")
        r.forest(["check", "--cases", "60", "--seed", "3"], peer)
        r.forest(["check", "--cases", "60", "--seed", "5", "--path", "copy"], peer)
        if processes:
            r.forest(["check", "--cases", "10", "--seed", "5", "--path", "put"], "cuda/mpi", MPI)
        r.proof("test_peer_kernels", peer)
        r.reference("in a kernel", [o.build / "tests/forest/test_kernel_messages", peer])
        if processes:
            r.reference("nvshmem in a kernel", [o.build / "bin/gpu_messages_nvshmem", "nvshmem-kernel"], MPI)
        else:
            r.skip("nvshmem in a kernel", TURNS)
        r.reference("CUDA calls", [o.build / "bin/gpu_messages", "calls"])
        r.reference("mpi", [o.build / "bin/gpu_messages", "mpi", o.most], MPI)
        for name, there, why in (("nccl", two, NO_NCCL), ("nvshmem", processes, TURNS)):
            if there:
                r.reference(name, [o.build / f"bin/gpu_messages_{name}", name, o.most], MPI)
            else:
                r.skip(f"{name} alone", why)
        by_kernels(r, peer)
        solves(r, "laplacian5:1000x1000", "1e-2", peer, staged)
        petsc(r)
        if two:
            solves(r, "laplacian27:160x160x160", "1e-1", peer, staged)  # 1.3 GB; the serial program has a few iterations
        by_processes(r, two, processes)
        r.forest(["codecs", "--captured", "--most", str(1 << 28)], "cuda:0/peer:1")
        through_the_host(r, staged)
    r.write()
    return r.failed


if __name__ == "__main__":
    sys.exit(main())
