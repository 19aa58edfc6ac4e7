# SPDX-License-Identifier: BSD-2-Clause
# Compares what tests/reference/sampler.c has seen of each thread with its parts by where: first lines "TID PART NS" and
# "TID life NS", then those of the sampler. Prints what differs by more than chance allows (5 standard deviations, and 5 looks),
# then "threads=" with the number of those compared. The calls are those of x86-64.

function part_seen(state, call)
{
	if (state == "R") return "cpu"
	if (state ~ /[tT]/) return "stopped"
	if (state == "D" && call == 0) return "lock" # of a pipe
	if (call == 202) return "futex"
	if (call == 230 || call == 35) return "timer"
	if (call == 7 || call == 232 || call == 271 || call == 128) return "work"
	if (call == 58 || call == 61) return "child"
	if (state != "D" && (call == 0 || call == 1 || call == 45)) return "socket"
	if (state ~ /[Dr]/) return "disk"
	return "other"
}

function value(text) { return substr(text, index(text, "=") + 1) }

/^[0-9]/ { ns[$1, $2 == "ready" ? "cpu" : $2] += $3; next }

/^seen=/ {
	tid = value($1)
	comm[tid] = value($2)
	seen[tid, part_seen(value($3), value($4))] += value($6)
	looks[tid] += value($6)
}

END {
	split("cpu disk memory fault lock futex socket work timer child stopped other unknown", parts, " ")
	for (tid in looks) {
		n = looks[tid]
		if (n < 900 || !ns[tid, "life"])
			continue # it did not live all the time
		threads++
		for (i in parts) {
			p = ns[tid, parts[i]] / ns[tid, "life"]
			off = seen[tid, parts[i]] - n * p
			most = 5 * sqrt(n * p * (1 - p)) + 5
			if (off > most || -off > most)
				printf "%s (%d): %s %.1f %%, seen %d of %d times\n", comm[tid], tid, parts[i], 100 * p,
					seen[tid, parts[i]], n
		}
	}
	print "threads=" threads
}
