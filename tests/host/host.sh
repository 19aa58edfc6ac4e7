# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# For suites of this folder that measure: functions for the command line, and for what may be disturbed.
# shellcheck source=tests/cli/cli.sh
. "${BASH_SOURCE[0]%/*}/../cli/cli.sh"
. tests/measure.sh
