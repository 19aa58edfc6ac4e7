#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# suite: slower
# The kernel module rmid with births and deaths of every kind, on kernel 6.12.
exec "$(dirname "$0")/../rmid/in-vm" 6.12
