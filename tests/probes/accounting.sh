# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # shared with window.sh
# The accounting of a recording: seen = recorded + all that was left out, and the same numbers in run.db, in CSV, in
# the summary and in the report.
#
#	balance DESC NAME    a test that this holds for recorder NAME

# csv_sum FILE: prints the sum of its counts
csv_sum() { awk -F, 'NR > 1 { sum += $4 } END { printf "%d\n", sum }' "$1"; }

# same_everywhere NAME METRIC FILE SEEN RECORDED LOG2: run.db and CSV have the numbers of the summary
same_everywhere() {
	local got wanted

	got="seen $(fact "$1" "$2.seen"), slots $(at_least "$1" "$2" -1), sums $(fact "$1" "$2.events"), "
	got+="CSV $(csv_sum "$recording/$3.csv"), log2 $6"
	wanted="seen $4, slots $5, sums $5, CSV $5, log2 $5"
	[ "$got" = "$wanted" ] || { echo "$2: $got; wanted: $wanted" && false; }
}

# accounting_agrees NAME: the accounting adds up, and run.db, CSV, summary and report have the same numbers
accounting_agrees() {
	local recording line metrics=0

	recording=$(compgen -G "$w/$1/*") || { echo 'no recording' && return 1; }
	while IFS= read -r line; do
		[[ $line = '= '* ]] || { echo "$line" && return 1; }
		# shellcheck disable=SC2086 # words
		same_everywhere "$1" ${line#= } || return
		metrics=$((metrics + 1))
	done < <("$latscope" report --json "$recording" | jq -rsf tests/probes/accounting.jq --argjson strict "$strict" "$recording"/*.summary.json - 2>&1)
	[ $metrics -gt 0 ] || { echo 'no metric' && false; }
}

# balance DESC NAME: in the VM, where each process takes a tenth of a second, the recording is only noted. The guest hands
# over all of them at the end, and the host runs the tests: see in-vm.
balance() {
	if [ -z "${LATSCOPE_VM-}" ]; then
		ok "$1: the accounting balances" accounting_agrees "$2"
		return
	fi
	handed_over+=("${w#"$scratch"/}/$2")
	handed_over_desc+=("$1")
}

# hand_over_recordings: copies the noted recordings to the host, with one process
hand_over_recordings() {
	local i

	[ ${#handed_over[@]} -gt 0 ] || return 0
	(cd "$scratch" && cp -r --parents "${handed_over[@]}" "$LATSCOPE_VM_IO") || return
	for i in "${!handed_over[@]}"; do
		printf '%s\t%s\n' "${handed_over[i]}" "${handed_over_desc[i]}"
	done >"$LATSCOPE_VM_IO/balance"
}

# check_handed_over DIR: runs the tests of all recordings that a guest has handed over
check_handed_over() {
	local path desc strict=true

	w=$1
	[ -e "$w/balance" ] || return 0
	while IFS=$'\t' read -r path desc; do
		read_facts "$path"
		ok "$desc: the accounting balances" accounting_agrees "$path"
	done <"$w/balance"
}
