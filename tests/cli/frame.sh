# frame.sh: what the tests of the tool share.  Sourced from the root of the tree; leaves the shell in an empty folder, $work.
set -u
gable=$PWD/${BUILD:-build}/bin/gable
data=$PWD/tests/data
[ -x "$gable" ] || { echo "no tool in this build"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

# needs ZLIB|CJSON REASON: skips the test in a build without
needs() {
    eval "there=\${$1:-yes}"
    [ "$there" = yes ] || { echo "$2"; exit 77; }
}
wrong() { echo "$*"; echo "-- output:"; cat out err 2>/dev/null; exit 1; }

# run STATUS ARGUMENT...: gable with this exit status, output in out and err; a failure is told in one line,
# warnings apart
run() {
    want=$1
    shift
    got=0
    "$gable" "$@" >out 2>err </dev/null || got=$?
    [ "$got" -eq "$want" ] || wrong "gable $*: exit status $got, not $want"
    if [ "$want" -ne 0 ] && [ $# -gt 0 ] && [ "$(grep -v '^gable: warning:' err | grep -c .)" -ne 1 ]; then wrong "gable $*: not one line on standard error"; fi
}
says() { grep -q -e "$1" "$2" || wrong "no '$1' in $2"; }

# expect STATUS PIECE ARGUMENT...: and this piece in what it says, on either stream
expect() {
    status=$1 piece=$2
    shift 2
    run "$status" "$@"
    cat out err | grep -qF -e "$piece" || wrong "gable $*: does not say '$piece'"
}

# mm BANNER LINE...: a Matrix Market file
mm() { printf '%%%%MatrixMarket matrix %s\n' "$1"; shift; printf '%s\n' "$@"; }
no_leftovers() { [ "$(find "$work" -name '*.tmp*' | wc -l)" -eq 0 ] || wrong "temporary files were left: $(ls "$work")"; }
