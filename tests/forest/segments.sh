# segments.sh: what runs leave in /dev/shm. Sourced; $work is a folder.
# note_segments: those that are there now.  left_segments: names of later ones that nobody has mapped; tests beside this one have theirs mapped.
note_segments() { ls /dev/shm >"$work/before" 2>/dev/null; }
left_segments() {
    for s in $(ls /dev/shm 2>/dev/null | grep -v -x -F -f "$work/before"); do
        [ ! -e "/dev/shm/$s" ] || grep -q -s -F "/dev/shm/$s" /proc/[0-9]*/maps || echo "$s"
    done
}
