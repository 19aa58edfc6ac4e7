#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# suite: slow
# tierlat --act moves pages between two NUMA nodes, on kernel 6.12.
exec "$(dirname "$0")/../emu/act-vm" 6.12
