# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2034,SC2154 # variables of cli.sh and serve.sh
# Functions for tests with real servers of ClickHouse, and those of serve.sh.
# shellcheck source=tests/cli/serve.sh
. "${BASH_SOURCE[0]%/*}/serve.sh"

clickhouse='' # URL of the last server that was started
declare -A clickhouse_http=() clickhouse_tcp=() clickhouse_pid=() # by name

# A server that is asked to end waits for connections. One that ended before says why.
end_clickhouse() {
	local name

	for name in "${!clickhouse_pid[@]}"; do
		! gone "${clickhouse_pid[$name]}" || clickhouse_died "$name"
	done
	[ ${#clickhouse_pid[@]} = 0 ] || kill -KILL "${clickhouse_pid[@]}" 2>/dev/null
}
on_exit end_clickhouse

# clickhouse_config NAME: of a server on loopback with all its files in $dir/NAME. Its cluster `fleet` has two shards, one and two.
# The user `writer` needs a password.
clickhouse_config() {
	local shard

	mkdir -p "$dir/$1"/{data,tmp,format}
	cat >"$dir/$1/config.xml" <<-END
		<yandex>
			<logger><level>warning</level><log>$dir/$1/log</log><errorlog>$dir/$1/errors</errorlog></logger>
			<http_port>${clickhouse_http[$1]}</http_port><tcp_port>${clickhouse_tcp[$1]}</tcp_port>
			<listen_host>127.0.0.1</listen_host>
			<path>$dir/$1/data/</path><tmp_path>$dir/$1/tmp/</tmp_path><format_schema_path>$dir/$1/format/</format_schema_path>
			<mark_cache_size>16777216</mark_cache_size><timezone>Asia/Kolkata</timezone>
			<users_config>$dir/$1/users.xml</users_config>
			<default_profile>default</default_profile><default_database>default</default_database>
			<remote_servers><fleet>
				$(for shard in one two; do
					echo "<shard><replica><host>127.0.0.1</host><port>${clickhouse_tcp[$shard]-1}</port></replica></shard>"
				done)
			</fleet></remote_servers>
		</yandex>
	END
	cat >"$dir/$1/users.xml" <<-END
		<yandex>
			<profiles><default><max_memory_usage>2000000000</max_memory_usage><max_threads>2</max_threads></default></profiles>
			<quotas><default></default></quotas>
			<users>
				<default><password></password><networks><ip>127.0.0.1</ip></networks><profile>default</profile><quota>default</quota></default>
				<writer><password>secret</password><networks><ip>127.0.0.1</ip></networks><profile>default</profile><quota>default</quota></writer>
			</users>
		</yandex>
	END
}

# clickhouse_died NAME: tells of a server that is gone
clickhouse_died() {
	wait "${clickhouse_pid[$1]}" 2>/dev/null
	diag "the server $1 ended by itself, with status $?"
	diag "$(tail -v -n 20 "$dir/$1"/{out,errors,log} 2>&1)"
}

# clickhouse_start NAME...: starts servers, again if they were killed; the last one is at $clickhouse
clickhouse_start() {
	local name

	for name in "$@"; do
		clickhouse_http[$name]=${clickhouse_http[$name]-$(free_port)}
		clickhouse_tcp[$name]=${clickhouse_tcp[$name]-$(free_port)}
	done
	for name in "$@"; do
		[ -e "$dir/$name/config.xml" ] || clickhouse_config "$name"
		clickhouse-server "--config-file=$dir/$name/config.xml" >"$dir/$name/out" 2>&1 &
		clickhouse_pid[$name]=$!
	done
	for name in "$@"; do
		clickhouse=http://127.0.0.1:${clickhouse_http[$name]}
		wait_for curl -sSf "$clickhouse/ping" || { clickhouse_died "$name" && return 1; }
	done
}

# clickhouse_kill NAME: by SIGKILL
clickhouse_kill() {
	kill -KILL "${clickhouse_pid[$1]}"
	wait "${clickhouse_pid[$1]}" 2>/dev/null
	unset "clickhouse_pid[$1]"
}

# sql QUERY [DATABASE]: prints the answer of $clickhouse
sql() { curl -sS --max-time 60 --data-binary @- "$clickhouse/?database=${2-latscope}" <<<"$1"; }

# has_chdb: builds $dir/chdb, and sets $library, the engine of a new version; fails if that is not installed
has_chdb() {
	library=${LATSCOPE_CHDB:-$(printf '%s\n' /usr/lib/node_modules/@chdb/lib-linux-x64-gnu/libchdb.so node_modules/@chdb/*/libchdb.so | head -n 1)}
	[ -e "$library" ] && gcc -o "$dir/chdb" tests/cli/chdb.c -ldl
}

# skip_unless_clickhouse: skips the whole suite where there is no server
skip_unless_clickhouse() {
	command -v clickhouse-server >/dev/null || skip_all 'clickhouse-server is not installed'
}
