#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# suite: slow
# Each method of each probe, window edges, the accounting and the known culprits of why, in virtual time on kernel 6.1.
exec "$(dirname "$0")/../probes/in-vm" 6.1 check none
