#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# make install: where the files go, and that what is installed names what is installed.
. "$(dirname "$0")/cli.sh"

to=$dir/to
# what CMD...: what make installs into $to, one path a line
what() { # -o: other suites run the program at the same time
	rm -rf "$to"
	make -s -o .output/latscope "$@" DESTDIR="$to" >/dev/null || return
	(cd "$to" && find . -type f | cut -c2- | grep -v /man1/ | sort)
}
in_usr='/etc/default/latscope-exporter
/etc/default/latscope-rollup
/usr/bin/latscope
/usr/lib/systemd/system/latscope-exporter.service
/usr/lib/systemd/system/latscope-exporter.socket
/usr/lib/systemd/system/latscope-rollup.service
/usr/lib/systemd/system/latscope-rollup.timer
/usr/lib/tmpfiles.d/latscope-exporter.conf
/usr/share/bash-completion/completions/latscope
/usr/share/fish/vendor_completions.d/latscope.fish
/usr/share/latscope/clickhouse/days.sql
/usr/share/latscope/clickhouse/distributed.sql
/usr/share/latscope/clickhouse/hours.sql
/usr/share/latscope/clickhouse/problem.sql
/usr/share/latscope/clickhouse/retention.sql
/usr/share/latscope/clickhouse/tables.sql
/usr/share/latscope/clickhouse/ttl.sql
/usr/share/latscope/grafana/latscope.json
/usr/share/latscope/matrix/fio.matrix
/usr/share/latscope/prometheus/latscope.rules.yml
/usr/share/zsh/vendor-completions/_latscope'
is 'in /usr: where Debian has them' "$(what install PREFIX=/usr)" "$in_usr"
is 'man pages' "$(cd "$to/usr/share/man/man1" && ls)" "$(cd man && printf '%s\n' *.scd | sed 's/\.scd$//')"
like 'in /usr: the service' "$(grep -E '^(Env|Exec)' "$to/usr/lib/systemd/system/latscope-exporter.service" | paste -sd' ')" \
	'^EnvironmentFile=-/etc/default/latscope-exporter ExecStart=/usr/bin/latscope serve \$ARGS$'
is 'in /usr/local: below it' "$(what install)" \
	"$(sed 's|/usr||; s|^|/usr/local|; s|vendor-completions/_|site-functions/_|' <<<"$in_usr" | sort)"
like 'in /usr/local: the service' \
	"$(grep -E '^(Env|Exec)' "$to/usr/local/lib/systemd/system/latscope-exporter.service" | paste -sd' ')" \
	'^EnvironmentFile=-/usr/local/etc/default/latscope-exporter ExecStart=/usr/local/bin/latscope serve \$ARGS$'
like 'in /usr/local: the roll-up' \
	"$(grep -E '^(Env|Exec)' "$to/usr/local/lib/systemd/system/latscope-rollup.service" | paste -sd' ')" \
	'^EnvironmentFile=-/usr/local/etc/default/latscope-rollup ExecStart=/usr/local/bin/latscope fleet rollup \$ARGS$'
echo 'ARGS="--no-ring"' >"$to/usr/local/etc/default/latscope-exporter"
make -s install_exporter DESTDIR="$to" >/dev/null
is "installed again: the administrator's options stay" "$(cat "$to/usr/local/etc/default/latscope-exporter")" 'ARGS="--no-ring"'
is 'other directories' "$(what install_exporter PREFIX=/opt SYSCONFDIR=/c UNITDIR=/u TMPFILESDIR=/t | grep -v ^/opt/)" \
	'/c/default/latscope-exporter
/t/latscope-exporter.conf
/u/latscope-exporter.service
/u/latscope-exporter.socket'
is 'a part: the program without the service' "$(what install_program PREFIX=/usr | grep -c exporter)" 0
if command -v systemd-tmpfiles >/dev/null; then
	state=$dir/root/var/lib/private/latscope
	# aged AGE: what is left when all that is older than AGE is cleaned
	aged() {
		rm -rf "$state"
		for name in 20260102T030405Z-ring 20260102T040506Z; do
			mkdir -p "$state/$name/fine-000001" && touch "$state/$name/fine-000001/run.db"
		done
		sed "s/ 30d$/ $1/" packaging/systemd/latscope-exporter.tmpfiles >"$dir/tmpfiles.conf"
		systemd-tmpfiles --root="$dir/root" --clean "$dir/tmpfiles.conf" 2>/dev/null
		(cd "$state" && find . -name run.db | sort | paste -sd' ')
	}
	is 'a flight recorder in use stays' "$(aged 30d)" './20260102T030405Z-ring/fine-000001/run.db ./20260102T040506Z/fine-000001/run.db'
	is 'an old flight recorder is deleted, a snapshot stays' "$(aged 0)" './20260102T040506Z/fine-000001/run.db'
else
	skip 'an old flight recorder is deleted' 'there is no systemd-tmpfiles'
fi

# ---- one version ----

version=$(make -s print-version)
like '--version' "$("$latscope" --version | head -n 1)" "^latscope $version\$"
is 'the Debian changelog has this version' "$(sed -nE '1s/.*\((.*)\).*/\1/p' packaging/debian/changelog)" "$version"
is 'the rpm spec has this version' "$(sed -n 's/^Version: *//p' packaging/latscope.spec)" "$version"
like 'NEWS begins with this version' "$(grep -m 1 -E '^[0-9]+\.[0-9]' NEWS)" "^$version( |\$)"
done_testing
