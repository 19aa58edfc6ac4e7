#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# suite: alone
# memlat loads into this machine's own kernel, by every method, and counts and times what that kernel's own fault path does, among
# the faults of everything else that runs here. tests/kernels/probes-* have every kind of fault.
# shellcheck disable=SC2034 # used by memlat.sh
cd "$(dirname "$0")/../.." || exit
extent=compact repeated=''
. tests/probes/memlat.sh
head -c 1M /dev/zero >"$disk_fs/gup-$$"
on_exit rm -f "$disk_fs/gup-$$"
gup_faults
gup_faults -r
gup_faults -u
gup_faults -d "$disk_fs/gup-$$"
calm

# A process that faults as fast as it can, until the recorder has ended. Its faults are filtered, and are no missed starts.
others_are_filtered() {
	local said load

	"$latscope" load touch -q -d 1h &
	load=$!
	said=$("$latscope" memlat -p $$ -d 500ms --json)
	kill $load
	wait $load
	jq -e '.probes[0].accounting | .filtered > 100 and .missed_start <= .filtered / 100' <<<"$said" >/dev/null ||
		{ echo "$said" && false; }
}
if [ "$(id -u)" = 0 ] && "$latscope" memlat -d 10ms -q >/dev/null 2>&1; then
	ok 'faults of other processes are filtered' others_are_filtered
else
	skip 'faults of other processes are filtered' 'memlat does not run here'
fi
done_testing
