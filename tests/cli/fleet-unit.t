#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# suite: native
# The service and the timer of systemd that run fleet rollup: how exposed the service is, and that what it may do is enough.
. "$(dirname "$0")/clickhouse.sh"
. tests/cli/unit.sh
command -v systemd-analyze >/dev/null || skip_all 'systemd is not installed'

unit=packaging/systemd/latscope-rollup.service
unit_is_confined
unit_is_accepted timer
calendar() { systemd-analyze calendar --base-time='2026-01-02 03:04:05 UTC' --iterations=3 "$1" | sed -nE 's/^ *(Next elapse|Iter[^:]*): .* ([0-9:]{8}) UTC$/\2/p' | paste -sd' '; }
is 'the timer runs every hour' "$(TZ=UTC calendar "$(sed -n 's/^OnCalendar=//p' packaging/systemd/latscope-rollup.timer)")" '03:10:00 04:10:00 05:10:00'
unset LATSCOPE_CLICKHOUSE_USER LATSCOPE_CLICKHOUSE_PASSWORD

# Its options, as systemd reads them, and the port of the test.
eval "$(grep -v '^#' packaging/systemd/latscope-rollup.default)"
like 'by default it uses the server of this machine' "$ARGS" '^--clickhouse http://127.0.0.1:8123$'
skip_rest() { skip 'what it may do is enough' "$1" && done_testing && exit; }
command -v clickhouse-server >/dev/null || skip_rest 'clickhouse-server is not installed'
[ "$(id -u)" = 0 ] || skip_rest 'needs root'
clickhouse_start one || exit
run fleet init --clickhouse "$clickhouse"
run load fleet -q --clickhouse "$clickhouse" --hosts 3 --series 4 -d 3m --ago 50h
echo writer:secret >"$dir/login"
chown 65533:65533 "$dir/login"
chmod 400 "$dir/login"
install -m755 "$latscope" "$dir/latscope"
latscope=$dir/latscope
# A user that no account has, without capabilities, and the memory of the unit.
as=("${unit_strace[@]}" setpriv --reuid=65533 --regid=65533 --clear-groups --inh-caps=-all --bounding-set=-all --no-new-privs)
check 'it needs no privilege' 0 '[1-9] hours and [1-9] days rolled up' '' fleet rollup --clickhouse "$clickhouse" --clickhouse-login "$dir/login"
ok 'it was traced' grep -q connect "$dir/calls"
unit_allows_all
as=()
families=$(sed -n 's/^RestrictAddressFamilies=//p' "$unit")
is 'it needs no other kind of socket' "$(grep -oE 'socket\(AF_[A-Z0-9]+' "$dir/calls" | cut -d '(' -f 2 | sort -u | grep -vxF "${families// /$'\n'}" | grep -v AF_UNIX)" ''
done_testing
