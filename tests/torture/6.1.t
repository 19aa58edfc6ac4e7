#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# suite: slower
# Random workloads on kernel 6.1.
exec "$(dirname "$0")/in-vm" 6.1
