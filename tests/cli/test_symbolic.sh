#!/bin/sh
# gable symbolic from outside: every flag, every key of the JSON, pattern and complex files, and what is said when something is wrong.
. tests/cli/frame.sh
needs CJSON "it reads JSON, and this build writes none"
needs ZLIB "its matrices are compressed, and this build has no zlib"

run 0 symbolic "$data/west0479.mtx.gz"
for word in order structure 'L + U' supernodes 'tree height' flop memory matched blocks; do says "$word" out; done
run 0 symbolic "$data/young1c.mtx.gz"
mm 'coordinate pattern symmetric' '4 4 3' '2 1' '3 2' '4 3' >path.mtx
run 0 symbolic path.mtx --order natural
says 'entries of L + U *10 ' out
run 0 symbolic path.mtx --order all --exact --max-width 1
for word in natural supernodes height; do says "$word" out; done
run 0 symbolic "$data/1138_bus.mtx.gz" --form cholesky --threads 2
says 'cholesky' out
mm 'coordinate real general' '3 3 2' '1 2 1' '2 1 1' >singular.mtx
run 0 symbolic singular.mtx
says 'structural rank *2' out
printf '4\n2\n1\n3\n' >order.txt
run 0 symbolic path.mtx --order order.txt
says 'order *user' out

json=1
"$gable" symbolic path.mtx --json j >/dev/null 2>err || { grep -qi 'json' err && json=; }
if [ "$json" ]; then
    run 0 symbolic "$data/west0479.mtx.gz" --form unsymmetric --json -
    for key in matrix n nnz order form matched structural_rank blocks largest_block long_rows nnz_l nnz_u stored indices supernodes \
        widest height flops memory_bytes match_s order_s symbolic_s; do
        says "\"$key\":" out
    done
    says '"form":.*"unsymmetric"' out
    says 'supernodes' err
    run 0 symbolic path.mtx --order all --json j
    says '"orders":' j
fi

mm 'coordinate pattern general' '3 4 1' '1 1' >wide.mtx
run 1 symbolic wide.mtx
says square err
run 1 symbolic absent.mtx
run 1 symbolic path.mtx --order absent.txt
printf '4\n2\n1\n1\n' >twice.txt
run 1 symbolic path.mtx --order twice.txt
says "twice.txt:4: 1 comes a second time" err
run 2 symbolic path.mtx --form best
run 2 symbolic
run 2 symbolic path.mtx --max-width -1

# values that are not definite reject the first structure, which --values tells; others may be rejected, and a pattern has none
mm 'coordinate real symmetric' '2 2 3' '1 1 1' '2 1 2' '2 2 1' >indefinite.mtx
run 0 symbolic indefinite.mtx
says 'structure  *cholesky' out
says 'values  *not factored: they may reject this structure, which --values tells' out
run 0 symbolic indefinite.mtx --values
says 'structure  *ldlt' out
says 'values  *factored: the structure that is kept, after the first one was rejected' out
mm 'coordinate real symmetric' '2 2 3' '1 1 2' '2 1 1' '2 2 2' >definite.mtx
run 0 symbolic definite.mtx --values
says 'values  *factored: the structure that is kept$' out
mm 'coordinate pattern general' '2 2 3' '1 1' '2 1' '2 2' >pattern.mtx
run 0 symbolic pattern.mtx
! grep -q '^ *values' out || wrong "a pattern has values: $(cat out)"
run 1 symbolic pattern.mtx --values
run 1 symbolic indefinite.mtx --values --form unsymmetric
run 1 symbolic indefinite.mtx --values --exact
exit 0
