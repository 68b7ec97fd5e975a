#!/bin/sh
# The man page and the completions, made from --help: each verb and each of its options stands in all of them, and their readers
# find no fault.
set -eu
tool=$BUILD/bin/gable
[ -x "$tool" ] || { echo "no tool in this build"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
sh scripts/manual "$tool" "$work"
verbs=$("$tool" --help | sed -n 's/^  \([a-z][a-z]*\)   *[^ ].*/\1/p')
for v in $verbs; do
    upper=$(echo "$v" | tr '[:lower:]' '[:upper:]')
    grep -q "^.SH GABLE $upper\$" "$work/gable.1" || { echo "not in the man page: $v"; exit 1; }
    # The names that the tool itself parses by, whatever its help looks like.
    for o in $("$tool" "$v" --list-options | tr -d =); do
        escaped=$(echo "$o" | sed 's/-/\\-/g')
        grep -q -F -e "$escaped" "$work/gable.1" || { echo "not in the man page: $v $o"; exit 1; }
        grep -q -e "^    $v) .*$o" "$work/gable.bash" || { echo "not in the bash completion: $v $o"; exit 1; }
        "$tool" "$v" --help | grep -q -e " $o" || { echo "not in the help: $v $o"; exit 1; }
    done
    for o in $("$tool" "$v" --help | grep -o -- '^  *\(-., \)\{0,1\}--[a-z][a-z0-9-]*' | grep -o -- '--.*'); do
        grep -q -- "^    $v) .*$o" "$work/gable.bash" || { echo "not in the bash completion: $v $o"; exit 1; }
        grep -q -- "from $v'.* -l ${o#--} " "$work/gable.fish" || { echo "not in the fish completion: $v $o"; exit 1; }
        grep -q -- "'$o\[" "$work/_gable" || { echo "not in the zsh completion: $v $o"; exit 1; }
    done
done
# What an option does is said as in its help, commas and all, without the name of its argument.
grep -q -- "-l json -d 'write the report as JSON to FILE, - for" "$work/gable.fish" || { echo "a comma was lost"; exit 1; }
grep -q -- "-l folder -d 'where" "$work/gable.fish" || { echo "--folder does not begin with what it does"; exit 1; }
skipped=
tried() { command -v "$1" >/dev/null 2>&1 || { skipped="$skipped $1"; return 1; }; }
! tried mandoc || mandoc -Tlint -Wwarning "$work/gable.1"
! tried bash || bash -n "$work/gable.bash"
! tried zsh || zsh -n "$work/_gable"
! tried fish || fish -n "$work/gable.fish"
[ -z "$skipped" ] || { echo "made and compared with --help, but not read by what is not here:$skipped"; exit 77; }
