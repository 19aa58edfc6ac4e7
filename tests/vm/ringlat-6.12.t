#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# suite: slow
# The ringlat module on kernel 6.12.
exec "$(dirname "$0")/../ringlat/in-vm" 6.12 quick
