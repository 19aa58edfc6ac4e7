#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Random workloads on kernel 7.
exec "$(dirname "$0")/in-vm" 7
