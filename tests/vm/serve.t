#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# suite: slow
# serve on kernels 6.1 and 7: the clock is set, kill -9, and the unit of systemd.
exec "$(dirname "$0")/../probes/serve-vm" 6.1 7
