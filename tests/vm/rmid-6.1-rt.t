#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# suite: slow
# The kernel module rmid with births and deaths of every kind, on kernel 6.1 with PREEMPT_RT.
exec "$(dirname "$0")/../rmid/in-vm" 6.1-rt quick
