#!/bin/sh
# The numbers of reports, against ones that can be counted on paper: entries, operations, heights, barriers, levels, and times that add up.
. tests/cli/frame.sh
needs CJSON "it reads JSON, and this build writes none"

# value KEY FILE: what stands there; once in a file
value() { sed -n "s/^.*\"$1\":[[:space:]]*\"\{0,1\}\([^,\"]*\).*/\1/p" "$2"; }
# is FILE KEY WANTED ...: exactly
is() {
    file=$1
    shift
    while [ $# -gt 0 ]; do
        got=$(value "$1" "$file")
        [ "$got" = "$2" ] || wrong "$1 is '$got' in $file, not $2"
        shift 2
    done
}
# holds FILE EXPRESSION: of keys, in awk
holds() {
    awk '{ if (match($0, /"[a-z_0-9]+":/)) { key = substr($0, RSTART + 1, RLENGTH - 3); v = substr($0, RSTART + RLENGTH)
            gsub(/[ \t,"]/, "", v); print key "=" v } }' "$1" >pairs
    awk -F= 'NR == FNR { v[$1] = $2; next } { n = split($0, part, " "); line = ""
            for (i = 1; i <= n; i++) line = line " " (part[i] in v ? v[part[i]] : part[i]); print line }' pairs - <<END >filled
$2
END
    awk "BEGIN { exit !($(cat filled)) }" || wrong "$2 does not hold in $1: $(cat filled)"
}

# a path of 4 nodes in its own order: L has 2 2 2 1 entries, a column of l below its diagonal takes 1 + l + l (l + 1) operations
mm 'coordinate real symmetric' '4 4 7' '1 1 4' '2 1 -1' '2 2 4' '3 2 -1' '3 3 4' '4 3 -1' '4 4 4' >path.mtx
run 0 symbolic path.mtx --order natural --form cholesky --exact --max-width 1 --json j
is j n 4 nnz 10 nnz_l 7 supernodes 4 widest 1 height 4 flops 13 blocks 1 structural_rank 4
run 0 symbolic path.mtx --order natural --form symmetric --exact --max-width 1 --json j
is j nnz_l 7 nnz_u 7 height 4 flops 9

# a star whose middle comes last: all leaves stand under the root
mm 'coordinate real symmetric' '5 5 9' '1 1 4' '2 2 4' '3 3 4' '4 4 4' '5 5 9' '5 1 1' '5 2 1' '5 3 1' '5 4 1' >star.mtx
run 0 symbolic star.mtx --order natural --form cholesky --exact --max-width 1 --json j
is j height 2 nnz_l 9 flops 17

# dense, 10 by 10: l + 2 l l operations over l = 9 .. 0
awk 'BEGIN { print "%%MatrixMarket matrix coordinate real general\n10 10 100"
    for (j = 1; j <= 10; j++) for (i = 1; i <= 10; i++) print i, j, i == j ? 20 : 1 + (i * 7 + j * 3) % 5 / 10 }' >dense.mtx
run 0 solve dense.mtx --method lu --order natural --json j
is j n 10 nnz 100 method lu order natural nnz_l 55 nnz_u 55 flops 615 supernodes 1 tree_height 10 perturbed_pivots 0 blocks 1 \
    analyses 1 solved true status success sign_determinant 1 drift false matched false
run 0 solve dense.mtx --method lu --order natural
says '^ *factor  *100 entries, 1.00 for one of the matrix' out

# eigenvalues 1, 3 and, of the pair of zeros on the diagonal, 2 and -2; LU does not show them
mm 'coordinate real symmetric' '4 4 4' '1 1 2' '2 1 1' '2 2 2' '4 3 2' >pair.mtx
run 0 solve pair.mtx --method ldlt --json j
is j method ldlt positive_eigenvalues 3 negative_eigenvalues 1 zero_eigenvalues 0 sign_determinant -1
run 0 solve pair.mtx --method ldlt
says '^ *inertia  *3 positive and 1 negative eigenvalues, 0 too small to tell' out
run 0 solve pair.mtx --method lu --json j
is j method lu positive_eigenvalues null negative_eigenvalues null zero_eigenvalues null
run 0 solve pair.mtx --method lu
! grep -q inertia out || wrong "the inertia of LU: $(cat out)"

# the upper triangle and one entry below: L fills its last row, U is the triangle
awk 'BEGIN { print "%%MatrixMarket matrix coordinate real general\n12 12 79"; print 12, 1, 1
    for (j = 1; j <= 12; j++) for (i = 1; i <= j; i++) print i, j, i == j ? 40 : 1 }' >upper.mtx
run 0 solve upper.mtx --method lu --order natural --json j
is j nnz_l 23 nnz_u 78
run 0 solve upper.mtx --method lu --order natural
says '^ *factor  *89 entries' out

# a second row that is the first
mm 'coordinate real general' '2 2 4' '1 1 1' '1 2 1' '2 1 1' '2 2 1' >ones.mtx
"$gable" solve ones.mtx --json j >out 2>err
is j perturbed_pivots 1

# times: phases within the whole, the analysis is the sum of its parts, quartiles in order
run 0 generate convection3d:12x12x12 -o c.mtx
for try in 1 2 3 4 5; do # two of many times may be the same by chance
    run 0 solve c.mtx --method lu --repeat 41 --json j
    [ "$(value solve_q1_s j)" = "$(value solve_s j)" ] || [ "$(value solve_s j)" = "$(value solve_q3_s j)" ] || break
done
holds j 'solve_q1_s < solve_s && solve_s < solve_q3_s'
holds j 'analyse_s > 0 && order_s > 0 && symbolic_s > 0 && factor_s > 0 && structure_s > 0 && structure_s <= symbolic_s'
holds j 'read_s + analyse_s + factor_s + 20 * solve_s + refine_s + estimate_s < total_s'
holds j 'flops / factor_s > 0.999 * factor_flops_per_s && flops / factor_s < 1.001 * factor_flops_per_s'
if [ "${ZLIB:-yes}" = yes ]; then
    run 0 solve "$data/west0479.mtx.gz" --json j
    is j matched true n 479 nnz 1910 structural_rank 479
    holds j 'match_s > 0 && analyse_s > 0.999 * ( match_s + order_s + symbolic_s ) && analyse_s < 1.001 * ( match_s + order_s + symbolic_s )'
    # what refinement reaches and the factor does not: --refine 0 leaves it, 1 is one step at most
    run 0 solve "$data/west0479.mtx.gz" --tolerance 1e-15 --json j
    holds j 'refine_steps > 0 && backward_error <= 1e-15 && first_backward_error > 1e-15'
    run 1 solve "$data/west0479.mtx.gz" --tolerance 1e-15 --refine 0 --json j
    is j refine_steps 0 gmres_iterations 0 solved false
    holds j 'backward_error == first_backward_error && backward_error > 1e-15'
    run 1 solve "$data/west0479.mtx.gz" --tolerance 1e-17 --refine 1 --json j
    is j refine_steps 1
fi

# One default place on every verb that has --where: what auto is here; another one that is asked for is taken.
awk 'BEGIN { print "%%MatrixMarket matrix coordinate real general\n9 9 17"
    for (i = 1; i <= 9; i++) { print i, i, 4; if (i > 1) print i, i - 1, -1 } }' >two.mtx
auto=
for verb in "trisolve two.mtx --repeat 1" "smooth two.mtx --repeat 1" "krylov two.mtx --precond ilu0" \
    "bench matrices two.mtx --methods auto --repeat 3 --uplo lower --measure solves"; do
    expect 0 "(default auto)" "${verb%% *}" --help
    # shellcheck disable=SC2086
    run 0 $verb --json j
    auto=${auto:-$(value where j)}
    is j where "$auto"
    # shellcheck disable=SC2086
    run 0 $verb --where auto --json j
    is j where "$auto"
done
# solve starts no GPU for one solve, and says where it solved and why
expect 0 "(default auto)" solve --help
run 0 solve two.mtx --json j
is j where cpu where_solve cpu where_order cpu where_factor cpu where_refine cpu where_reason "fewer than 5 solves do not repay a GPU" device_bytes 0 prepare_s 0 lists_s 0 upload_s 0 floor_s null share null
says 'where  *cpu: fewer than 5 solves do not repay a GPU' out
run 0 solve two.mtx --where cpu --json j
is j where cpu where_reason ""
case $auto in
*cpu*)
    run 0 solve two.mtx --repeat 5 --json j
    is j where cpu where_solve cpu device_bytes 0
    case $(value where_reason j) in *make*) wrong "a report tells how to build: $(value where_reason j)" ;; "no GPU: "?*) ;; *) wrong "without a GPU the reason is $(value where_reason j)" ;; esac ;;
esac
for method in levels batched inverted merged partitioned partitioned-cusparse; do
    run 0 solve two.mtx --solve-method $method --rhs 3 --json j
    is j where_solve cpu solve_method $method merge_blocks false solved true where_reason "fewer than 5 solves do not repay a GPU"
    levels=$(value solve_levels j)
    case $method in levels | batched) holds j 'solve_blocks > 0 && substituted_blocks == solve_blocks' ;; *) is j substituted_blocks 0 ;; esac
    [ "$levels" -gt 0 ] || wrong "$method: $levels levels"
    run 0 solve two.mtx --solve-method $method --merge-blocks --json j
    is j merge_blocks true solved true
    [ "$(value solve_levels j)" -le "$levels" ] || wrong "$method: merging makes more levels"
    run 0 solve two.mtx --solve-method $method --where mirror --repeat 3 --rhs 2 --json j
    is j where_solve mirror solve_method $method solve_levels "$levels" solved true where_reason ""
    holds j 'device_bytes > 0 && prepare_s > 0 && upload_s > 0 && solve_bytes > 0'
    says "method $method, .* levels in both sweeps" out
done
# each phase says where it ran; on a GPU one solve is enough for the floor and its share
run 0 solve two.mtx --where mirror --json j
is j where_order cpu where_factor cpu where_prepare mirror where_solve mirror where_refine mirror repeat 1
holds j 'floor_s > 0 && share > 0 && share * solve_s <= 1.000001 * floor_s && share * solve_s >= 0.999999 * floor_s'
for phase in read match order symbolic factor; do says "^  $phase  *[0-9.]* [a-z]*  cpu " out; done
for phase in prepare upload solve refine estimate; do says "^  $phase  *[0-9.]* [a-z]*  mirror " out; done
says '^  solve .*; reading .* once takes .*%)' out
run 0 solve two.mtx --where cpu
for phase in read match order symbolic factor solve refine estimate; do says "^  $phase  *[0-9.]* [a-z]*  cpu " out; done
# factors that are solved element by element, where the context is
fuzz=$data/../fuzz
for place in cpu mirror auto; do
    run 0 solve "$fuzz/factor-lu.mtx" --load-factor "$fuzz/corpus/factor/triangles.factor" --where $place --json j
    is j solved true where_prepare "$([ $place = mirror ] && echo mirror || echo cpu)" where_solve "$([ $place = mirror ] && echo mirror || echo cpu)"
    says 'imported, element by element, on ' out
done
run 0 solve "$fuzz/factor-lu.mtx" --load-factor "$fuzz/corpus/factor/triangles.factor" --solve-method batched --json j
is j solved true solve_method batched
says 'method batched, .* levels in both sweeps' out
run 2 solve two.mtx --merge-blocks
run 2 solve two.mtx --solve-method nobody
run 0 solve two.mtx --where mirror --repeat 3 --rhs 2 --json j
is j where mirror where_order cpu where_factor cpu where_solve mirror where_refine mirror repeat 3 rhs 2 solved true where_reason ""
holds j 'floor_s > 0 && share > 0 && solve_bytes > 0 && device_bytes > 0 && device_levels > 0 && prepare_s > lists_s && lists_s > 0 && upload_s > 0'
holds j 'predicted_host_s > 0 && predicted_device_s > predicted_host_s && share * solve_s <= 1.000001 * floor_s && share * solve_s >= 0.999999 * floor_s'
holds j 'solve_q1_s > 0 && solve_q1_s <= solve_s && solve_s <= solve_q3_s'
case $auto in *cpu* | *cuda:0*) ;; *) wrong "auto is $auto" ;; esac
expect 0 "(default auto)" forest --help
run 0 forest check --cases 2 --json j
is j where cpu/ranks:2 ranks 2

# two levels of 1000 rows, wide enough to share: two barriers for two threads, none for one
awk 'BEGIN { print "%%MatrixMarket matrix coordinate real general\n2000 2000 3000"
    for (i = 1; i <= 2000; i++) { if (i > 1000) print i, i - 1000, 1; print i, i, 2 } }' >two.mtx
run 0 trisolve two.mtx --method levr --threads 2 --repeat 3 --where cpu --json j
is j n 2000 nnz 3000 levels 2 widest_level 1000 threads "$(value threads j)" launches 1
[ "$(value threads j)" = 1 ] || is j barriers 2
run 0 trisolve two.mtx --method levr --threads 1 --repeat 3 --where cpu --json j
is j barriers 0 threads 1
holds j 'solve_q1_s <= solve_s && solve_s <= solve_q3_s && max_error_bound_ratio <= 1'

# levels of 1, 3, 5, 7 and 9 rows
awk 'BEGIN { print "%%MatrixMarket matrix coordinate real general\n25 25 49"; row = 0
    for (w = 9; w >= 1; w -= 2) { first = row + 1; for (k = 1; k <= w; k++) { row++; if (w < 9) print row, before, 1; print row, row, 2 }
        before = first } print 1, 25, 1; print 1, 24, 1; print 1, 23, 1; print 1, 22, 1; print 1, 21, 1; print 1, 20, 1; print 1, 19, 1; print 1, 18, 1 }' \
    >widths.mtx
run 0 levels widths.mtx --json j
sed -n '/"lower"/,/}/p' j >lower
is lower levels 5 rows_q1 3 rows_median 5 rows_q3 7 rows_widest 9 nnz 41

# Blocks of the factors: a diagonal matrix has 7 of one column and one row in one level; those of a grid are the supernodes that
# symbolic counts, their columns add up to n, and merging leaves fewer in fewer levels.  The table says what the JSON says.
mm 'coordinate real general' '7 7 7' '1 1 1' '2 2 1' '3 3 1' '4 4 1' '5 5 1' '6 6 1' '7 7 1' >diagonal.mtx
run 0 levels diagonal.mtx --supernodal --json j
grep -q '"supernodes"' j || wrong "no supernodes"
sed -n '/"supernodes"/,/}/p' j >part
is part blocks 7 levels 1 blocks_by_level '[7]' columns_by_level '[7]' widest_by_level '[1]' tallest_by_level '[1]'
run 0 generate laplacian7:12x12x12 -o grid.mtx
run 0 symbolic grid.mtx --order amd --json j
supernodes=$(value supernodes j)
run 0 levels grid.mtx --supernodal --order amd --plot blocks.svg --json j
is j n 1728 order amd
if command -v python3 >/dev/null 2>&1; then
    run 0 levels grid.mtx --supernodal --order amd
    python3 - "$supernodes" <<'PY2' || wrong "the blocks of a grid"
import json, sys
j, out = json.load(open("j")), open("out").read()
for key in "supernodes", "merged":
    b = j[key]
    assert all(len(b[k]) == b["levels"] for k in ("blocks_by_level", "columns_by_level", "widest_by_level", "tallest_by_level")), b
    assert sum(b["blocks_by_level"]) == b["blocks"] and sum(b["columns_by_level"]) == 1728, b
    assert all(w * n >= c >= w + n - 1 and t >= w for n, c, w, t in zip(b["blocks_by_level"], b["columns_by_level"], b["widest_by_level"],
                                                                      b["tallest_by_level"])), b
    line = f'{b["blocks"]:,} blocks in {b["levels"]} levels; the widest {max(b["widest_by_level"]):,} columns, the tallest {max(b["tallest_by_level"]):,} rows'
    assert line in out, (line, out)
assert j["supernodes"]["blocks"] == int(sys.argv[1]) > j["merged"]["blocks"], sys.argv[1]
assert j["supernodes"]["levels"] > j["merged"]["levels"]
svg = open("blocks.svg").read()
assert svg.count('fill="#89bedc"') == 1 + j["supernodes"]["levels"] + j["merged"]["levels"], svg.count('fill="#89bedc"')
PY2
fi
expect 2 "is of --supernodal" levels grid.mtx --order amd
expect 1 "no order has this name" levels grid.mtx --supernodal --order amb
exit 0
