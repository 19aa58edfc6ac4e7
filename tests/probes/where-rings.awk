# SPDX-License-Identifier: BSD-2-Clause
# Judges chains of waits by what tests/reference/rings.c says of them. First its output, then lines
# "wait<TAB>COMM<TAB>STATE<TAB>NS<TAB>CHAIN". Prints what is wrong, then for each ring how many waits are right. Waits of less than 7
# steps are those at the barriers.

# Milliseconds of a link "NAME (TID): STATE N.NN ms", which must have this beginning; -1: it has not.
function link_ms(text, wanted)
{
	if (index(text, wanted " ") != 1 || text !~ / ms$/)
		return -1
	return substr(text, length(wanted) + 2) + 0
}

# The last one begins to wait a little after the first one has begun to work: it gave the token, and goes on until it sleeps. So the
# wait and its links can be shorter than the steps: half a step, 2 ms, is allowed. In the VM its other CPU can have a turn of 1.4 to 2.6
# ms just then, so there 3 ms are. If one is late, all others wait for it. Three digits are printed, and 32.0 ms is the smallest number.
function as_known(ring, ns, chain,    links, state, most, least, i, ms, wanted)
{
	split("14 12 8 8", wanted, " ") # steps: the wait, then what the others do
	state = ring == "futex" ? "futex" : ring == "epoll" ? "work" : "socket"
	if (split(chain, links, " < ") != 3 || ns > longest[ring])
		return 0
	most = ns - wanted[1] * step[ring]
	least = step[ring] * ("LATSCOPE_VM" in ENVIRON ? 3 : 2) / 4
	for (i = 1; i <= 3; i++) {
		ms = link_ms(links[i], ring (3 - i) " (" tid[ring, 3 - i] "): " (i == 3 ? "timer" : state))
		if (ms * 1.002e6 < wanted[i + 1] * step[ring] - least || ms * 0.998e6 > wanted[i + 1] * step[ring] + least + most)
			return 0
	}
	return most >= -least
}

/^ring=/ {
	for (i = 1; i <= NF; i++) {
		at = index($i, "=")
		value[substr($i, 1, at - 1)] = substr($i, at + 1)
	}
	ring = value["ring"]
	step[ring] = value["step_ns"]
	longest[ring] = value["longest_ns"]
	for (i = 0; i < 4; i++)
		tid[ring, i] = value["tid" i]
}

/^wait\t/ {
	split($0, field, "\t")
	ring = field[2]
	if (sub(/3$/, "", ring) && ring in step && field[4] >= 7 * step[ring]) {
		if (field[3] == (ring == "futex" ? "futex" : "socket") && as_known(ring, field[4], field[5]))
			right[ring]++
		else
			print field[2] ": " field[3] " " field[4] " ns: " field[5]
	}
}

END { printf "pipe=%d futex=%d eventfd=%d epoll=%d\n", right["pipe"], right["futex"], right["eventfd"], right["epoll"] }
