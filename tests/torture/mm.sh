# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# shellcheck disable=SC2154 # seed, ms, w and so on are tests/torture/run's
# memlat, by process, against the kernel's count of faults and against delays that are known.

# faults_agree RUNG: each process has as many samples as faults, and waited as long as userfaultfd made it, at least.
# What a recorder says it has lost may be missing. perf-event sees neither what get_user_pages() does nor what fails.
faults_agree() {
	local slack=0 missing

	missing=$(said_missing "$1")
	[ "$1" != perf-event ] || slack=2 # of the workload's own count of GUP: two numbers that are not read at once
	awk -v rung="$1" -v slack="$slack" -v missing="$missing" '
		FILENAME == ARGV[1] { events[$1] = $2; sum[$1] = $3; next }
		{
			wanted = rung == "perf-event" ? $2 - $3 : $2 + $4
			if (rung == "perf-event" && $6)
				next
			processes++
			all += wanted
			off = events[$1] - wanted
			if (off < 0 && lacking - off <= missing) {
				lacking -= off
			} else if (off > slack || off < -slack) {
				wrong++
				if (wrong < 5)
					printf "%d: %d, not %d (%d counted, %d by get_user_pages, %d failed, exec %d)\n",
						$1, events[$1], wanted, $2, $3, $4, $6
			}
			if (sum[$1] < $5 && off >= 0) {
				wrong++
				printf "%d: %d ns, less than %d ns of userfaultfd\n", $1, sum[$1], $5
			}
		}
		END {
			printf "%d processes, %d faults, %d differ\n", processes, all, wrong
			exit !(processes > 0 && !wrong)
		}' "$w/$1.keys" "$w/processes"
}

torture_mm() {
	local rung metric cgroup=''

	rungs memlat fentry kprobe perf-event || return
	[ -z "${LATSCOPE_VM-}" ] || echo 8 >/proc/sys/vm/nr_hugepages
	[ -z "${LATSCOPE_VM-}" ] || echo +memory 2>/dev/null >/sys/fs/cgroup/cgroup.subtree_control
	if grep -qsw memory /sys/fs/cgroup/cgroup.controllers; then
		cgroup=/sys/fs/cgroup/latscope-torture
		mkdir -p "$cgroup"
		echo 64M 2>/dev/null >"$cgroup/memory.high"
	fi
	begin_recorders memlat --by process --max-keys 16384
	"$here/mm" "$seed" "$ms" "$w" ${cgroup:+"$cgroup"} >"$w/processes"
	is "mm, seed $seed: the workload ends" $? 0
	end_recorders
	[ -z "$cgroup" ] || rmdir "$cgroup" 2>/dev/null
	for rung in "${rungs[@]}"; do
		metric=$(query "$rung" 'SELECT name FROM metric WHERE id = 1')
		keys "$rung" process "$metric" >"$w/$rung.keys"
		ok "mm, seed $seed: $rung: each process has as many samples as faults" faults_agree "$rung"
		diag "$rung: $(query "$rung" "SELECT name, sum(count) FROM acct GROUP BY name HAVING sum(count)" | tr "\n" " ")"
		ok "mm, seed $seed: $rung: balances" balanced "$rung"
	done
}
