#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Recordings for other tools: report --perfetto, --pprof, --folded. Decoders that share no code with latscope read what it writes,
# and compare it with run.db.
. "$(dirname "$0")/cli.sh"

for option in '--perfetto x' '--pprof x' --folded; do
	# shellcheck disable=SC2086 # to be split
	wrong "${option% *} as JSON" "${option% *} is of the whole recording" report $option --json a
	# shellcheck disable=SC2086
	wrong "${option% *} of one probe" "${option% *} is of the whole recording" report $option -P iolat a
done
wrong 'two files at once' 'choose one of --html and --perfetto' report --perfetto x --html y a
wrong 'where --folded without stacks' '--folded needs what --no-why leaves out' where --folded --no-why
wrong 'where --folded by interval' '--folded prints stacks' where --folded -i 1s
wrong 'where --folded as JSON' '--folded prints stacks' where --folded --json
refuses 'no recording' 1 'a: there is no recording' report --perfetto "$dir/trace" "$dir/a"
stored memlat
refuses 'a recording without stacks has none to fold' 1 'this recording has no stacks of long sleeps' report --folded "$dir/memlat"
refuses 'nor a profile' 1 'this recording has no stacks of long sleeps; make one with' report --pprof "$dir/p" "$dir/memlat"
ok 'of which nothing is left' test ! -e "$dir/p"

# ---- Perfetto ----

cannot() { refuses "$1" 1 "cannot write $2: $3" report "$4" "$2" "$dir/where"; }
# agrees NAME: the trace of a recording has what that has
agrees() {
	check "$1: a trace" 0 'trace in ' '' report --perfetto "$dir/trace" "$dir/$1"
	"$latscope" report --intervals --json "$dir/$1" >"$dir/intervals"
	if command -v node >/dev/null; then
		ok "$1: what is in it is what the recording has" node tests/cli/perfetto.js "$dir/trace" "$dir/$1/run.db" "$dir/intervals"
	else
		skip "$1: what is in it is what the recording has" 'node is not installed'
	fi
}
stored where
stored hostile # names of odd bytes
stored mixed # not explained
agrees where
is 'only its owner can read it' "$(stat -c %a "$dir/trace")" 600
ok 'it has arrows, and values of parts' test "$(node tests/cli/perfetto.js "$dir/trace" "$dir/where/run.db" "$dir/intervals" |
	grep -cE '# .* [1-9][0-9]* slices, [1-9][0-9]* arrows, [1-9][0-9]* values')" = 1
agrees hostile
agrees mixed
agrees memlat
cp "$dir/where/run.db" "$dir/other.db"
sqlite3 "$dir/other.db" 'UPDATE where_waits SET ns = ns + 1 WHERE rowid = 3'
check 'of another recording' 0 '' '' report -q --perfetto "$dir/trace" "$dir/where"
fails() { ! node tests/cli/perfetto.js "$dir/trace" "$dir/other.db" "$dir/intervals"; }
"$latscope" report --intervals --json "$dir/where" >"$dir/intervals"
ok 'the comparison notices a wait that is 1 ns longer' fails
check 'a part of a recording' 0 '' '' report -q --from 300ms --to 600ms --perfetto "$dir/part" "$dir/where"
within 'is a part of the trace' 1000 "$(stat -c %s "$dir/part")" "$(($(stat -c %s "$dir/trace") / 2))"

# ---- stacks ----

# The lines with the same stack are one; of several processes they were several.
us() { awk '{ ns[substr($0, 1, length($0) - length($NF) - 1)] += $NF } END { for (stack in ns) printf "%s %.0f\n", stack, ns[stack] / 1000 }' | sort; }
check 'folded stacks' 0 '' '^[^;]+;[a-z]+;[^ ]* ?[^ ]* [0-9]+' report --folded "$dir/where"
folded=$out
is 'their sum is that of the recording, in us' "$(awk '{ us += $NF } END { print int(us / 1000 + .5) }' <<<"$folded")" \
	"$(sqlite3 -readonly "$dir/where/run.db" 'SELECT CAST(round(sum(ns) / 1e6) AS INTEGER) FROM where_stacks')"
ok 'a line has the outermost function first' grep -qE ';(entry_SYSCALL_64[a-z_]*|do_syscall_64|ret_from_fork[a-z_]*);.*[0-9]$' <<<"$folded"
ok 'no line is there twice' test -z "$(awk '{ $NF = ""; print }' <<<"$folded" | sort | uniq -d)"
ok 'no function has an offset' test -z "$(grep -E '\+0x[0-9a-f]+[; ]' <<<"$folded")"
check 'a profile' 0 'profile in ' '' report --pprof "$dir/profile" "$dir/where"
ok 'it is compressed' gzip -t <"$dir/profile"
if command -v node >/dev/null; then
	is 'it has the same stacks, and the same times' "$(node tests/cli/pprof.js "$dir/profile" | us)" "$(sort <<<"$folded")"
fi

# ---- files ----

for option in --perfetto --pprof; do
	cannot "$option: no directory" "$dir/none/file" 'No such file or directory' $option
	cannot "$option: a device" /dev/null 'not a regular file' $option
	ln -sf "$dir/victim" "$dir/link"
	cannot "$option: a link" "$dir/link" 'not a regular file' $option
	ok "$option: whose target is not made" test ! -e "$dir/victim"
	if unshare -m true 2>/dev/null; then
		mkdir -p "$dir/full"
		in_mounts "mount -t tmpfs -o size=4k none $dir/full && head -c 4096 /dev/zero >$dir/full/other" \
			cannot "$option: a full disk" "$dir/full/file" 'No space left on device' $option
		in_mounts "mount -t tmpfs -o ro none $dir/full" cannot "$option: a disk that is read-only" "$dir/full/file" 'Read-only file system' $option
	else
		skip "$option: a full disk" 'cannot make a mount namespace'
	fi
done
unwritable() { [ "$(id -u)" != 0 ] || chmod 755 "$dir/closed"; }
mkdir -p "$dir/closed"
unwritable
chmod -R a+rX "$dir/where"
may_not() { cannot 'a directory of another user' "$dir/closed/file" 'Permission denied' --perfetto; }
if [ "$(id -u)" = 0 ]; then
	unprivileged may_not
else
	skip 'a directory of another user' 'only root can make one'
fi
check 'quiet' 0 '' '' report -q --perfetto "$dir/trace" "$dir/where"
done_testing
