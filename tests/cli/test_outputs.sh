#!/bin/sh
# An output that exists keeps its rights, and a link is written through: no output makes a file readable by others, or
# replaces a link.
. tests/cli/frame.sh
mm 'coordinate real general' '2 2 2' '1 1 1' '2 2 1' >a.mtx

# kept NAME ARGUMENT...: NAME is written with the mode that it had, first itself, then through two links, then new
kept() {
    name=$1
    shift
    for mode in 600 640 644; do
        rm -rf there "$name" link
        echo old >"$name"
        chmod $mode "$name"
        run 0 "$@"
        [ "$(stat -c %a "$name")" = $mode ] || wrong "gable $*: mode $(stat -c %a "$name"), not $mode"
        [ "$(head -c 3 "$name")" != old ] || wrong "gable $*: not written"
    done
    mkdir there
    echo old >there/target
    chmod 600 there/target
    ln -s target there/second
    rm "$name"
    ln -s there/second "$name"
    run 0 "$@"
    { [ -L "$name" ] && [ -L there/second ]; } || wrong "gable $*: the link is gone"
    [ "$(stat -c %a there/target)" = 600 ] || wrong "gable $*: mode $(stat -c %a there/target) behind a link"
    [ "$(head -c 3 there/target)" != old ] || wrong "gable $*: not written through the link"
    rm there/target
    run 0 "$@"
    { [ -L "$name" ] && [ -s there/target ]; } || wrong "gable $*: a link to nothing was not written through"
    no_leftovers
}
kept b.mtx convert a.mtx b.mtx
kept b.gbl convert a.mtx b.gbl
kept x.mtx solve a.mtx -o x.mtx
kept f solve a.mtx --save-factor f
kept p.svg levels a.mtx --plot p.svg

# What is no regular file is written directly: a pipe by the name of standard output, and one with a name
run 0 convert a.mtx plain.mtx
{ "$gable" convert a.mtx /dev/stdout --format mtx 2>err || echo failed; } | cat >out
cmp -s out plain.mtx || wrong "convert to /dev/stdout, a pipe"
mkfifo pipe
cat pipe >out &
"$gable" convert a.mtx pipe --format mtx >err 2>&1 || wrong "convert to a named pipe"
wait
cmp -s out plain.mtx || wrong "convert to a named pipe"
[ -p pipe ] || wrong "the pipe was replaced"
no_leftovers

# '-' is standard output for --json alone
for line in 'convert a.mtx -' 'generate laplacian5:4x4 -o -' 'solve a.mtx -o -' 'solve a.mtx --save-factor -' \
    'krylov a.mtx -o -' 'info a.mtx --plot -' 'levels a.mtx --plot=-' 'bench matrices a.mtx --plot -'; do
    # shellcheck disable=SC2086
    expect 2 'give /dev/stdout, or ./-' $line
    [ ! -e ./- ] || wrong "$line made a file named -"
done
[ "${CJSON:-yes}" = yes ] || exit 0
kept j info a.mtx --json j
kept j solve a.mtx --json j
run 1 solve nowhere.mtx --json j
[ -L j ] || wrong "a failure replaces the link"
# a stopped run writes its JSON to a pipe too; nobody writes to the other one, which is its matrix.  The thread sanitizer would
# hold the signal back.
case ${SAN:-} in *thread*) exit 0 ;; esac
mkfifo never
{
    "$gable" info never --json /dev/stdout 2>err &
    sleep 1
    kill -TERM $!
    wait
} | cat >out
says '"reason":.*stopped by a signal' out
# and keeps the rights of a file that exists, whatever the mask
echo old >kept.json
chmod 664 kept.json
(
    umask 077
    "$gable" info never --json kept.json >out 2>err &
    sleep 1
    kill -TERM $!
    wait
)
says '"reason":.*stopped by a signal' kept.json
[ "$(stat -c %a kept.json)" = 664 ] || wrong "the JSON of a stopped run: mode $(stat -c %a kept.json), not 664"
