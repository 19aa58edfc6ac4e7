#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# suite: alone
# memlat on this machine, compared with known latencies.
set -u
cd "$(dirname "$0")/../.." || exit
. tests/probes/memlat.sh

# Faults of other processes are filtered; they do not count as missed starts.
others_are_filtered() {
	local said

	said=$("$latscope" memlat -p $$ -d 500ms --json & until gone $!; do /bin/true; done)
	jq -e '.probes[0].accounting | .filtered > 100 and .missed_start <= .filtered / 100' <<<"$said" >/dev/null ||
		{ echo "$said" && false; }
}
if [ "$(id -u)" = 0 ] && "$latscope" memlat -d 10ms -q >/dev/null 2>&1; then
	ok 'faults of other processes are filtered' others_are_filtered
else
	skip 'faults of other processes are filtered' 'memlat does not run here'
fi
done_testing
