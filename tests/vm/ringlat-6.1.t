#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# suite: slower
# The kernel module ringlat on kernel 6.1.
exec "$(dirname "$0")/../ringlat/in-vm" 6.1
