#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# suite: slow
# The parts of slow samples, on kernel 7.
exec "$(dirname "$0")/../probes/why-vm" 7
