#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# suite: alone
# serve with real connections that are many, slow, broken or without the token, and with real cgroups that are odd, short or too
# many. All of it on the loopback device.
. "$(dirname "$0")/../cli/serve.sh"
skip_unless_able

# ---- the token ----

token=0123456789abcdef0123
(umask 077 && echo " $token" >"$dir/two")
printf '%s\n' "$token" >"$dir/token"
chmod 600 "$dir/token"
refuses 'a token with a blank before it' 1 'cannot use the token' serve -q --token-file "$dir/two"
serve_start --listen 0.0.0.0:0 --token-file "$dir/token"
address=127.0.0.1:${address##*:}
is 'without the token' "$(get_status /metrics)" 401
is 'with another token' "$(get_status /metrics -H 'Authorization: Bearer 0123456789abcdef0124')" 401
is 'with a part of it' "$(get_status /metrics -H 'Authorization: Bearer 0123456789abcdef')" 401
is 'with the token' "$(get_status /metrics -H "Authorization: Bearer $token")" 200
is '/healthz needs none' "$(get_status /healthz)" 200
serve_stop

# ---- many, slow and broken clients ----

serve_start --no-ring
many=$(curl -s -Z --parallel-max 100 --max-time 120 -o /dev/null -w '%{http_code}\n' "http://$address/metrics?[1-10000]" 2>/dev/null |
	sort | uniq -c | tr -s ' ')
is '10,000 scrapes are answered' "$many" ' 10000 200'

# open NUMBER TEXT: makes so many connections and sends the text on each; they are in ${open[@]}
open=()
open() {
	local i fd

	for ((i = 0; i < $1; i++)); do
		exec {fd}<>"/dev/tcp/127.0.0.1/${address##*:}" || return
		open+=("$fd")
		printf '%b' "$2" >&"$fd"
	done 2>/dev/null
}
shut() {
	local fd

	for fd in "${open[@]}"; do
		exec {fd}>&-
	done
	open=()
}
open 8 'GET /metrics HTTP/1.1\r\nHost: '
shut
is 'half a request, and gone' "$(get_status /healthz)" 200
open 4 'GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n'
shut
is 'gone before the answer' "$(get_status /healthz)" 200
open 4 '\x16\x03\x01\x02\x00\x01\x00\x00\x00\xff\xff\r\n\r\n'
is 'no HTTP at all' "$(get_status /healthz)" 200
shut
long=$(head -c 100000 /dev/zero | tr '\0' a)
is 'a long path' "$(get_status "/$long" | grep -cE '^(4..|000)$')" 1
is 'a long header' "$(printf 'A: %s' "$long" | curl -s -o /dev/null -w '%{http_code}' -H @- "http://$address/" |
	grep -cE '^(4..|000)$')" 1

# More slow connections than it serves, which send a byte each second and never end.
open 40 'GET /metrics HTTP/1.1\r\n'
drip() {
	local fd

	while sleep 1; do
		for fd in "${open[@]}"; do
			printf a >&"$fd"
		done
	done
} 2>/dev/null
drip &
servers+=($!)
is 'slow clients delay others only for a while' "$(curl -s --max-time 60 -o /dev/null -w '%{http_code}' "http://$address/metrics")" 200
kill "${servers[-1]}"
shut

# ---- odd names ----

if cgroup_new; then
	for odd in $'a\tb' 'a"b\c' $'a\xff\xc3(b' $'\e[31mred' "$(head -c 200 /dev/zero | tr '\0' x)"; do
		mkdir "$cgroup/$odd"
		(echo "$BASHPID" >"$cgroup/$odd/cgroup.procs" && exec "$latscope" load -q pingpong -d 300ms)
	done
	exported() { [ "$(get /metrics | grep -c "^latscope_cgroup_info.*path=\"/${cgroup##*/}/")" = 5 ]; }
	ok 'cgroups with odd names are exported' wait_for exported
	get /metrics >"$dir/metrics"
	ok 'promtool finds nothing' quiet promtool check metrics <"$dir/metrics"
	is 'no control character' "$(LC_ALL=C grep -c $'[\x01-\x08\x0b-\x1f]' "$dir/metrics")" 0
	ok 'all of it is UTF-8' iconv -f UTF-8 -t UTF-8 -o /dev/null "$dir/metrics"
	find "$cgroup" -depth -type d -exec rmdir {} +
else
	skip 'odd names' 'no cgroup can be made here'
fi

# ---- cgroups that are soon gone ----

# The keys are read once a second, new ones get their names ten times a second.
if cgroup_new; then
	for i in 1 2 3 4 5 6 7 8; do
		mkdir "$cgroup/$i"
		(echo "$BASHPID" >"$cgroup/$i/cgroup.procs" && exec "$latscope" load -q pingpong -d 300ms)
		rmdir "$cgroup/$i"
	done
	short() { get /metrics | grep -c "^latscope_cgroup_info.*path=\"/${cgroup##*/}/[1-8]\"}"; }
	named() { [ "$(short)" -ge 6 ]; }
	ok 'cgroups of 0.3 s have their names and paths' wait_for named
	rmdir "$cgroup"
else
	skip 'cgroups that are soon gone' 'no cgroup can be made here'
fi

# ---- more cgroups than rows ----

if cgroup_new; then
	serve_stop
	serve_start --max-keys 32
	# load_in NAME...: a short load in each of these new cgroups at once, which are removed after the next reading
	load_in() {
		local i loads=()

		for i in "$@"; do
			mkdir "$cgroup/$i"
			(echo "$BASHPID" >"$cgroup/$i/cgroup.procs" && exec "$latscope" load -q pingpong -d 100ms) &
			loads+=($!)
		done
		wait "${loads[@]}"
		seconds_over 2 # keys are read once a second
		for i in "$@"; do
			rmdir "$cgroup/$i"
		done
	}
	early() { get /metrics | sed -n "s|^latscope_cgroup_runqlat_run_queue_seconds_count{cgroup=\"/${cgroup##*/}/early\"} ||p"; }
	load_early() { (echo "$BASHPID" >"$cgroup/early/cgroup.procs" && exec taskset -c 0 "$latscope" load -q pingpong -d 1s); }
	mkdir "$cgroup/early"
	"$latscope" load -q pingpong -d 1s # has rows of its own then
	load_early
	has_early() { [ "$(early)" -gt 0 ]; }
	wait_for has_early && seconds_over 2
	first_early=$(early)
	for first in 1 6 11 16; do
		load_in $((first)) $((first + 1)) $((first + 2)) $((first + 3)) $((first + 4))
	done
	seconds_over 10 # a row that is to be used again
	load_in 21 22 23 24 25 26
	late() { get /metrics | grep -cE "^latscope_cgroup_runqlat_run_queue_seconds_count.cgroup=\"/${cgroup##*/}/2[1-6]\"} [1-9]"; }
	all_late() { [ "$(late)" = 6 ]; }
	ok 'rows are used again: late cgroups are counted' wait_for all_late
	# It had a row before, and has another one now.
	load_early
	more() { [ "$(early)" -gt $((first_early + 100)) ]; }
	ok 'rows are used again: an early cgroup is still counted' wait_for more
	snapshot_new --last 1m
	ok 'the flight recorder has early and late ones' tap_match \
		"$(json runqlat '[.keys[]?.name] | sort | join(" ")')" "/${cgroup##*/}/2 .*/${cgroup##*/}/26"
	is 'and its accounting balances' "$(json runqlat .accounting.balanced)" true
	serve_ends 'it ends in order'
	serve_start --no-ring
else
	skip 'more cgroups than rows' 'no cgroup can be made here'
fi

memory=$(get /metrics | sed -n 's/^process_resident_memory_bytes //p')
within 'resident memory' 1000000 "$memory" 40000000
serve_ends_silently 'it ends'
done_testing
