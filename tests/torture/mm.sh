# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# shellcheck disable=SC2154 # seed, ms, w and so on are tests/torture/run's
# memlat, by process, compared with the kernel's count of faults and with known delays.

# faults_agree METHOD: each process has as many samples as faults, and waited at least as long as userfaultfd delayed it.
# Faults that the recorder reports as missing may be missing. perf-event sees neither get_user_pages() nor failed faults.
faults_agree() {
	local slack=0 missing

	missing=$(said_missing "$1")
	[ "$1" != perf-event ] || slack=2 # of the workload's own count of GUP: two numbers that are not read at once
	awk -v method="$1" -v slack="$slack" -v missing="$missing" '
		FILENAME == ARGV[1] { events[$1] = $2; sum[$1] = $3; next }
		$1 == "major" { next }
		{
			wanted = method == "perf-event" ? $2 - $3 : $2 + $4
			if (method == "perf-event" && $6)
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

# make_swap: makes the kernel swap on a disk of its own, $swap
make_swap() {
	local way=$((RANDOM % 3))

	case $way in
	0) modprobe zram num_devices=1 && echo 128M >/sys/block/zram0/disksize && swap=/dev/zram0 ;;
	1) modprobe brd rd_nr=1 rd_size=131072 && swap=/dev/ram0 ;;
	2)
		modprobe sd_mod && modprobe scsi_debug dev_size_mb=128 ndelay=$((RANDOM * 20)) &&
			eventually scsi_disk >/dev/null && swap=$(scsi_disk)
		;;
	esac && mkswap "$swap" >/dev/null && swapon "$swap"
}

# press CGROUP: takes memory from it until killed. Swapped pages also stay in memory until memory is short.
press() {
	while sleep 0.1; do
		echo 8M 2>/dev/null >"$1/memory.reclaim"
	done
}

# swap_anew SECONDS: during the work, switches swap off, which reads all of it back, and on again
swap_anew() {
	sleep "$1"
	swapoff "$swap"
	sleep 0.2
	swapon "$swap"
}

unmake_swap() {
	swapoff "$swap" && case $swap in
	*zram*) rmmod zram ;;
	*ram*) rmmod brd ;;
	*) rmmod scsi_debug ;;
	esac
}

# major_agree: there are as many major faults as the kernel counts for the processes of the cgroup, and some from swap
major_agree() {
	local ours theirs missing

	ours=$(query only "SELECT sum(sums.count) FROM series JOIN sums ON sums.series = series.id
		WHERE series.split = 'type' AND series.name = 'major'")
	theirs=$(sed -n 's/^major //p' "$w/processes")
	missing=$(said_missing only)
	echo "${ours:-0}, the kernel counts $theirs; $missing are said to be missing; $(($(swapped_in) - $1)) pages swapped in"
	[ "$theirs" -gt 0 ] && [ $((theirs - ours)) -le "$missing" ] && [ "$ours" -le "$theirs" ] && [ "$(swapped_in)" -gt "$1" ]
}

swapped_in() { sed -n 's/^pswpin //p' /proc/vmstat; }

torture_mm() {
	local method metric cgroup='' swap='' before='' anew='' press

	methods memlat fentry kprobe perf-event || return
	RANDOM=$((seed & 32767))
	[ -z "${LATSCOPE_VM-}" ] || echo 8 >/proc/sys/vm/nr_hugepages
	[ -z "${LATSCOPE_VM-}" ] || echo +memory 2>/dev/null >/sys/fs/cgroup/cgroup.subtree_control
	if grep -qsw memory /sys/fs/cgroup/cgroup.controllers; then
		cgroup=/sys/fs/cgroup/latscope-torture
		mkdir -p "$cgroup"
		echo 64M 2>/dev/null >"$cgroup/memory.high"
	fi
	begin_recorders memlat --by process --max-keys 16384
	if [ -n "${LATSCOPE_VM-}" ] && [ $((seed % 2)) = 0 ]; then
		make_swap
		is "mm, seed $seed: there is swap" $? 0
		before=$(swapped_in)
		begin_only memlat --cgroup "$cgroup" --by type
		swap_anew $((ms / 2000)).$((RANDOM % 10)) &
		anew=$!
		press "$cgroup" &
		press=$!
		diag "swap on $swap"
	fi
	"$here/mm" "$seed" "$ms" "$w" ${cgroup:+"$cgroup"} >"$w/processes"
	is "mm, seed $seed: the workload ends" $? 0
	[ -z "$anew" ] || {
		kill "$press"
		wait "$press" "$anew"
	}
	end_recorders
	if [ -n "$anew" ]; then
		ok "mm, seed $seed: major faults are those of the kernel" major_agree "$before"
		diag "$(major_agree "$before")"
		ok "mm, seed $seed: swap goes" unmake_swap
	fi
	[ -z "$cgroup" ] || rmdir "$cgroup" 2>/dev/null
	for method in "${methods[@]}"; do
		metric=$(query "$method" 'SELECT name FROM metric WHERE id = 1')
		keys "$method" process "$metric" >"$w/$method.keys"
		ok "mm, seed $seed: $method: each process has as many samples as faults" faults_agree "$method"
		diag "$method: $(query "$method" "SELECT name, sum(count) FROM acct GROUP BY name HAVING sum(count)" | tr "\n" " ")"
		ok "mm, seed $seed: $method: balances" balanced "$method"
	done
}
