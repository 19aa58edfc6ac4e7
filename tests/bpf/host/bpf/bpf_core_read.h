/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stands in for libbpf's header where a test compiles BPF programs for this machine: here a type
 * has the members of its declaration, and an enum all of its values. Where programs ask whether a
 * kernel has a member, the answer is host_has_member(), which a test may define before.
 */
#ifndef LATSCOPE_TESTS_HOST_BPF_CORE_READ_H
#define LATSCOPE_TESTS_HOST_BPF_CORE_READ_H

#ifndef host_has_member
#define host_has_member(member) 0
#endif
#define bpf_core_field_exists(...) host_has_member(#__VA_ARGS__)
#define bpf_core_field_offset(type, member) __builtin_offsetof(type, member)
#define bpf_core_enum_value_exists(type, value) 1
/* Of a bit: unknown here; only the account of threads asks. */
#define BPF_FIELD_BYTE_OFFSET 0
#define __builtin_preserve_field_info(field, kind) 0
#define bpf_core_enum_value(type, value) (value)

#define ___arrow1(from) (from)
#define ___arrow2(from, a) ((from)->a)
#define ___arrow3(from, a, b) ((from)->a->b)
#define ___arrow4(from, a, b, c) ((from)->a->b->c)
#define ___arrow5(from, a, b, c, d) ((from)->a->b->c->d)
#define ___arrow_of(_1, _2, _3, _4, _5, chosen, ...) chosen
#define ___arrow(...)                                                                   \
	___arrow_of(__VA_ARGS__, ___arrow5, ___arrow4, ___arrow3, ___arrow2, ___arrow1, \
		    0)(__VA_ARGS__)

#define bpf_core_read bpf_probe_read_kernel
#define BPF_CORE_READ(...) ___arrow(__VA_ARGS__)
#define BPF_CORE_READ_BITFIELD(from, field) ((from)->field)
#define BPF_CORE_READ_BITFIELD_PROBED(from, field) ((from)->field)
#define BPF_CORE_READ_STR_INTO(to, from, field) \
	bpf_probe_read_kernel_str(to, sizeof(*(to)), (from)->field)

#endif
