# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2034,SC2154 # variables of cli.sh
# Emulated registers of uncore counters below $emu, for tests of tierlat; source it after cli.sh. Ends the script where they cannot be
# mounted.

[ "$(id -u)" != 0 ] || own_mounts
emulate msrfs 'machine gen=icx sockets=2 cpus=4 boxes=6'
args=(--model icx --msr-root "$emu/cpu" --cpu "0,2" --boxes 6)
forced='^latscope: tierlat: by the events of Ice Lake-SP, chosen by --model' # on stderr, but for -q

tell() { printf '%s\n' "$1" >"$emu/ctl"; }

# found: a machine with registers in disorder, and no faults
found() {
	tell heal
	tell 'machine gen=icx sockets=2 cpus=4 boxes=6'
	tell 'stream name=near rate=2e8 latency=90'
	tell 'stream name=far rate=1e8 latency=180 remote=1'
	tell 'litter seed=5'
	tell mark
}

# as_found [COUNT]: no register, or so many, differ from what was found.
as_found() {
	jq -e "([.box, .control, .filter] | add | length) == ${1-0}" "$emu/changed" >/dev/null || {
		jq -c '.box, .control, .filter' "$emu/changed" && false
	}
}
