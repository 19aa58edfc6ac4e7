#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# suite: slow
# The kernel module ringlat on kernel 6.12.
exec "$(dirname "$0")/../ringlat/in-vm" 6.12 quick
