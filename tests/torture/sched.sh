# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# shellcheck disable=SC2154 # seed, ms, w and so on are tests/torture/run's
# runqlat, by thread, against the capture.

torture_sched() {
	local rung cgroup=''

	rungs runqlat stamps tp_btf raw_tp || return
	[ ! -w /sys/fs/cgroup/cgroup.subtree_control ] || cgroup=/sys/fs/cgroup/latscope-torture
	[ -z "$cgroup" ] || mkdir -p "$cgroup"
	begin_capture sched
	begin_recorders runqlat --by thread --max-keys 16384
	"$here/sched" "$seed" "$ms" ${cgroup:+"$cgroup"} >"$w/tids"
	is "sched, seed $seed: the workload ends" $? 0
	end_recorders
	end_capture
	[ -z "$cgroup" ] || rmdir "$cgroup"/* "$cgroup" 2>/dev/null
	is "sched, seed $seed: the capture lost nothing" "$(grep lost "$w/capture")" 'lost 0'
	for rung in "${rungs[@]}"; do
		keys "$rung" thread run_queue >"$w/$rung.keys"
		ok "sched, seed $seed: $rung: each thread waited as long as captured" \
			agree 20 5000 "$w/$rung.keys" "$w/capture" "$w/tids"
		ok "sched, seed $seed: $rung: as often as captured" \
			same_count "$w/$rung.keys" "$w/capture" "$w/tids" 3
		ok "sched, seed $seed: $rung: balances" balanced "$rung"
	done
}
