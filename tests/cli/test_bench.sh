#!/bin/sh
# gable bench from outside: its tables, lines of JSON and picture on the CPU, lists with recipes, and what a user sees when
# something is wrong.  Grids of the seed's size are left to machines with a GPU.
. tests/cli/frame.sh
needs ZLIB "its matrices are compressed, and this build has no zlib"

run 0 bench matrices "$data/west0479.mtx.gz" "$data/1138_bus.mtx.gz" --where cpu --repeat 3 --json lines --plot plot.svg --machine 'a "machine"'
for word in 'Milliseconds of one solve' 'GFLOPS' west0479 1138_bus '^ *sweeps  '; do says "$word" out; done
# The tables of a CPU name no GPU of the seed, none of its columns and no cuSPARSE, and give each method a column.
if grep -E 'point stencil|seed|[VP]100|CUS[12]|cuSPARSE|gain|their tables' out; then wrong "a CPU's tables are headed for a GPU"; fi
methods='auto serial tiles levr levc elmr elmc gsf'
[ "$(grep -c "^matrix  *$(echo "$methods" | sed 's/ /  */g')\$" out)" -eq 1 ] || wrong "the GFLOPS have not one column a method"
! command -v python3 >/dev/null 2>&1 || python3 - "$methods" <<'PY' || wrong "the table of GFLOPS is not what the JSON says"
import json, sys
methods, rows, matrix, on, seen = sys.argv[1].split(), [json.loads(l) for l in open("lines")], None, False, 0
def gflops(matrix, what, method):
    these = [r for r in rows if r["matrix"] == matrix and r["method"] == method and (r["uplo"] == "both") == (what == "sweeps")]
    return (4e-9 if what == "sweeps" else 2e-9) * sum(r["nnz"] for r in these) / sum(r["solve_s"] for r in these)
for line in open("out"):
    on |= line.startswith("GFLOPS")
    words = line.split()
    if not on or len(words) < 9 or words[-9] not in ("solves", "sweeps"): continue
    matrix = words[0] if words[-9] == "solves" else matrix
    for k, method in enumerate(methods):
        want = gflops(matrix, words[-9], method)
        assert abs(float(words[k - 8]) - want) <= 0.006 + 1e-3 * want, (matrix, words[-9], method, words[k - 8], want)
        seen += 1
assert seen == 32, seen
PY
says '</svg>' plot.svg
says 'time of a solve, median' plot.svg
[ "$(wc -l <lines)" -eq 48 ] || wrong "$(wc -l <lines) lines, not 48: two matrices, two triangles and sweeps, eight methods"
for key in matrix uplo op type rhs layout both_ops method method_used where n nnz levels scaled_to_dominance analyse_s update_s first_solve_s solve_s \
    solve_q1_s solve_q3_s gflops gbytes_s floor_s share_of_floor max_error_bound_ratio why machine commit date; do
    says "\"$key\":" lines
done
says '"machine":"a \\"machine\\""' lines
! command -v python3 >/dev/null 2>&1 || python3 -c 'import json; [json.loads(l) for l in open("lines")]' || wrong "a line is no JSON"

# solves with whole factors by every method, merged and not, and what is refused
run 0 bench supernodal "$data/west0479.mtx.gz" laplacian5:9x8 --where cpu --repeat 3 --rhs 2 --json lines --commit c0ffee
[ "$(wc -l <lines)" -eq 14 ] || wrong "$(wc -l <lines) lines, not 14: two matrices, seven methods"
for key in matrix kind n nnz_l nnz_u method rhs where prepare_s solve_s q1_s q3_s floor_s floor_of share backward_error machine commit date; do
    [ "$(grep -c "\"$key\":" lines)" -eq 14 ] || wrong "not every line has $key"
done
for method in auto levels batched inverted merged partitioned partitioned-cusparse; do
    [ "$(grep -c "\"method\":\"$method\"" lines)" -eq 2 ] || wrong "no two lines of $method"
done
says '"matrix":"laplacian5:9x8","kind":"cholesky","n":72' lines
run 0 bench supernodal laplacian5:9x8 --where cpu --repeat 3 --merge-blocks --methods merged,levels --json lines
[ "$(grep -c '"merge_blocks":true' lines)" -eq 2 ] || wrong "merged blocks are not in the JSON"
printf 'grid laplacian5:9x8 lu\ngrid laplacian5:9x8 # by itself\ngrid ldlt laplacian5:9x8\n' >list
run 0 bench supernodal --list list --where cpu --repeat 3 --methods auto --json lines
[ "$(sed 's/.*"kind":"\([a-z]*\)".*/\1/' lines | tr '\n' ' ')" = "lu cholesky ldlt " ] || wrong "the list's kinds of factorization are not the lines'"
# several widths of one factor, by methods that share it
run 0 bench supernodal laplacian5:9x8 --where cpu --repeat 3 --widths 1,3,16 --methods batched,auto --json lines
[ "$(sed 's/.*"method":"\([a-z]*\)".*"rhs":\([0-9]*\),.*/\1\2/' lines | tr '\n' ' ')" = "batched1 batched3 batched16 auto1 auto3 auto16 " ] ||
    wrong "the lines are not those of three widths by two methods"
for widths in 1,x 0 1, 1,2,3,4,5,6,7,8,9; do
    run 2 bench supernodal laplacian5:9x8 --where cpu --widths "$widths"
    says "widths '$widths'" err
done
run 2 bench matrices laplacian5:9x8 --where cpu --widths 1
run 2 bench supernodal laplacian5:9x8 --where cpu --methods nobody
says "no solve method 'nobody'" err
run 0 bench supernodal laplacian5:9x8 --where mirror --repeat 3 --rhs 128 --json lines
[ "$(grep -c '"rhs":128,"where":"mirror".*"graph":false' lines)" -eq 7 ] || wrong "the mirror has not all seven methods"
run 0 bench supernodal laplacian5:9x8 --where cpu --repeat 3 --methods cusparse,auto --json lines
says 'cusparse: .*left out' err
[ "$(wc -l <lines)" -eq 1 ] || wrong "cuSPARSE solved on the CPU"
run 1 bench supernodal nowhere.mtx --where cpu
run 2 bench matrices a.mtx --merge-blocks

# the transpose, single precision, a single matrix with double vectors, right-hand sides by rows, both ops planned
while read -r words; do
    # shellcheck disable=SC2086
    run 0 bench matrices "$data/west0479.mtx.gz" "$data/1138_bus.mtx.gz" --where cpu --methods auto,serial,elmc --repeat 3 --measure solves \
        --json lines $words
    [ "$(grep -c '"max_error_bound_ratio":0' lines)" -eq 12 ] || wrong "$words: not 12 solves within their bound: $(cat lines)"
done <<'WORDS'
--op t
--type s --op t
--type sd
--rhs 3 --layout row
--rhs 3 --layout row --type s --both-ops
WORDS
says '"type":"s","rhs":3,"layout":"row","both_ops":true' lines
run 2 bench supernodal laplacian5:9x8 --where cpu --op t
says 'go with triangles' err
printf 'west0479\n1138_bus\n' >list
run 0 bench matrices --folder "$data" --list list --where cpu --methods serial --only 0479,west0,nobody --json lines
[ "$(wc -l <lines)" -eq 3 ] || wrong "--only with two texts: $(cat lines)"

# lists: a file of a folder, a recipe for where there is none, a name that nobody has
printf '# names\nwest0479\necology2 twin:n=900,nnz=4000,levels=50\n\nnowhere\n' >list
run 0 bench matrices --list list --folder "$data" --where cpu --methods auto,serial --uplo lower --rhs 3 --json -
says '"matrix":"ecology2 (twin)".*"rhs":3' out
says '"matrix":"west0479"' out
says 'nowhere is in none of the folders' err
says 'Milliseconds of one solve, 3 right-hand sides' err
run 0 bench matrices --list list --folder "$data" --where cpu --methods serial --only ecology2
if grep -q V100 out; then wrong "a CPU's table has the seed's V100"; fi
run 1 bench matrices --list list --folder "$data" --only nobody --where cpu
says 'no matrix was measured' err

# entries given twice are summed, and said once; or refused
mm 'coordinate real general' '2 2 3' '1 1 3' '2 2 4' '1 1 1' >twice.mtx
run 0 bench matrices twice.mtx --where cpu --methods serial
[ "$(grep -c 'twice: entries given twice: 1; they were summed' err)" -eq 1 ] || wrong "duplicates: $(cat err)"
run 1 bench matrices twice.mtx --where cpu --methods serial --strict
says 'given twice: 1' err

# triangles whose solutions overflow are scaled, and marked: by growth, and where sums cancel for b = 1 alone
mm 'coordinate real general' '5 5 10' '1 5 0.5' '1 1 1' '2 2 1' '3 3 1' '4 4 1' '5 5 1' '2 1 1e60' '3 2 1e60' '4 3 1e60' '5 4 1e60' >grows.mtx
mm 'coordinate real general' '5 5 10' '1 5 0.5' '1 1 1' '2 2 1' '3 3 1' '4 4 1' '5 5 1' '2 1 1' '3 2 1e200' '4 3 1' '5 4 1e200' >cancels.mtx
run 0 bench matrices grows.mtx cancels.mtx --where cpu --methods auto,serial --measure solves --json lines
says '^grows\* .*lower' out
says '^cancels\* .*lower' out
says '^grows .*upper' out
says 'scaled to dominance, because' out
[ "$(grep -c '"scaled_to_dominance":true' lines)" -eq 4 ] || wrong "not the two lower triangles alone are marked in the JSON"

# any number of files, each measured once and in the order of the command
mm 'coordinate real general' '2 2 3' '1 1 4' '2 2 4' '2 1 1' >small.mtx
names=
for k in 01 02 03 04 05 06 07 08 09 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25; do
    cp small.mtx "n$k.mtx"
    names="$names n$k.mtx"
done
# shellcheck disable=SC2086
run 0 bench matrices $names --where cpu --methods serial --repeat 3 --uplo lower --measure solves --json lines
sed 's/.*"matrix":"\([^"]*\)".*/\1.mtx/' lines >measured
# shellcheck disable=SC2086
printf '%s\n' $names | cmp -s - measured || wrong "25 files: measured $(tr '\n' ' ' <measured)"
expect 0 "any number of" bench --help

# wrong: what to measure, a method, a place, a list, a file
run 2 bench
run 2 bench triangles
says 'laplacian, matrices or supernodal' err
for option in '--rhs 2' '--op t' '--type s'; do
    # shellcheck disable=SC2086
    expect 2 'sweeps are measured with --rhs 1, --op n and --type d alone' bench matrices laplacian5:9x8 --where cpu --measure sweeps $option
done
expect 1 'over 511 bytes' bench matrices "$(printf '%0600d' 0).mtx" --where cpu
run 2 bench laplacian "$data/west0479.mtx.gz"
run 1 bench matrices --list no-such-list
says 'no-such-list' err
run 2 bench matrices "$data/west0479.mtx.gz" --where cpu --methods auto,magic --measure solves
says magic err
run 0 bench matrices "$data/west0479.mtx.gz" --where cpu --methods serial,rows --measure solves
says 'rows runs on a GPU only.*left out' err
run 1 bench matrices no-such-file.mtx --where cpu
says 'no-such-file' err
run 1 bench matrices "$data/west0479.mtx.gz" --where cpu --json no-such-folder/lines
run 1 bench matrices "$data/west0479.mtx.gz" --where cpu --plot no-such-folder/plot.svg
[ ! -s out ] || wrong "it measured first, and then found that it cannot write"
