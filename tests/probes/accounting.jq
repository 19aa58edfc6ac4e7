# SPDX-License-Identifier: BSD-2-Clause
# Input: the summaries of a recording and, last, the JSON that report prints of it, in one array (-s). Output: a line for
# each error, and for each metric a line "= METRIC FILE SEEN RECORDED LOG2". METRIC is as in facts.sql, FILE is the name of
# its CSV, LOG2 the sum of its log2 buckets. With $strict, a difference from the kernel's own account is an error too:
# for machines that hide no event from BPF. kprobe is exempt, because it does not know of all events that it loses.
def terms:
	.recorded + .filtered + .missed_start + .unmatched + .map_full + .negative + .excluded + .continued;

.[-1] as $report | .[:-1][] as $summary | $summary.module as $name
| ($report.probes[] | select(.module == $name)) as $again
| (if ($again | length) < 9 then "report leaves out what the summary of \($name) has" else empty end),
($again | paths(type != "object" and type != "array") | . as $path
	| ($summary | getpath($path)) as $was | ($again | getpath($path)) as $is
	| if $is == $was then empty else "\($name): \($path) is \($was), \($is) by report" end),
(if $report.start_utc != $summary.start_utc or $report.duration_sec != $summary.duration_sec
	then "report has another window than the summary of \($name)" else empty end),
($summary.metrics[] | .metric as $metric | .accounting
	| if .balanced and .seen == terms then empty else "\($metric): \(.) does not balance" end),
($summary.accounting.kernel_check | [.events, .time_ns][] | select($strict and $summary.mechanism.method != "kprobe" and .agrees == false)
	| "\($name): the kernel says otherwise: \(.)"),
($summary.metrics | to_entries[] | .value as $it
	| if .key == 0 then [$name, $name] else [$it.metric, "\($name)-\($it.metric)"] end
	| if $it.total_events == $it.accounting.recorded then . else ["total_events is not recorded:"] + . end
	| "= \(join(" ")) \($it.accounting.seen) \($it.accounting.recorded) \($it.log2_counts | add // 0)")
