#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# suite: slower
# The parts of slow block requests, on kernel 6.12.
exec "$(dirname "$0")/../probes/why-iolat-vm" 6.12
