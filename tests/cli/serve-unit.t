#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# suite: native
# The unit and the socket of systemd: how exposed it is, that its capabilities are enough and needed, that they are dropped, and
# that a passed socket is used.
# shellcheck disable=SC2119 # options of serve are optional
set -u
cd "$(dirname "$0")/../.." || exit
. tests/cli/cli.sh
. tests/cli/serve.sh
skip_unless_able

unit=packaging/systemd/latscope-exporter.service
exposure=$(systemd-analyze security --offline=true "$unit" 2>/dev/null | sed -n 's/.*exposure level for [^ ]*: \([0-9.]*\) .*/\1/p')
less() { awk -v got="$1" -v most="$2" 'BEGIN { print got; exit !(got != "" && got < most) }'; }
ok 'the exposure is less than 2.0' less "$exposure" 2
sed "s|/usr/bin/latscope|$latscope|; /^Documentation/d" "$unit" >"$dir/latscope-exporter.service"
sed '/^Documentation/d' packaging/systemd/latscope-exporter.socket >"$dir/latscope-exporter.socket"
ok 'systemd accepts both' quiet systemd-analyze verify "$dir/latscope-exporter.service" "$dir/latscope-exporter.socket"

# with CAPABILITY...: how the service is started, by a user that no account has
user=65533
mkdir -m 700 "$dir/ring"
chown $user:$user "$dir/ring"
install -m755 "$latscope" "$dir/latscope"
latscope=$dir/latscope
with() {
	local list

	list=$(printf ',+%s' "$@")
	as=(setpriv "--reuid=$user" "--regid=$user" --clear-groups "--inh-caps=-all$list" "--bounding-set=-all$list"
		"--ambient-caps=-all$list")
}
capabilities=$(sed -n 's/^AmbientCapabilities=//p' "$unit")
is 'the unit has these capabilities' "$capabilities" 'CAP_BPF CAP_PERFMON'
for only in bpf perfmon; do
	with $only
	run serve -q --listen 127.0.0.1:0 --ring-dir "$dir/ring"
	ok "with only $only it cannot measure" test "$status" != 0
done
with bpf perfmon
serve_start
get /metrics >"$dir/metrics"
for probe in memlat runqlat iolat; do
	ok "$probe measures" has "latscope_probe_up{probe=\"$probe\"} 1"
done
is 'it has no capability any more' "$(grep -cE '^Cap(Inh|Prm|Eff|Amb):.0{16}$' "/proc/$server/status")" 4
ok 'it can get none' grep -q '^NoNewPrivs:.1$' "/proc/$server/status"
ok 'its system calls are filtered' grep -q '^Seccomp:.2$' "/proc/$server/status"
written() { compgen -G "$dir/ring/*-ring/fine-*/run.db" >/dev/null; }
ok 'it keeps a flight recorder' wait_for written
sleep 2
is 'it makes a page of it' "$(get_status /report)" 200
serve_stop
is 'it ends' "$status" 0

# ---- the unit's filter of system calls ----

# expand NAME: the system calls of a set of systemd
expand() {
	systemd-analyze syscall-filter "@$1" | sed 1d | grep -v '^ *#' | while read -r name; do
		case $name in
		@*) expand "${name#@}" ;;
		?*) printf '%s\n' "$name" ;;
		esac
	done
}
# allowed: those that the unit allows, sorted
allowed() {
	local line name list=/dev/null

	while read -r line; do
		for name in ${line#\~}; do
			if [[ $name = @* ]]; then
				expand "${name#@}"
			else
				echo "$name"
			fi
		done | sort -u >"$dir/part"
		if [[ $line = \~* ]]; then
			comm -23 "$list" "$dir/part" >"$dir/next"
		else
			sort -u "$list" "$dir/part" >"$dir/next"
		fi
		mv "$dir/next" "$dir/allowed"
		list=$dir/allowed
	done < <(sed -n 's/^SystemCallFilter=//p' "$unit")
}
plain=("${as[@]}")
as=(strace -f -qq -o "$dir/calls" "${as[@]}")
serve_start -d 6s --trigger 'runqlat.rate>0'
get /metrics >/dev/null
sleep 2
get /report >/dev/null
wait "$server"
as=("${plain[@]}")
allowed
# What the kernel refuses without privileges need not be allowed.
sed -n '/execve("[^"]*latscope"/,$p' "$dir/calls" | grep -v ' = -1 EPERM' | sed -E 's/^[0-9]+ +//; s/\(.*//' | grep -xE '[a-z_0-9]+' | sort -u >"$dir/used"
ok 'it was traced' grep -qx seccomp "$dir/used"
is 'the unit allows every call that it makes' "$(comm -23 "$dir/used" "$dir/allowed")" ''

# ---- a socket from systemd ----

as=()
port=$(free_port)
systemd-socket-activate -l "127.0.0.1:$port" "$latscope" serve --no-ring >"$dir/socket.out" 2>&1 &
server=$!
servers+=("$server")
address=127.0.0.1:$port
ok 'a passed socket is used' wait_for get /healthz
ok 'it says so' grep -q "listening on http://127.0.0.1:$port/" "$dir/socket.out"
serve_stop
is 'with a passed socket: it ends' "$status" 0
done_testing
