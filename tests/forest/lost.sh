# lost.sh: what test_lost.sh and test_lost_gpus.sh share.  Needs $work, a folder, and $deadline, in seconds; mps: words before processes (scripts/mps).
. tests/forest/openmpi.sh
program=$BUILD/tests/forest/lost_rank
[ -x "$program" ] || { echo "no lost_rank in this build: make tests"; exit 77; }
case $(ldd "$program") in
*libmpich*) launch=mpirun.mpich ;;
*libmpi.so*) launch=mpirun.openmpi ;;
*) launch= ;;
esac
[ -z "$launch" ] || command -v $launch >/dev/null 2>&1 || launch=mpirun
[ -z "$launch" ] || command -v $launch >/dev/null 2>&1 || launch=

# lose RANKS PLACE PATH BY NUMBERS: the last of so many ranks is lost.  Prints the JSON lines of the others; or why this path is not
# here: exit status 77; or what is wrong: 1.  A shell stays in place of a process that is killed, since mpirun ends the others
# when one of its children ends.
lose() {
    log=$work/$(echo "$*" | tr '/: ,' ____)
    others=$(($1 - 1))
    case $2 in
    */mpi)
        # cases run at once: a folder each
        mkdir -p "$work/mpi.$cases"
        # shellcheck disable=SC2086 # a list of words
        set -- ${mps:-} env OMPI_MCA_orte_tmpdir_base="$work/mpi.$cases" $launch -n "$1" sh -c '"$0" "$@" || sleep '$((deadline + 3)) "$program" "$2" "$3" "$4" "$deadline" "$5"
        ;;
    *) set -- "$program" "$2" "$3" "$4" "$deadline" "$5" ;;
    esac
    timeout -k 2 $((deadline + ${START_LIMIT:-30})) "$@" >"$log" 2>&1 </dev/null
    status=$?
    if [ "$(grep -c '^{.*"checked":true}$' "$log")" = $others ] && [ $status -ne 124 ]; then
        grep '^{' "$log"
    elif grep -q '^lost_rank: not here: ' "$log"; then
        sed -n 's/^lost_rank: not here: //p' "$log" | head -n 1
        return 77
    else
        echo "exit status $status: $*"
        tail -n 20 "$log"
        return 1
    fi
}

# say WORDS OF lose...: a case and its lines, at once
say() {
    lose "$@" >"$work/said.$cases"
    case $? in
    0) cat "$work/said.$cases" ;;
    77) echo "left out: $*: $(cat "$work/said.$cases")" ;;
    *) { echo "FAILED: $*"; cat "$work/said.$cases"; } | tee -a "$work/failed" ;;
    esac
}

# begin WORDS OF lose...: in the background, AT_ONCE cases at a time
cases=0
begin() {
    cases=$((cases + 1))
    say "$@" &
    [ $((cases % ${AT_ONCE:-4})) -ne 0 ] || wait
}

# end: exit status 1 where one failed, which the last lines name
end() {
    wait
    [ ! -e "$work/failed" ] || { grep '^FAILED' "$work/failed"; return 1; }
}
