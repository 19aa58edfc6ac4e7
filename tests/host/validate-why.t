#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# suite: alone
# validate why on this machine's own kernel and in its time. tests/kernels/witness-* has every situation on others.
exec "$(dirname "$0")/../probes/witness"
