#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# suite: slow
# The module rmid under births and deaths of every kind, on kernel 7.x.
exec "$(dirname "$0")/../rmid/in-vm" 7 quick
