#!/bin/sh
# scripts/device-run with a program in gable's place: the step supernodal measures every line of its lists, names those for which there is no
# time, and keeps to SUPERNODAL_LIMIT; a run that is stopped, by SIGTERM or SIGKILL, leaves no process behind.
command -v setsid >/dev/null 2>&1 || { echo "no setsid on this machine"; exit 77; }
[ -r /proc/self/stat ] || { echo "no /proc on this machine"; exit 77; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
wrong() { echo "$1"; cat "$work/said" 2>/dev/null; exit 1; }
mkdir -p "$work/build/bin" "$work/build/lib" "$work/matrices"
export BUILD="$work/build" GABLE_MATRICES="$work/matrices" GABLE_BENCH_MACHINE=none GABLE_BENCH_COMMIT=none

# A line of JSON for each matrix, method auto alone, and width, PACE seconds each; with FOREVER a process that does not end.
cat >"$work/build/bin/gable" <<'END'
#!/bin/sh
[ ! "${FOREVER:-}" ] || { sleep 1000 & echo $! >"$FOREVER"; wait; }
widths=1
while [ $# -gt 0 ]; do
    case $1 in
    --list) list=$2 ;;
    --json) json=$2 ;;
    --rhs | --widths) widths=$2 ;;
    esac
    shift
done
grep -v -E '^ *(#|$)' "$list" | while read -r name rest; do
    for k in $(echo "$widths" | tr , ' '); do
        sleep "${PACE:-0}"
        echo "{\"matrix\":\"$name\",\"rest\":\"$rest\",\"rhs\":$k,\"solve_s\":1}" >>"$json"
    done
done
END
chmod +x "$work/build/bin/gable"

scripts/device-run "$work/out" supernodal >"$work/said" 2>&1 || wrong "the step fails"
lines=$(grep -c -v -E '^ *(#|$)' bench/lists/supernodal-matrices.txt)
[ "$(grep -c '"rhs":1,' "$work/out/supernodal-auto-h200.json")" -eq "$lines" ] || wrong "not every line of the list has one right-hand side"
[ "$(grep -c '"rhs":16,' "$work/out/supernodal-auto-h200.json")" -eq "$lines" ] || wrong "not every line of the list has 16"
[ "$(grep -c '"rhs":128,"solve_s"' "$work/out/supernodal-128rhs-h200.json")" -ge "$lines" ] || wrong "not every line of the list has 128"
! grep -q '"rhs":128' "$work/out/supernodal-auto-h200.json" || wrong "128 right-hand sides are among one and 16"
! grep -q 'left out' "$work/said" || wrong "something is left out"

begun=$(date +%s)
rm -rf "$work/out"
PACE=0.1 SUPERNODAL_LIMIT=8 scripts/device-run "$work/out" supernodal >"$work/said" 2>&1
[ $(($(date +%s) - begun)) -lt 60 ] || wrong "8 seconds are over 60"
measured=$(cat "$work/out/supernodal-auto-h200.json" 2>/dev/null | grep -c '"rhs":1,')
left=$(grep -c '^device-run: the time is over, left out: ' "$work/said")
{ [ $((measured + left)) -ge "$lines" ] && [ "$left" -gt 0 ]; } || wrong "$measured lines are measured and $left named of $lines"

for signal in TERM KILL; do
    FOREVER=$work/pid scripts/device-run "$work/out" laplacian >"$work/said" 2>&1 &
    run=$!
    for wait in 1 2 3 4 5 6 7 8 9 10; do [ -s "$work/pid" ] || sleep "$wait"; done
    { pid=$(cat "$work/pid") && kill -0 "$pid"; } || wrong "nothing was started"
    kill -$signal $run
    wait $run 2>/dev/null
    for wait in 1 2 3 4 5; do ! kill -0 "$pid" 2>/dev/null || sleep "$wait"; done
    ! kill -0 "$pid" 2>/dev/null || { kill "$pid"; wrong "SIG$signal leaves a process behind"; }
    rm -f "$work/pid"
done
exit 0
