#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# suite: native
# The files of a recording: their owners, attacks by other users while root writes them, their size, and how they show
# that a recording did not end properly. A recorder must be at work while others change what it writes, on the file systems that
# this machine's kernel has; tests/cli/report.t reads what recorders have left.
. "$(dirname "$0")/../cli/cli.sh"
skip_unless_able
own_mounts
user=65534
on_exit umount -q "$dir/disk"

# modes DIR: prints the modes of the directory and of its entries
modes() { find "$1" -printf '%y%m %u\n' | sort -u | tr '\n' ' '; }

owner=$(id -un $user)
run record -q -d 50ms -o "$dir/own"
is 'a recording is for its owner alone' "$(modes "$(recording "$dir/own")")" 'd700 root f600 root '
(umask 0 && "$latscope" runqlat -q -d 50ms -o "$dir/umask" >/dev/null)
is 'whatever the umask' "$(modes "$(recording "$dir/umask")")" 'd700 root f600 root '

# Under sudo.
mkdir "$dir/theirs"
chown $user "$dir/theirs"
as=(env "SUDO_UID=$user" "SUDO_GID=$user")
run record -q -i 20ms -d 100ms -o "$dir/theirs/a/b"
is 'under sudo it belongs to the caller' "$(modes "$(recording "$dir/theirs/a/b")")" "d700 $owner f600 $owner "
is 'also what lies above it' "$(modes "$dir/theirs")" "d700 $owner d755 $owner f600 $owner "
ok 'it is whole' complete "$(recording "$dir/theirs/a/b")"
run record -q -d 50ms -o "$dir/rooted"
is 'where the caller may not write, root makes it' "$(modes "$(recording "$dir/rooted")")" "d700 $owner f600 $owner "
refuses 'there, too' 1 'less than 8192 TiB is free' runqlat -d 10ms --min-free 8192T -o "$dir/rooted"
is 'what root made and does not need is gone' "$(find "$dir/rooted" -mindepth 1 -type d -empty)" ''
as+=(setpriv '--bounding-set=-setuid,-setgid')
refuses 'not even root' 1 'cannot give up privileges' runqlat -d 10ms -o "$dir/rooted"
is 'also where privileges could not be given up' "$(find "$dir/rooted" -mindepth 1 -type d -empty)" ''
as=(env "SUDO_UID=$user" "SUDO_GID=$user")
run ringlat --method user -n 20000 -o "$dir/rings"
is 'ringlat does so, too' "$(modes "$(recording "$dir/rings")")" "d700 $owner f600 $owner "
run runqlat -q -d 50ms -o "$dir/theirs/w" -- touch "$dir/of-root"
is 'the workload is as it was' "$(stat -c %U "$dir/of-root")" root
for bad in '' 0 -1 4294967295 99999999999 65534x nobody 4242424; do
	as=(env "SUDO_UID=$bad" "SUDO_GID=$user")
	run runqlat -q -d 10ms -o "$dir/bad$bad"
	is "SUDO_UID='$bad' is none" "$(modes "$(recording "$dir/bad$bad")")" 'd700 root f600 root '
done
as=()

# Where root does not go.
mkdir -m 777 "$dir/open"
refuses 'a directory in which everybody may rename' 1 'other users can rename or replace what is in it; choose' \
	runqlat -d 10ms -o "$dir/open"
refuses 'a missing directory below it' 1 'other users can rename or replace what is in it; choose' \
	runqlat -d 10ms -o "$dir/open/x/y"
ok 'it is not made' test ! -e "$dir/open/x"
mkdir -m 1777 "$dir/sticky"
check 'one that is sticky' 0 '' balances runqlat -q -d 10ms -o "$dir/sticky"
mkdir -m 770 "$dir/group"
chgrp $user "$dir/group"
refuses 'one of a group' 1 'other users can rename or replace' runqlat -d 10ms -o "$dir/group"
ln -s "$dir/own" "$dir/theirs/link"
chown -h $user "$dir/theirs/link"
refuses 'a link of another user' 1 'a symbolic link in it belongs to another user' runqlat -d 10ms -o "$dir/theirs/link/x"
ln -s own "$dir/link"
check 'a link of root' 0 '' balances runqlat -q -d 10ms -o "$dir/link/by/../x/"
ok 'leads where it says' test -d "$dir/own/x"
as=(env "SUDO_UID=$user" "SUDO_GID=$user")
ln -s "$dir/theirs" "$dir/theirs/self"
chown -h $user "$dir/theirs/self"
check 'a link of the caller' 0 '' balances runqlat -q -d 10ms -o "$dir/theirs/self/y"
refuses "a link of the caller to where only root may write" 1 'cannot create a directory in' \
	runqlat -d 10ms -o "$dir/theirs/link/z"
ok 'nothing is made there' test ! -e "$dir/own/z"
as=()
ln -s loop2 "$dir/loop1"
ln -s loop1 "$dir/loop2"
refuses 'links without an end' 1 'Too many levels of symbolic links' runqlat -d 10ms -o "$dir/loop1/x"

# Another user owns the directory, and replaces with links whatever root is about to use.
mkdir "$dir/victim" "$dir/way"
for name in run.db run.db-wal runqlat.csv runqlat.summary.json .runqlat.csv.tmp; do
	echo precious >"$dir/victim/$name"
done
chown $user "$dir/way"
before=$(find "$dir/victim" -printf '%p %s %m %U %T@ %C@\n' | sort)
setpriv --reuid=$user --regid=$user --clear-groups bash -c '
	cd "$1/way" && mkdir runs || exit
	while :; do
		for made in runs/2*; do
			[ -d "$made" ] && [ ! -L "$made" ] && mv -T "$made" "runs/gone$((n++))" || continue
			ln -sT "$1/victim" "$made"
			# Every third time also its parent.
			((n % 3)) || { mv runs aside && ln -s "$1/victim" runs && sleep .1 && rm runs && mv aside runs; }
		done
	done' - "$dir" 2>/dev/null &
attacker=$!
for ((try = 0; try < ${LATSCOPE_SOAK:+10}8; try++)); do
	"$latscope" record -q -i 5ms -d 60ms -o "$dir/way/runs" >/dev/null 2>&1
	SUDO_UID=$user SUDO_GID=$user "$latscope" runqlat -q -d 20ms -o "$dir/way/runs" >/dev/null 2>&1
done
kill $attacker
wait $attacker 2>/dev/null
is 'nothing outside is touched' "$(find "$dir/victim" -printf '%p %s %m %U %T@ %C@\n' | sort)" "$before"
ok 'it was a race' test -n "$(find "$dir/way" -name "gone*")"

# After run.db, a file cannot be written: a directory has its name.
start -i 20ms
mkdir "$(recording "$dir/runs")/runqlat.csv"
end_by INT
is 'a file cannot be written: the exit status' "$status" 1
like 'it says so' "$err" 'cannot write to .*Is a directory'
is 'run.db does not say that all is complete' "$(meta "$(recording "$dir/runs")" complete)" 0
ok 'nor does a summary' jq -es 'all(.complete | not)' "$(recording "$dir/runs")"/*.summary.json
start -i 20ms
mkdir "$(recording "$dir/runs")/runqlat.summary.json"
end_by INT
is 'the last file cannot be written' "$status" 1
is 'run.db takes it back' "$(meta "$(recording "$dir/runs")" complete)" 0

# run.db is deleted while it is written.
start -i 20ms
mv "$(recording "$dir/runs")/run.db" "$dir/moved.db"
end_by INT
is 'run.db was moved: the exit status' "$status" 1
moved='the recording in .* is not complete: run.db was moved, removed or replaced in the meantime$'
like 'it says so' "$err" "^latscope: $moved"
ok 'nor does a summary say that all is complete' jq -es 'all(.complete | not)' "$(recording "$dir/runs")"/*.summary.json
is 'nothing says that there is a recording' "$(grep 'recording in .*/2' <<<"$err" | grep -v 'not complete')" ''
start -i 20ms
cp "$(recording "$dir/runs")/run.db" "$dir/copy.db"
mv "$dir/copy.db" "$(recording "$dir/runs")/run.db"
before=$(cksum <"$(recording "$dir/runs")/run.db")
end_by INT
is 'run.db was replaced: the exit status' "$status" 1
like 'it says so as well' "$err" "^latscope: $moved"
is 'the other file is left alone' "$(cksum <"$(recording "$dir/runs")/run.db")" "$before"
start -i 20ms
rm -r "$(recording "$dir/runs")"
end_by INT
is 'the directory was removed: the exit status' "$status" 1
rm -rf "$dir/runs"
"$latscope" record -i 20ms -o "$dir/runs" >"$dir/stdout" 2>"$dir/stderr" &
pid=$!
wait_for is_open
moved=$(recording "$dir/runs")
mv "$moved" "$dir/elsewhere"
ln -s /etc "$moved"
end_by INT
is 'the directory was moved: the exit status' "$status" 0
like 'it says so, and not where the recording is not' "$err" 'the recording was moved in the meantime'
ok 'which is complete where it is' "$latscope" report "$dir/elsewhere"
rm "$moved"

# During the recording, others can read but not write.
start -i 2ms
sqlite3 "$(recording "$dir/runs")/run.db" 'SELECT count(*) FROM slots' >/dev/null
wait_for has_intervals "$(recording "$dir/runs")" 20
run report --json "$(recording "$dir/runs")"
is 'a recording that goes on is read' "$status $(jq -c .running <<<"$out")" '0 true'
end_by INT
ok 'and is whole in the end' complete "$(recording "$dir/runs")"
is 'no index of other programs is left' "$(find "$dir/runs" -name '*-shm' -o -name '*-wal')" ''

# Limits.
wrong 'a size that is none' "--max-size 'big': invalid size" record --max-size big
wrong 'a size too small' '--max-size 10K: use a size from 1 MiB' record --max-size 10K
check 'a largest size' 0 'it reached --max-size 1.5 MiB; what was measured is complete' balances \
	record -v -i 2ms -d 60s --by process,thread --max-size 1.5M -o "$dir/limited"
kept=$(recording "$dir/limited")
size=$(find "$kept" -type f -printf '%s\n' | awk '{ sum += $1 } END { print sum }')
ok "it is kept to ($size)" test "$size" -le 1572864
ok 'what was measured is complete' complete "$kept"
is 'so says run.db' "$(meta "$kept" complete)" 1
refuses 'too little is free' 1 'less than 8192 TiB is free there; choose' runqlat -d 10ms --min-free 8192T -o "$dir/none"
is 'nothing is left there' "$(find "$dir/none" -mindepth 1)" ''

# small_disk SIZE BLOCK: a file system with blocks smaller than a page
small_disk() {
	! mountpoint -q "$dir/disk" || umount "$dir/disk"
	mkdir -p "$dir/disk"
	rm -f "$dir/image"
	truncate -s "$1" "$dir/image"
	mkfs.ext4 -q -b "$2" -m 0 -O ^has_journal "$dir/image" || return
	loop_new "$dir/image" && mount "$loop" "$dir/disk"
}

# free_kb: prints the free space on it
free_kb() { df -k --output=avail "$dir/disk" | tail -n 1; }

# Each time another number of KiB is free, so the disk is full at another moment.
if small_disk 4M 1024 2>"$dir/why"; then
	bad=''
	for left in 0 4 16 33 64 96 112 128 160 200 256 400; do
		rm -rf "$dir/disk"/*
		fallocate -l $(($(free_kb) - left))K "$dir/disk/ballast" || break
		run record -q -i 2ms -d 150ms --min-free 0 -o "$dir/disk/runs"
		[ "$status" = 0 ] || [ "$status" = 1 ] || bad+=" record:$left:$status"
		kept=$(recording "$dir/disk/runs")
		[ -e "$kept/run.db" ] || continue
		run report "$kept"
		[ "$status" = 0 ] || bad+=" report:$left:$status"
		[ "$left" -lt 400 ] || full=$kept
		whole=$(meta "$kept" complete 2>/dev/null)
		files=$(find "$kept" -name '*.summary.json' | wc -l)
		[ "$whole" != 1 ] || [ "$files" = 3 ] || bad+=" complete:$left"
	done
	is 'blocks of 1 KiB, full at each stage: errors, and no more' "$bad" ''
	ok 'some of them could be read' test -e "${full-}/run.db"
	small_disk 16M 1024
	check 'some is kept free' 1 'less than 2 MiB is free on its disk; what was measured is complete; --min-free' balances \
		record -qv -i 2ms -d 60s --by process,thread --min-free 2M -o "$dir/disk"
	ok 'all of it is whole' complete "$(recording "$dir/disk")"
	ok 'it is free' test "$(free_kb)" -ge 2048
else
	skip 'blocks of 1 KiB on a full disk' "$(head -n 1 "$dir/why")"
fi
done_testing
