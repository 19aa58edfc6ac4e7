#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# suite: slow
# The kernel module ringlat on kernel 7.x.
exec "$(dirname "$0")/../ringlat/in-vm" 7 quick
