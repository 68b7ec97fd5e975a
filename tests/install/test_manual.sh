#!/bin/sh
# The man page and the completions, made from --help: each verb and each of its options stands in all of them, and their readers
# find no fault.
set -eu
tool=$BUILD/bin/gable
[ -x "$tool" ] || { echo "no tool in this build"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
sh scripts/manual "$tool" "$work"
[ -z "${SAN:-}" ] || exit 0 # the rest calls the tool some hundred times for the same lists
verbs=$("$tool" --help | sed -n 's/^  \([a-z][a-z]*\)   *[^ ].*/\1/p')
for v in $verbs; do
    upper=$(echo "$v" | tr '[:lower:]' '[:upper:]')
    grep -q "^.SH GABLE $upper\$" "$work/gable.1" || { echo "not in the man page: $v"; exit 1; }
    # The names that the tool itself parses by, whatever its help looks like.
    for o in $("$tool" "$v" --list-options | tr -d =); do
        escaped=$(echo "$o" | sed 's/-/\\-/g')
        grep -q -F -e "$escaped" "$work/gable.1" || { echo "not in the man page: $v $o"; exit 1; }
        grep -q -e "^    '$v -'\*) .*$o " "$work/gable.bash" || { echo "not in the bash completion: $v $o"; exit 1; }
        "$tool" "$v" --help | grep -q -e " $o" || { echo "not in the help: $v $o"; exit 1; }
    done
    for o in $("$tool" "$v" --help | grep -o -- '^  *\(-., \)\{0,1\}--[a-z][a-z0-9-]*' | grep -o -- '--.*'); do
        grep -q -- "^    '$v -'\*) .*$o " "$work/gable.bash" || { echo "not in the bash completion: $v $o"; exit 1; }
        grep -q -- "from $v'.* -l ${o#--} " "$work/gable.fish" || { echo "not in the fish completion: $v $o"; exit 1; }
        grep -q -- "'$o=*\[" "$work/_gable" || { echo "not in the zsh completion: $v $o"; exit 1; }
    done
done
# What an option does is said as in its help, commas and all, without the name of its argument.
grep -q -- "-l json .*-d 'write the report as JSON to FILE, - for" "$work/gable.fish" || { echo "a comma was lost"; exit 1; }
grep -q -- "-l folder .*-d 'where" "$work/gable.fish" || { echo "--folder does not begin with what it does"; exit 1; }

# Values. Each word that a completion offers is one that the tool takes ...
cat >"$work/a.mtx" <<'MTX'
%%MatrixMarket matrix coordinate real general
2 2 3
1 1 4
2 1 1
2 2 4
MTX
words() { "$tool" "$1" --list-values | awk -F'\t' -v name="$2" '$1 == name { print $2 }'; }
for w in $(words symbolic --order); do
    [ "$w" = FILE ] || "$tool" symbolic "$work/a.mtx" --order "$w" >"$work/log" 2>&1 || grep -q "is not in this build: install" "$work/log" ||
        { cat "$work/log"; echo "--order $w is offered and refused"; exit 1; }
done
for w in $(words generate ARGUMENT); do
    case $w in *:) ;; *) echo "a kind without a colon: $w"; exit 1 ;; esac
    "$tool" generate "${w}none" -o "$work/k.mtx" 2>&1 | grep -q "no kind of matrix" && { echo "offered and unknown: $w"; exit 1; }
    "$tool" generate --help | grep -q "^$w" || { echo "not in the help: $w"; exit 1; }
done
[ "$(words generate ARGUMENT | wc -w)" -eq "$("$tool" generate --help | sed -n 's/^\([a-z0-9]*:\).*/\1/p' | grep -v '^usage:\|^examples:' | sort -u | wc -l)" ] ||
    { echo "some kinds are not offered: $(words generate ARGUMENT)"; exit 1; }
for v in $verbs; do
    for o in $("$tool" "$v" --list-values | cut -f 1); do
        case $o in --where | --methods) continue ;; esac # what is taken depends on the machine
        for w in $(words "$v" "$o"); do
            case $o/$w in ARGUMENT/* | */FILE | */FOLDER | -*[a-z]/LIST | --order/*) continue ;; esac
            "$tool" "$v" "$o" "$w" --no-such-option 2>&1 | grep -q "no option --no-such" || { echo "offered and refused: gable $v $o $w"; exit 1; }
        done
    done
done
# ... and the shells offer these, those that begin like what was typed and no others.  offered LINE: what completes it.
listed() { tr -s " " "\n" | sed "/^$/d" | sort | tr "\n" " "; }
offers() {
    want=$(echo "$2" | listed)
    got=$(offered "$1" | listed)
    [ "$got" = "$want" ] || { echo "$shell: '$1' offers '$got', not '$want'"; exit 1; }
}
values_in_shell() {
    offers 'gable sol' 'solve'
    offers 'gable solve --order m' 'metis'
    offers 'gable symbolic --order a' 'amd auto all'
    offers 'gable generate laplacian' 'laplacian5: laplacian7: laplacian9: laplacian27:'
    offers 'gable generate -o x.mtx ci' 'circuit:'
    offers 'gable trisolve x.mtx -m le' 'levc levr'
    offers 'gable solve x.mtx --method l' 'lu ldlt'
    offers 'gable solve --where c' 'cpu cuda:0'
    offers 'gable solve -w a' 'auto'
    offers 'gable forest --where cpu/r' 'cpu/ranks:2 cpu/ranks:4'
    offers 'gable forest p' 'pingpong'
    offers 'gable bench m' 'matrices'
    offers 'gable bench matrices --methods auto,s' 'auto,serial'
    offers 'gable convert --format ' 'name mtx rb gbl'
    offers 'gable krylov --precond i' 'ilu0 ic0 iluk ilut'
    offers 'gable solve --rhs ' ''
    offers 'gable solve x.mtx -o fil' 'file-one.mtx'
    offers 'gable solve fil' 'file-one.mtx'
    offers 'gable solve --transpose fil' 'file-one.mtx'
    offers 'gable bench --folder fo' "$1"
}
mkdir "$work/files" "$work/files/folder"
: >"$work/files/file-one.mtx"
skipped=
tried() { command -v "$1" >/dev/null 2>&1 || { skipped="$skipped $1"; return 1; }; }
if tried bash; then
    shell=bash
    cat >"$work/try.bash" <<'BASH'
source "$1"
cd "$2"
COMP_LINE=$3 COMP_POINT=${#3} COMP_WORDBREAKS=${4-$' \t\n"\'><;|&('}
_gable
printf '%s\n' "${COMPREPLY[@]}"
BASH
    offered() { bash "$work/try.bash" "$work/gable.bash" "$work/files" "$1"; }
    values_in_shell folder
    # = and : break words in most shells: then what is replaced begins behind them
    offered() { bash "$work/try.bash" "$work/gable.bash" "$work/files" "$1" ' =:'; }
    offers 'gable solve --order=m' 'metis'
    offers 'gable solve --where=cu' 'cuda:0'
    offers 'gable solve --where=cuda:' '0'
    offers 'gable solve --where cuda:' '0'
    offers 'gable solve -o fil' 'file-one.mtx'
fi
if tried fish; then
    shell=fish
    mkdir "$work/home"
    offered() { (cd "$work/files" && HOME=$work/home XDG_CONFIG_HOME=$work/home fish --no-config -c "source $work/gable.fish; complete -C '$1'" | cut -f 1); }
    values_in_shell folder/
    offers 'gable solve --order=m' '--order=metis'
fi
if tried zsh; then
    shell=zsh
    cat >"$work/try.zsh" <<'ZSH'
zmodload zsh/zpty
zpty z "HOME=$2 zsh -f -i"
zpty -w z "PS1= PS2=; fpath=($1 \$fpath); autoload -U compinit; compinit -u -D; cd $2"
zpty -w z "dump() { print -r -- \"\$BUFFER\" >$4.new; mv $4.new $4; zle kill-whole-line }; zle -N dump; bindkey '^X' dump"
zpty -w z "bindkey '^I' expand-or-complete; print ready-\$((1 + 1))"
zpty -r z seen '*ready-2*'
zpty -n -w z "$3"$'\t\x18'
for k in {1..300}; do [[ -s $4 ]] && break; sleep 0.1; zpty -r -t z ignored; done
zpty -d z
ZSH
    # becomes LINE: what a tab makes of the line, where one word alone completes it
    becomes() {
        rm -f "$work/line"
        timeout 120 zsh -f "$work/try.zsh" "$work" "$work/files" "$1" "$work/line" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
        [ "$(sed 's/[ ,]*$//' "$work/line")" = "$2" ] || { echo "zsh makes '$(cat "$work/line")' of '$1', not '$2'"; exit 1; }
    }
    becomes 'gable so' 'gable solve'
    becomes 'gable solve --order met' 'gable solve --order metis'
    becomes 'gable solve --order=met' 'gable solve --order=metis'
    becomes 'gable generate ci' 'gable generate circuit:'
    becomes 'gable bench matrices --methods auto,se' 'gable bench matrices --methods auto,serial'
    becomes 'gable solve -w cu' 'gable solve -w cuda:0'
    becomes 'gable forest --where cpu/m' 'gable forest --where cpu/mpi'
    becomes 'gable solve --transpose -o fil' 'gable solve --transpose -o file-one.mtx'
fi
! tried mandoc || mandoc -Tlint -Wwarning "$work/gable.1"
! tried bash || bash -n "$work/gable.bash"
! tried zsh || zsh -n "$work/_gable"
! tried fish || fish -n "$work/gable.fish"
[ -z "$skipped" ] || { echo "made and compared with --help, but not read by what is not here:$skipped"; exit 77; }
