#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# suite: native
# tierlat on emulated tiers (tests/emu/tiers, of which nothing is left behind): files of decisions; and trees of registers that root
# must refuse. host/tiers.t compares what tierlat measures there.
. "$(dirname "$0")/cli.sh"
[ "$(id -u)" != 0 ] || own_mounts

unlinked() { ! ldd "$latscope" | grep fuse; }
ok 'the program is not linked with libfuse' unlinked
skip_unless_tiers
is 'the emulator ends with the command' "$status" 0
nothing_left() { [ -z "$(ls -A "$dir/at")" ] && ! grep -F "$dir/at" /proc/self/mounts; }
ok 'and leaves nothing behind' nothing_left

mkdir "$dir/no-numa"
tiers -q "$dir/at" "$latscope" tierlat -q --sysfs-root "$dir/no-numa" --pages -d 50ms
is 'a kernel without NUMA: exit status' "$status" 77
like 'a kernel without NUMA: that is said' "$err" 'no pages by node .this kernel has no NUMA.; leave out --pages$'

# The file of decisions has those of the rows.
printed_moves() { awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
	$at["shift"] != "" { print $1 "," $at["socket"] "," $at["p"] "," $at["p_target"] "," $at["shift"] "," $at["move_to"] }'; }
tiers -q "$dir/at" sh -c '"$0" tierlat -q "$@" -d 50ms --decisions "$2/new"' "$latscope"
is '--decisions in the measured tree: exit status' "$status" 1
like 'a file in a file system of registers cannot be made' "$err" 'cannot write decisions to .*; choose another file'
# in_tiers OPTION...: tierlat on the tiers, with these options after those of the tiers
in_tiers() { tiers -q "$dir/at" sh -c '"$0" tierlat -q "$@"'"$(printf ' %q' "$@")" "$latscope"; }
in_tiers --csv -i 20ms -d 200ms --decisions "$dir/moves"
is '--decisions FILE' "$status" 0
is 'has a heading, and the decisions of the rows' "$(<"$dir/moves")" \
	"time_ns,socket,p,p_target,shift,move_to"$'\n'"$(printed_moves <<<"$out")"
ok 'which are several' test "$(wc -l <"$dir/moves")" -ge 3

# decide FILE: tierlat --decisions FILE
decide() {
	in_tiers -d 50ms --decisions "$1"
	tap_same "$status" 1 && tap_match "$err" "cannot write decisions to .*: $2; choose another file" &&
		tap_same "$(wc -l <<<"$err")" 1
}
ln -s "$dir/moves" "$dir/link"
mkfifo "$dir/pipe"
ln "$dir/moves" "$dir/second"
ok 'decisions do not follow a link' decide "$dir/link" 'it is a symbolic link.*'
ok 'nor go to a pipe' decide "$dir/pipe" 'not a regular file'
ok 'nor to a directory' decide "$dir" 'Is a directory'
ok 'nor to a file of two names' decide "$dir/second" 'other users own it.*'
rm "$dir/second"
if [ "$(id -u)" = 0 ]; then
	chown 65533 "$dir/moves"
	ok "nor to another user's file" decide "$dir/moves" 'other users own it.*'
fi

# in_background [OPTION...]: starts the emulator as $pid, and waits until it has printed what to type in another terminal
in_background() {
	rm -f "$dir/how" # of the one before
	tests/emu/tiers "$@" "$dir/at" >"$dir/how" 2>"$dir/stderr" &
	pid=$!
	wait_for grep -q tierlat "$dir/how"
}

in_background --share .5
read -ra how <"$dir/how"
is 'it prints a command' "${how[*]:0:2}" 'latscope tierlat'
is 'its files are those of its user' "$(stat -c %u "$dir/at/move")" "$(id -u)"
before=$(jq .p "$dir/at/state")
printf 'socket,shift\n0,0.25\n' >"$dir/at/move"
ok 'a shell moves requests, too' awk "BEGIN { exit !($(jq .p "$dir/at/state") - $before > 0.249) }"
kill "$pid"
wait "$pid"
is 'a signal ends it: exit status' $? 0
ok 'a signal ends it: nothing is left' nothing_left

in_background
kill -KILL "$pid"
wait "$pid" 2>/dev/null
ok 'kill -9: its server unmounts' eventually nothing_left

in_background
kill -KILL "$(pgrep -P "$pid")"
wait "$pid"
is 'its server is killed: exit status' $? 1
like 'its server is killed: that is said' "$(<"$dir/stderr")" 'tiers: the emulator was killed$'
ok 'its server is killed: nothing is left' nothing_left

tiers -q "$dir/at" sh -c 'exit 3'
is 'the exit status is that of the command' "$status" 3
tiers -q "$dir/at" nothing-like-this
is 'a command that does not exist' "$status" 127

# Root writes only to registers that root put there.
if [ "$(id -u)" = 0 ]; then
	mkdir -p "$dir/theirs/tree/0" "$dir/open/tree/0" "$dir/sticky/0" "$dir/ours/0"
	chown -R 65533 "$dir/theirs"
	chmod 777 "$dir/open"
	chmod 1777 "$dir/sticky"
	for tree in theirs/tree open/tree sticky; do
		ln -s "$dir/victim" "$dir/$tree/0/msr"
		echo untouched >"$dir/victim"
		refuses "registers in $tree are not for root" 1 'others than root can change .*/(theirs|open|sticky), so root writes no' \
			tierlat --model icx --boxes 2 --msr-root "$dir/$tree" -d 10ms
		is 'nothing is written' "$(<"$dir/victim")" untouched
	done
	ln -s "$dir/theirs/tree" "$dir/ours/tree"
	refuses 'not by a link of root, either' 1 'others than root can change' \
		tierlat --model icx --boxes 2 --msr-root "$dir/ours/tree" -d 10ms
	refuses 'registers of root are for root' 77 'there is no .*/0/msr' \
		tierlat --model icx --boxes 2 --msr-root "$dir/ours" -d 10ms
	# A FUSE file system says what it likes of its owners, and its user says what it is called.
	if [ "$(uname -m)" = x86_64 ]; then
		mkdir "$dir/fuse"
		as=(unshare -m sh -c '
			exec 3<>/dev/fuse
			mount -i -t fuse -o "fd=3,rootmode=40000,user_id=65533,group_id=65533,allow_other" "$1" "$0" || exit
			.output/tests/emu/msrfs/msrfs /dev/fd/3 &
			exec 3>&-
			shift
			exec "$@"' "$dir/fuse")
		for source in theirs 'theirs,user_id=0,x'; do
			as[6]=$source
			refuses "registers of a FUSE file system of another user: $source" 1 'others than root can change .*/fuse, so root writes no' \
				tierlat --model icx --boxes 2 --msr-root "$dir/fuse/cpu" -d 10ms
		done
		as=()
	fi
fi
done_testing
