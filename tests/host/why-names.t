#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# why: the names of stacks, by the symbols of this machine's own kernel, programs and users, of a program that sleeps in page
# faults; and the processes that find them.
. "$(dirname "$0")/../cli/cli.sh"
skip_unless_able
skip_unless memlat

uffd=$built/tests/reference/uffd

# names TITLE [OPTION...]: each page takes 5 ms: the program is alive when its first event is read, 50 ms later at most.
names() {
	run why -q --over 4ms --comm "${uffd##*/}" -o "$dir/$1" "${@:2}" -- "$uffd" -w 100 5
	[ "$status" = 0 ] || diag "$err"
	out=$("$latscope" report --json "$(recording "$dir/$1")" | jq -c '.probes[] | select(.module == "memlat").why')
}
names own
like 'the kernel function that sleeps' "$(jq -r '.slowest[].kernel_stack[0].name' <<<"$out" | sort -u)" '^handle_userfault\+0x[0-9a-f]+$'
like 'the function that touches the page' "$(jq -r '.slowest[].user_stack[0].name' <<<"$out" | sort -u)" '^touch\+0x[0-9a-f]+$'
id=$(readelf -n "$uffd" | sed -n 's/.*Build ID: //p')
like 'its file, offset and build ID' "$(jq -r '.slowest[].user_stack[0].place' <<<"$out" | sort -u)" "^uffd\\+0x[0-9a-f]+ \\($id\\)$"
like 'report has the names' "$("$latscope" report "$(recording "$dir/own")")" 'kernel: handle_userfault\+.*user: touch\+'

# touch() has no frame pointer, or it is the last function that has one.
is 'a stack that ends early is marked in the recording' \
	"$(sqlite3 -readonly "$(recording "$dir/own")/run.db" "SELECT count(*) > 0 FROM frame WHERE truncated AND pid = $(jq '.slowest[0].pid' <<<"$out")")" 1
is 'and in JSON' "$(jq -c '[.slowest[].user_stack_truncated] | unique' <<<"$out")" '[true]'

# A program of another user, in a directory that nobody else can enter.
mkdir "$dir/home"
cp "$uffd" "$dir/home/hidden"
chown -R nobody "$dir/home"
chmod 700 "$dir/home" "$dir/home/hidden"
uffd=$dir/home/hidden
names other --user nobody
like 'a program of another user' "$(jq -r '.slowest[].user_stack[0].name' <<<"$out" | sort -u)" '^touch\+'

# The process that keeps files open has few privileges, and ends with latscope.
keeper() { pgrep -x latscope-names -P "$1"; } # its PID
start --why -d 1m
ok 'the process that keeps files open has started' eventually keeper "$pid"
keeper=$(keeper "$pid")
capabilities() { sed -n 's/^CapEff:\s*//p' "/proc/$keeper/status"; }
privileges=$((1 << 2 | 1 << 6 | 1 << 7 | 1 << 19 | 1 << 40)) # DAC_READ_SEARCH, SETGID, SETUID, SYS_PTRACE, CHECKPOINT_RESTORE
is 'it has the privileges that it needs and no other' "$((16#$(capabilities) & ~privileges))" 0
is 'it can gain none' "$(sed -n 's/^NoNewPrivs:\s*//p' "/proc/$keeper/status")" 1
is 'it has no file of its parent but the socket' "$(find "/proc/$keeper/fd" -lname 'anon_inode:*' | wc -l)" 0
end_by KILL 2>/dev/null
ok 'it ends when latscope is killed' eventually gone "$keeper"
done_testing
