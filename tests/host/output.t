#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# suite: native
# What record prints, its destinations, and errors when writing there: report prints the same of what was kept, on disks that are full
# or read-only, too. A recorder must be at work on them; tests/cli/formats.t reads what was recorded once.
. "$(dirname "$0")/../cli/cli.sh"
skip_unless_able
own_mounts
on_exit umount -q "$dir/disk"

# disk OPTIONS: mounts an empty tmpfs at $dir/disk
disk() {
	mkdir -p "$dir/disk"
	! mountpoint -q "$dir/disk" || umount "$dir/disk"
	mount -t tmpfs -o "$1" none "$dir/disk"
}

# no_traces DIR: there are no temporary files
no_traces() {
	local found

	found=$(find "$1" -name '.*.tmp' -o -name '*.new*' -o -name '*-journal')
	[ -z "$found" ] || { echo "left: $found" && false; }
}

# sleeps: prints how often $pid has slept, which it does at the end of each interval
sleeps() { awk '$1 == "voluntary_ctxt_switches:" { print $2 }' "/proc/$pid/status"; }
has_slept() { [ "$(sleeps)" -ge "$1" ]; }

is_full() { [ "$(stat -f -c %a "$1")" = 0 ]; }

# ---- what is printed ----

run record -q --json -i 20ms -d 100ms -o "$dir/json"
kept=$(recording "$dir/json") whole=$(tail -n 1 <<<"$out") parts=$(head -n -1 <<<"$out")
run report --json "$kept"
is 'report --json is the same as record --json, and the time line' \
	"$(jq -S 'del(.timeline, .correlation, .contributors, .pressure)' <<<"$out")" "$(jq -S 'del(.pressure)' <<<"$whole")"
ok 'and its pressure, there by interval' jq -es '(.[0].pressure.columns | INDEX(.name)) as $kept |
	.[1].pressure.columns | length > 5 and all($kept[.name] as $k | [.unit, .what] == ($k | [.unit, .what]) and
		(.unit != "share" or (.mean - $k.mean | fabs) < 0.001))' <<<"$out$whole"
run report --intervals --json "$kept"
is 'report --intervals --json is the same as record -i --json' "$out" "$parts"
run record -v --top 3 --by process,thread,cgroup,disk,op,mode,type --tail-us 64,iolat=4000,runqlat=100 --label name=twice -o "$dir/text" -- \
	sh -c 'dd if=/dev/zero of="$0" bs=4k count=8 conv=fsync status=none; exit 3' "$dir/io"
text=$out kept=$(recording "$dir/text")
like 'on stderr: the workload, where the recording is' "$err" \
	$'^latscope: workload: exited with status 3\nrecording in [^[:cntrl:]]*-twice$'
run report -v --top 3 "$kept"
is 'report -v prints the same as record -v, to the letter, and the time line' "${out%$'\n\n'time line: *}" "$text"
check '--json: one object and nothing else' 0 '' '^\{.*\}$' runqlat --json -d 50ms
ok '--json: of one probe' jq -es 'length == 1 and [.[0].probes[].module] == ["runqlat"] and .[0].probes[0].accounting.balanced' <<<"$out"
for module in memlat runqlat iolat; do
	dd if=/dev/zero of="$dir/io" bs=4k count=4 conv=fsync status=none &
	check "$module --csv" 0 '' '^bucket,lo_us,hi_us,count(.[0-9]+,[0-9]+,([0-9]+|inf),[0-9]+)*$' $module -q --csv -d 100ms -i 20ms -o "$dir/$module"
	wait $!
	is "$module.csv is the same" "$out" "$(<"$(recording "$dir/$module")/$module.csv")"
done
run runqlat -q -d 1s -o "$dir/second"
is 'an interval is a 60th of the duration, if nothing else is said' "$(meta "$(recording "$dir/second")" interval_ns)" 16666667

# ---- where it goes ----

shopt -s nullglob
mkdir -m 700 "$dir/closed"
chown 65534 "$dir/closed"
check 'below a directory that is closed to us but for privilege' 0 'recording in ' balances \
	record -v -d 100ms -o "$dir/closed/runs"
check 'record makes the directory' 0 "^recording in $dir/new/runs/[0-9]{8}T[0-9]{6}Z-night-1$" \
	'memlat .*(balances|recursion_missed).*runqlat .*balances.*iolat .*balances' \
	record -v -d 50ms -o "$dir/new/runs" --label name='night 1'
first=$(recording "$dir/new/runs")
ok 'the recording is complete' complete "$first"
before=$(cd "$first" && sha256sum -- *)
check 'a second recording in the same directory' 0 '' 'runqlat .*balances' record -qv -d 50ms -o "$dir/new/runs"
is 'there are two' "$(find "$dir/new/runs" -mindepth 1 -maxdepth 1 | wc -l)" 2
is 'the first is as it was' "$(cd "$first" && sha256sum -- *)" "$before"
ok 'no file in the making is left' no_traces "$dir/new"

# Directories have the names of all seconds in which the next recording can start.
for ahead in {0..60}; do
	mkdir -p "$dir/same/$(date -u -d "$ahead sec" +%Y%m%dT%H%M%SZ)"
done
check 'two within one second' 0 "^recording in .*Z-2$" 'runqlat .*balances' record -v -d 50ms -o "$dir/same"
ok 'the second is complete' complete "$(echo "$dir"/same/*-2)"

(cd "$dir" && "$latscope" record -q -d 50ms >/dev/null)
ok 'without -o it goes below runs/' complete "$(recording "$dir/runs")"
run runqlat -d 50ms -o "$dir/single"
is 'a probe alone keeps its own files' "$(cd "$(recording "$dir/single")" && echo *)" \
	'run.db runqlat.csv runqlat.summary.json'
(cd "$dir" && mkdir bare && cd bare && "$latscope" runqlat -q -d 50ms >/dev/null)
is 'a probe alone keeps nothing unless asked' "$(find "$dir/bare" -mindepth 1)" ''

touch "$dir/file"
refuses '-o is a file' 1 "cannot create a directory in $dir/file: Not a directory; choose another with -o" \
	record -d 1s -o "$dir/file"
refuses '-o is below a file' 1 'Not a directory; choose another with -o' record -d 1s -o "$dir/file/below"
in_mounts 'umount -l /proc' refuses 'no /proc, before anything is run' 1 \
	"cannot create a directory in $dir/no-proc: its files are opened through /proc, which is not mounted; mount it" \
	runqlat -o "$dir/no-proc" -- touch "$dir/ran"
is 'nothing is left of that' "$(find "$dir/no-proc" "$dir/ran" -mindepth 1 2>/dev/null)" ''
refuses '-o has a name too long' 1 'File name too long; choose another' \
	record -d 1s -o "$dir/$(printf 'x%.0s' {1..300})"

# Names that others chose must not mislead the reader.
cp /bin/true "$dir/"$'a\u202eb'
odd=$'a\u202eb\e[31mc\xffd\u200be'
run runqlat -o "$dir/odd" --json --label "$odd=$odd" -- "$dir/"$'a\u202eb' "$odd"
ok 'JSON of odd labels and commands' jq -e --arg d "$dir" \
	'.labels == {"a?b?[31mc?d?e": "a?b?[31mc?d?e"} and .workload.command == $d + "/a?b a?b?[31mc?d?e"' <<<"$out"
is 'run.db of them' "$(sqlite3 "$(recording "$dir/odd")/run.db" "SELECT name || value FROM label
	UNION ALL SELECT value FROM meta WHERE name = 'workload'")" "a?b?[31mc?d?ea?b?[31mc?d?e"$'\n'"$dir/a?b a?b?[31mc?d?e"

# SQLite's limit for paths is lower than the kernel's: the error comes before the measurement, and names the path.
name=$(printf 'x%.0s' {1..200})
refuses 'a path of more than 512 bytes' 1 "cannot create a directory in $dir/$name/$name/$name: File name too long; choose another with -o" \
	record -o "$dir/$name/$name/$name" -- touch "$dir/ran"
ok 'it is refused before anything is made' test ! -e "$dir/$name"
refuses 'a name of more than 255 bytes below another' 1 'File name too long' record -o "$dir/parent/x$name$name" -d 1s
ok 'the other one is not made, either' test ! -e "$dir/parent"
mkdir -p "$dir/$name/$name"
(cd "$dir/$name/$name" && "$latscope" runqlat -q -d 50ms -o "$name" >"$dir/stdout" 2>"$dir/stderr")
like 'also where the name is shorter than the path' "$(<"$dir/stderr")" "cannot create a directory in $name: File name too long"
is 'no directory is left, and nothing was run' "$(find "$dir/$name/$name/$name" "$dir/ran" -mindepth 1 2>/dev/null)" ''
check 'a path of 400 bytes' 0 "^recording in $dir/$name/$name/" balances runqlat -d 50ms -o "$dir/$name/$name"
ok 'it is complete' jq -e .complete "$dir/$name/$name"/2*/runqlat.summary.json
long=/$(printf 'y%.0s' {1..250})
long=$dir$long$long$long$long$long$long$long$long$long$long$long$long$long$long$long$long
refuses 'messages name a path of 4,000 bytes in full: -o' 1 "cannot create a directory in $long: File name too long; choose" \
	record -d 1s -o "$long"
refuses 'a workload' 1 "cannot run '$long/no': (No such file or directory|File name too long); the workload must" \
	record -o "$dir/never" -- "$long/no"
refuses 'a cgroup' 1 "--cgroup $long: .*; give a directory of the cgroup v2 hierarchy" runqlat -d 1s --cgroup "$long"
refuses 'a disk' 1 "--disk $long: No such file or directory" iolat -d 1s --disk "$long"
wrong 'an argument' "--by '$long': unknown split; choose from process" runqlat --by "$long"

said=$(ulimit -f 64 && "$latscope" record -q -d 300ms -o "$dir/limited" 2>&1 >/dev/null)
is 'beyond the limit of a file: exit status' $? 1
like 'beyond the limit of a file: says so' "$said" '^latscope: cannot write to .*: .*; without run.db this is not a recording$'

if disk ro 2>/dev/null; then
	refuses 'a disk that is read-only' 1 "cannot create a directory in $dir/disk: Read-only file system; choose" \
		record -d 1s -o "$dir/disk"
	disk size=256k
	"$latscope" record -qv -i 20ms --no-why --by mode,type,op --min-free 0 -o "$dir/disk" >"$dir/stdout" 2>"$dir/stderr" &
	pid=$!
	wait_for is_full "$dir/disk"
	ok 'a disk that fills up: told at once' wait_for grep -q 'No space left on device' "$dir/stderr"
	end_by INT
	ok 'a disk that fills up: the error, and the result' ended 1 \
		"^latscope: cannot write to $dir/disk/[^ ]*Z: No space left on device; earlier intervals are kept$" \
		'memlat .*(balances|recursion_missed).*runqlat .*balances.*iolat .*balances'
	kept=$(recording "$dir/disk")
	is 'the result itself lacks nothing' "$(grep incomplete <<<"$out")" ''
	check 'run.db is read as far as it got' 0 '' '^incomplete: .*cut off.*runqlat .*balances' report "$kept"
	unprivileged refuses 'not by others' 1 'Permission denied' report "$kept"
	chmod -R a+rX "$kept"
	unprivileged check 'but by those who may read it' 0 '' '^incomplete: .*cut off' report "$kept"
	run report --json "$kept"
	ok 'it has intervals, and adds up' jq -e '(.complete | not) and .duration_sec > 0
		and all(.probes[].accounting // empty; .balanced)' <<<"$out"
	ok 'no file in the making is left' no_traces "$kept"
	disk size=1m
	fallocate -l 768k "$dir/disk/ballast"
	"$latscope" record -q -i 20ms --no-why --min-free 0 -o "$dir/disk" >/dev/null 2>"$dir/stderr" &
	pid=$!
	ok 'a disk that fills up for a while' wait_for is_full "$dir/disk"
	sleeps=$(sleeps)
	wait_for has_slept $((sleeps + 30)) # many an interval: one finds no room
	rm "$dir/disk/ballast"
	kill -INT $pid
	wait $pid
	kept=$(recording "$dir/disk")
	is 'the log is folded in' "$(cd "$kept" && echo run.db*)" run.db
	check 'and it can be read' 0 '' '^incomplete: .*cut off' report "$kept"
	disk size=16k
	no_room="^latscope: cannot write to $dir/disk/[^ ]*: No space left on device; without run.db this is not a recording$"
	check 'a disk without room for run.db' 1 "$no_room" 'runqlat .*balances' \
		runqlat -d 50ms --min-free 0 -o "$dir/disk"
	check 'also of ringlat, which has printed it then' 1 "$no_room" \
		'minor_fault' ringlat --method user -n 20000 --min-free 0 -o "$dir/disk"
	ok 'no file in the making is left then' no_traces "$dir/disk"
	is 'nor an empty run.db' "$(find "$dir/disk" -name 'run.db*')" ''
	disk size=64k
	check 'a disk with room for the rest' 1 "$no_room" '"complete": false' \
		runqlat --json -d 50ms --min-free 0 -o "$dir/disk"
	is 'it says that it is not all' "$(jq .complete "$(recording "$dir/disk")/runqlat.summary.json")" false
else
	skip 'disks that are full or read-only' 'it may not mount a tmpfs'
fi
done_testing
