# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # own_clock, seed, ms, w and so on are tests/torture/run's
# runqlat, by thread, compared with the capture.

# hotplug SECONDS: takes the last CPU offline and online again
hotplug() {
	local cpu until=$((SECONDS + $1))

	cpu=$(compgen -G '/sys/devices/system/cpu/cpu[0-9]*/online' | tail -1)
	while [ $SECONDS -lt $until ]; do
		echo 0 >"$cpu"
		sleep 0.2
		echo 1 >"$cpu"
		sleep 0.3
	done
}

torture_sched() {
	local method cgroup='' plug='' excess='' own_clock

	methods runqlat || return
	[ ! -w /sys/fs/cgroup/cgroup.subtree_control ] || cgroup=/sys/fs/cgroup/latscope-torture
	[ -z "$cgroup" ] || mkdir -p "$cgroup"
	[ -z "${LATSCOPE_VM-}" ] || echo +cpu 2>/dev/null >/sys/fs/cgroup/cgroup.subtree_control
	begin_capture sched
	begin_recorders runqlat --by thread --max-keys 16384
	end_beginning
	if [ -n "${LATSCOPE_VM-}" ] && [ $((seed % 2)) = 1 ]; then
		hotplug $((ms / 1000 + 1)) &
		plug=$!
	fi
	"$here/sched" "$seed" "$ms" ${cgroup:+"$cgroup"} >"$w/tids"
	is "sched, seed $seed: the workload ends" $? 0
	[ -z "$plug" ] || wait "$plug"
	end_recorders
	end_capture
	[ -z "$cgroup" ] || rmdir "$cgroup"/* "$cgroup" 2>/dev/null
	is "sched, seed $seed: the capture lost nothing" "$(grep lost "$w/capture")" 'lost 0'
	for method in "${methods[@]}"; do
		own_clock=yes
		[ "$method" != stamps ] || own_clock=''
		keys "$method" thread run_queue >"$w/$method.keys"
		# This kernel has hidden switches from BPF. The scheduler's stamps include these waits, the capture does not.
		excess=$(query "$method" "SELECT sum(count) FROM acct WHERE metric = 1 AND name = 'joined' HAVING sum(count) > 0")
		[ -z "$excess" ] || diag "$method: $excess ends of waits were hidden from BPF"
		ok "sched, seed $seed: $method: each thread waited as long as captured" \
			agree 20 5000 500000 "$w/$method.keys" "$w/capture" "$w/tids"
		ok "sched, seed $seed: $method: as often as captured" \
			same_count "$w/$method.keys" "$w/capture" "$w/tids" $((3 + $(said_missing "$method") + ${excess:-0}))
		ok "sched, seed $seed: $method: balances" balanced "$method"
	done
}
