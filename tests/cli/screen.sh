# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2034,SC2154 # variables of cli.sh, and for scripts
# Functions for tests of the screen of top, in tmux; source it after cli.sh.

command -v tmux >/dev/null || skip_all 'tmux is not installed'

# A server of its own for each screen: one that ends refuses the next.
server=0
mux() { tmux -S "$dir/tmux$server" -f /dev/null "$@"; }
end_screen() { mux kill-server 2>/dev/null; }
on_exit end_screen

# The pane runs this: latscope, between two looks at the terminal's modes.
cat >"$dir/pane" <<-'END'
	cd "$1" || exit
	shift
	stty -g >before
	"$@" 2>error
	echo $? >status
	stty -g >after
	cat error
	exec cat
END

# screen WxH VARIABLES ARG...: runs latscope in a pane of its own; VARIABLES are words for env
screen() {
	local size=$1 words

	read -ra words <<<"$2"
	mux kill-server 2>/dev/null
	server=$((server + 1))
	rm -f "$dir"/{before,after,status,error}
	mux new-session -d -x "${size%x*}" -y "${size#*x}" env -u NO_COLOR TERM=tmux-256color LC_ALL=C.UTF-8 "${words[@]}" \
		bash "$dir/pane" "$dir" "$latscope" "${@:3}"
}
seen() { mux capture-pane -J -p; }
press() { mux send-keys "$@"; }
has() { [[ $(seen) =~ $1 ]] || { printf 'no %s in:\n%s\n' "$1" "$(seen)" && false; }; }
lacks() { [[ ! $(seen) =~ $1 ]] || { printf '%s in:\n%s\n' "$1" "$(seen)" && false; }; }
# shows TITLE REGEX: a test that the screen has a match, now or soon
shows() { ok "$1" eventually has "$2"; }
# pressed KEYS TITLE REGEX: the same, once these keys, one or more, are pressed
pressed() {
	local keys

	read -ra keys <<<"$1"
	press "${keys[@]}"
	shows "${@:2}"
}
loses() { ok "$1" eventually lacks "$2"; }
ended_with() { [ -s "$dir/after" ] && [ "$(<"$dir/status")" = "$1" ]; }
restored() {
	cmp "$dir/before" "$dir/after" && [ "$(mux display -p '#{alternate_on}')" = 0 ]
}
# quits TITLE CODE: a test that it ends and the terminal is as before
quits() {
	ok "$1: ends" eventually ended_with "$2"
	ok "$1: the terminal is restored" restored
}
# q_quits TITLE: the same, at q
q_quits() {
	press q
	quits "$1" 0
}
pid_of_top() { pgrep -o -P "$(mux display -p '#{pane_pid}')"; }

footer_is_last() { [[ $(mux capture-pane -p | sed -n "$1p") = *'h help  q quit'* ]] || { seen && false; }; }
ascii() { ! mux capture-pane -p | LC_ALL=C grep -q '[^ -~]'; }
colorless() { ! mux capture-pane -e -p | grep -qE $'\e''\\[[0-9;]*(3[0-7]|38;5|4[0-7]|48;5)'; }

numbers='memlat +[0-9,.]+/s +max [0-9.]+ .*p50 [0-9.]+ .s +p99 [0-9.]+ .s +p99.9 [0-9.]+ .s'

# The screen that top begins with
begins=$numbers

# ends_at_signals ARG...: tests that top ends, and restores the terminal, if that is still there
ends_at_signals() {
	local signal pid

	for signal in INT TERM QUIT HUP; do
		screen 80x24 '' top "$@"
		eventually has "$begins" >/dev/null
		kill -"$signal" "$(pid_of_top)"
		quits "SIG$signal" 0
	done
	screen 80x24 '' top "$@"
	eventually has "$begins" >/dev/null
	pid=$(pid_of_top)
	end_screen
	ok 'the terminal is gone: it ends' eventually gone "$pid"
}

# stops_and_continues ARG...: the same of a shell with job control that stops it
stops_and_continues() {
	server=$((server + 1))
	mux new-session -d -x 80 -y 24 env TERM=tmux-256color LC_ALL=C.UTF-8 PS1='shell> ' bash --norc -i
	eventually has 'shell>' >/dev/null
	printf '%q ' "$latscope" top "$@" >"$dir/command"
	press "cd $dir; stty -g >before; . ./command" Enter
	shows 'job control: the screen' "$begins"
	pressed C-z 'SIGTSTP: stopped' 'Stopped'
	press "stty -g >after" Enter
	ok 'SIGTSTP: the terminal is restored' eventually restored
	pressed 'fg Enter' 'SIGCONT: the screen again' "latscope top .*$begins"
	pressed q 'then q: the shell' 'shell>'
	end_screen
}
