# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# shellcheck disable=SC2034 # $disturbance is for tests/tap.sh
# A measurement of this machine, and the evidence that something disturbed it. Source it after tests/tap.sh.
#
#	measure record_and_compare            # once; what it prints is shown if it fails
#	ok 'each wait is recorded' compare    # fails; or is "disturbed", if there is evidence
#	measured 'the hog is blamed' blame    # the same in one test
#
# The tests that follow judge the last measurement, until the next one or until `calm`; but what follows `measured` judges
# nothing. A test that fails is disturbed, and says by what, if in the meantime
#	- the hypervisor took 1 % or more of the CPUs' time (steal), or
#	- processes that the suite did not start had 5 % or more of it (others), or
#	- the kernel ran no BPF program for a switch (hidden).
# In the VM nothing disturbs: its time stops while the host does something else.
evidence=${evidence-}

# measure CMD...: runs CMD. Sets $disturbance, which is empty if there is no evidence.
measure() {
	local said

	said=$(mktemp)
	begin_evidence
	"$@" >"$said" 2>&1 || diag "$*: $(<"$said")"
	end_evidence
	rm -f "$said"
}

# begin_evidence, end_evidence: the same for what is done in between
begin_evidence() {
	[ -z "${LATSCOPE_VM-}" ] || return 0
	[ -n "$evidence" ] || start_evidence
	evidence_before=$(read_evidence)
}
end_evidence() {
	[ -n "${LATSCOPE_VM-}" ] || disturbance=$(weigh_evidence "$evidence_before" "$(read_evidence)")
}

# measured DESC CMD...: a test of CMD, which measures
measured() {
	local said status=0

	begin_evidence
	said=$("${@:2}" 2>&1) || status=$?
	end_evidence
	ok "$1" passed_or_says "$status" "$said"
	calm
}
passed_or_says() { [ "$1" = 0 ] || { echo "$2" && false; }; }

# calm: the tests from here on depend on no measurement
calm() { disturbance=''; }

start_evidence() {
	# bash warns of a second coprocess
	{ coproc EVIDENCE { exec "${LATSCOPE_BUILT:-$PWD/.output}/tests/reference/disturbance" $$ 2>/dev/null; }; } 2>/dev/null
	evidence=$EVIDENCE_PID
	disown "$evidence" # for a script that waits for all its jobs, or kills them
	exec {evidence_in}>&"${EVIDENCE[1]}" {evidence_out}<&"${EVIDENCE[0]}"
	on_exit kill "$evidence"
}

# read_evidence: prints the counters of tests/reference/disturbance.c
read_evidence() {
	local line

	echo >&"$evidence_in" && read -r -u "$evidence_out" line && echo "$line"
}

# weigh_evidence BEFORE AFTER: prints what disturbed in between
weigh_evidence() {
	[ -n "$1" ] && [ -n "$2" ] || return 0
	awk -v before="$1" -v after="$2" 'BEGIN {
		split(before, b)
		split(after, a)
		elapsed = a[1] - b[1]; steal = a[2] - b[2]; others = a[3] - b[3]
		hidden = (a[5] ? a[4] - b[4] - (a[6] - b[5]) : 0)
		if (steal >= elapsed / 100)
			said = said sprintf(", steal %.1f %%", 100 * steal / elapsed)
		if (others >= elapsed / 20)
			said = said sprintf(", other processes %.1f %% of the CPUs", 100 * others / elapsed)
		if (hidden > 0)
			said = said sprintf(", %d of %d switches hidden from BPF", hidden, a[4] - b[4])
		print substr(said, 3)
	}'
}
