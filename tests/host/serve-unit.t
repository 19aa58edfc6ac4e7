#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The unit and the socket, by this machine's systemd: how exposed it is, that its capabilities are enough and needed, that they are
# dropped, and that a passed socket is used. tests/kernels/serve-* start the unit.
# shellcheck disable=SC2119 # options of serve are optional
. "$(dirname "$0")/../cli/serve.sh"
. tests/cli/unit.sh
skip_unless_able

unit=packaging/systemd/latscope-exporter.service
install -m755 "$latscope" "$dir/latscope"
latscope=$dir/latscope
unit_is_confined
unit_is_accepted socket

# with CAPABILITY...: how the service is started, by a user that no account has
user=65533
mkdir -m 700 "$dir/ring"
chown $user:$user "$dir/ring"
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
makes_page() { tap_same "$(get_status /report)" 200; }
ok 'it makes a page of it' eventually makes_page
serve_ends 'it ends'

# ---- the unit's filter of system calls ----

plain=("${as[@]}")
as=("${unit_strace[@]}" "${as[@]}")
serve_start -d 6s --trigger 'runqlat.rate>0'
get /metrics >/dev/null
traced_page() { get /report >/dev/null; }
wait_for traced_page
wait "$server"
as=("${plain[@]}")
allowed
unit_allows_all
ok 'it was traced' grep -qx seccomp "$dir/used"

# ---- a socket from systemd ----

as=()
port=$(free_port)
systemd-socket-activate -l "127.0.0.1:$port" "$latscope" serve --no-ring >"$dir/socket.out" 2>&1 &
server=$!
servers+=("$server")
address=127.0.0.1:$port
ok 'a passed socket is used' wait_for get /healthz
ok 'it says so' grep -q "listening on http://127.0.0.1:$port/" "$dir/socket.out"
serve_ends 'with a passed socket: it ends'
done_testing
