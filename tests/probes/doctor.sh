# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# Tests of what `latscope doctor` says about the running kernel. The lines "matrix:" are for tests/matrix.

# too_old: prints why the running kernel loads none of our programs; fails if it should load all
too_old() { [[ $(uname -r) = 5.10.* ]] && echo 'needs Linux 5.13'; }

# preemption: prints the model in use; "-" if it is fixed or unknown
preemption() {
	local model

	if model=$(grep -so '([a-z]*)' /sys/kernel/debug/sched/preempt); then
		echo "${model//[()]/}"
	elif [[ $(uname -v) = *PREEMPT_RT* ]]; then
		echo rt
	else
		echo -
	fi
}

# examined PROBE: prints the result of doctor as lines "METHOD yes|no REASON"
examined() {
	awk -v module="$1" '
		/^[a-z]/ || /^$/ || /^\*/ { if (line) print line; line = ""; here = $1 ~ "^" module "[:,]?$"; next }
		!here { next }
		/^  [* ] [a-z_-]+ +(yes|no)$/ { if (line) print line; sub(/^  [* ] /, ""); line = $1 " " $2; next }
		{ sub(/^ +/, ""); line = line " " $0 }
		END { if (line) print line }' <<<"$doctor"
}

declare -A all_methods=([memlat]='fentry kprobe perf-event' [runqlat]='stamps tp_btf' [iolat]='stamps tp_btf'
	[softirq]='tp_btf' [rmid]='switches')

# methods PROBE [NAME...]: sets $methods to the methods (among NAME...) that load here; fails if none does. A method that does
# not load is a skipped test. In the VM all must load, or, if the kernel is too old, none, with the right reason.
methods() {
	local name answer reason wanted

	# shellcheck disable=SC2154 # the caller sets $latscope
	methods=()
	if [ "${extent-}" = check ]; then # there all must load, and a recorder that does not start is a failure
		read -ra methods <<<"${all_methods[$1]}"
		return
	fi
	# shellcheck disable=SC2154 # the caller sets $latscope
	[ -n "${doctor-}" ] || doctor=$("$latscope" doctor)
	export doctor # the next scripts of a guest need not ask again
	diag "matrix: begin $1 $(uname -r) $(uname -m) $(preemption)"
	while read -r name answer reason; do
		[ $# = 1 ] || [[ " ${*:2} " = *" $name "* ]] || continue
		diag "matrix: $name $answer $reason"
		if wanted=$(too_old); then
			is "$1: $name is refused, and says why" "$answer $reason" "no not in this kernel; $wanted"
		elif [ "$answer" = yes ]; then
			methods+=("$name")
		elif [ -n "${LATSCOPE_VM-}" ]; then
			is "$1: the method $name loads" "$reason" ''
		else
			skip "$1: the method $name" "$reason"
		fi
	done < <(examined "$1")
	[ ${#methods[@]} -gt 0 ]
}

# refused_here PROBE METHOD...: prints for tests/matrix why, by doctor, these do not work here
refused_here() {
	local name answer reason

	diag "matrix: begin $1 $(uname -r) $(uname -m) $(preemption)"
	while read -r name answer reason; do
		[ "$answer" = yes ] || [[ $name != all && " ${*:2} " != *" $name "* ]] || diag "matrix: $name $answer $reason"
	done < <(examined "$1")
}

# dkms_builds NAME: succeeds if DKMS builds this kernel module for the running kernel
dkms_builds() (
	# shellcheck source=/dev/null
	. "kmod/$1/dkms.conf"
	[[ $(uname -m) =~ ^$BUILD_EXCLUSIVE_ARCH$ && $(uname -r) =~ $BUILD_EXCLUSIVE_KERNEL ]]
)
