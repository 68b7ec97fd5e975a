#!/bin/sh
# The progress bar: on a terminal, for work that lasts a second, erased at its end; never on a pipe, never for short work.
. tests/cli/frame.sh
command -v python3 >/dev/null 2>&1 || { echo "no python3 to play the terminal"; exit 77; }
cat >terminal.py <<'PY'
import os, pty, subprocess, sys, time

def run(*words, terminal):
    """What the tool writes to standard error, and the seconds that it took."""
    begin = time.monotonic()
    if not terminal:
        done = subprocess.run([sys.argv[1], *words], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        return done.stderr, done.returncode, time.monotonic() - begin
    ours, theirs = pty.openpty()
    child = subprocess.Popen([sys.argv[1], *words], stdout=subprocess.DEVNULL, stderr=theirs)
    os.close(theirs)
    said = b""
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError:
            break
        if not piece:
            break
        said += piece
    return said, child.wait(), time.monotonic() - begin

said, status, took = run("generate", "laplacian5:20x20", "-o", "a.mtx", terminal=True)
assert status == 0 and said == b"", ("short work", said)
work = "solve", "big.gbl", "--threads", "1", *sys.argv[2:]
erase = b"\r\x1b[K"
for n in range(20, 120, 3):  # long enough on any machine, however busy, by small steps: four more runs take as long
    run("generate", f"laplacian7:{n}x{n}x{n}", "-o", "big.gbl", terminal=False)
    said, status, took = run(*work, terminal=True)
    assert status == 0, said
    shown = [line for line in said.split(erase) if line]
    if took > 2 and len(shown) > 7:
        break
    assert took < 20, ("hardly a bar", said)
else:
    sys.exit(77)
for line in shown:
    assert b"[" in line and b"%" in line and line.rstrip().endswith(b"s"), line
    assert float(line.split(b"]")[1].split(b"%")[0]) <= 100, line
assert any(b"=" in line for line in shown) and said.endswith(erase), said[-200:]
assert b"\n" not in said, said
assert len(shown) <= 25 * took, "more often than anybody can read"
said, status, took = run(*work, terminal=False)
assert status == 0 and said == b"", ("no terminal", said)

# Indefinite by its first corner, so that Cholesky turns to L D L^T: phases that begin a second time say so, and none goes back.
run("generate", f"laplacian7:{n}x{n}x{n}", "-o", "corner.mtx", terminal=False)
with open("corner.mtx") as whole, open("indefinite.mtx", "w") as out:
    for line in whole:
        out.write("1 1 0.01\n" if line.startswith("1 1 ") else line)
said, status, took = run("solve", "indefinite.mtx", "--threads", "1", *sys.argv[2:], terminal=True)
assert status == 0 and b"turning from Cholesky to L D L^T" in said, said[-400:]
last = {}
for line in said.split(erase):
    if b"]" not in line:
        continue
    name, percent = line.split(b"[")[0].strip(), float(line.split(b"]")[1].split(b"%")[0])
    assert percent >= last.get(name, 0), ("the bar goes back", name, percent, last)
    last[name] = percent
assert b"factor again" in last, last
said, status, took = run("info", "nowhere.mtx", terminal=True)
assert status == 1 and said.count(b"\n") == 1 and erase not in said, said
PY
order=
[ "${METIS:-yes}${SUITESPARSE:-yes}" = yesyes ] || order='--order natural' # said, so that nothing is said of it
# shellcheck disable=SC2086
python3 terminal.py "$gable" $order || { rc=$?; [ $rc -ne 77 ] || { echo "this machine is too fast for long work"; exit 77; }; wrong "the progress bar"; }
