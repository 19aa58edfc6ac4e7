#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# suite: alone
# runqlat loads into this machine's own kernel, by every method, and times what its scheduler does, by real clocks. CPUs that run
# at the same time also wake up tasks that another one still runs, which no CPU of the VM does. tests/kernels/probes-* have the rest.
# shellcheck disable=SC2034 # used by runqlat.sh
cd "$(dirname "$0")/../.." || exit
extent=compact
. tests/probes/runqlat.sh
[ ${#methods[@]} = 0 ] || woken_before_sleep
done_testing
