#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# suite: native
# The parts of slow block requests, on this kernel.
exec "$(dirname "$0")/../probes/why-iolat.sh"
