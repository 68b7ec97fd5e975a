#!/bin/sh
# The pictures: no text lies over another one or leaves the page, with long names, one level, many levels and wide ones.
. tests/cli/frame.sh
command -v python3 >/dev/null 2>&1 || { echo "no python3"; exit 77; }
boxes=${data%/data}/cli/text_boxes.py
apart() { python3 "$boxes" "$@" >out 2>&1 || wrong "texts of a picture"; }

# The check itself: one text over another, and one beyond the edge.
head='<svg xmlns="http://www.w3.org/2000/svg" width="300" height="100"><text x="10" y="50" font-size="10">ab</text><text x="100" y="50" font-size="10">c</text>'
few='<text x="150" y="50" font-size="10">d</text><text x="150" y="80" font-size="10">e</text>'
echo "$head$few<text x=\"10\" y=\"90\" font-size=\"10\">f</text></svg>" >right.svg
apart right.svg
for text in '<text x="20" y="50" font-size="10">x</text>' '<text x="112" y="53" text-anchor="end" font-size="10">xx</text>' \
    '<text x="298" y="20" font-size="10">x</text>' '<text transform="translate(12,60) rotate(-90)" font-size="10">xxxxx</text>'; do
    echo "$head$few$text</svg>" >over.svg
    python3 "$boxes" over.svg >out 2>&1 && wrong "the check does not see $text"
done

run 0 generate laplacian5:40x50 -o grid.mtx
run 0 generate chain:3000 -o a-file-with-a-very-long-name-that-says-everything-about-where-the-matrix-in-it-came-from-and-what-it-is-for.mtx
mm 'coordinate real general' '1 1 1' '1 1 1' >one.mtx
mm 'coordinate real general' '5 3 1' '1 1 1' >wide.mtx
cp "$data"/west0479.mtx.gz "$data"/1138_bus.mtx.gz .
for m in grid.mtx a-*.mtx one.mtx wide.mtx west0479.mtx.gz 1138_bus.mtx.gz; do
    [ "${ZLIB:-yes}" = yes ] || case $m in *.gz) continue ;; esac
    run 0 info "$m" --plot info.svg
    apart info.svg
    [ "$m" != wide.mtx ] || continue
    run 0 levels "$m" --plot levels.svg
    apart levels.svg
    run 0 levels "$m" --supernodal --plot blocks.svg
    apart blocks.svg
    run 0 bench matrices "$m" --where cpu --methods auto,serial,levr --repeat 3 --measure solves --plot bench.svg \
        --machine "a machine with a name that is longer than the picture of its times is wide, since its owner says everything"
    apart bench.svg
done
for ranks in 1 2 8 9 40; do
    run 0 forest show grid.mtx --where cpu/ranks:$ranks --plot show.svg
    apart show.svg
done
run 0 forest show --where cpu/ranks:6 --plot show.svg
apart show.svg
cp grid.mtx 'a]]>.mtx'
run 0 info 'a]]>.mtx' --plot named.svg
grep -q 'a]]&gt;' named.svg || wrong "a '>' of a name is not escaped"
