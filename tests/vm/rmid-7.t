#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# suite: slow
# The kernel module rmid with births and deaths of every kind, on kernel 7.x.
exec "$(dirname "$0")/../rmid/in-vm" 7 quick
