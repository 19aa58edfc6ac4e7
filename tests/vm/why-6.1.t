#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# suite: slow
# The parts of slow samples, on kernel 6.1.
exec "$(dirname "$0")/../probes/why-vm" 6.1
