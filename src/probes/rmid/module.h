/* SPDX-License-Identifier: BSD-2-Clause */
/* Talks to the kernel module rmid through its file LATSCOPE_RMID_PROC. */
#ifndef LATSCOPE_PROBES_RMID_MODULE_H
#define LATSCOPE_PROBES_RMID_MODULE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct module_state {
	uint64_t version;
	uint64_t rmids;
	uint64_t limbo_ns;
	char rdt[16];
	char unsampled[1024]; /* CPUs that the module's timer does not sample */
	uint64_t l3_scale; /* 0: no RDT */
	uint64_t assigned, waiting, refused;
	uint64_t ticks, ticks_late;
	uint64_t reads, reads_due;
};

/*
 * Opens it for module__read() and module__dump(), which also work after privileges are dropped.
 * Returns a descriptor; -ENOENT: the module is not loaded; -EACCES: not root; -EPROTONOSUPPORT: the
 * module has another version; -errno.
 */
int module__open(const char *path);

int module__read(int fd, struct module_state *state); /* 0, -errno, -EUCLEAN */
int module__dump(int fd);
int module__copy(int fd, FILE *out); /* all of the file; 0, -errno */
bool module__uses_rdt(int fd); /* does it write PQR_ASSOC? */

/*
 * Prints whether RDT is in use, and how many of the cache readings due between two states were
 * done. The caller counts the readings without a value.
 */
void module__tell(const struct module_state *before, const struct module_state *now,
		  uint64_t no_value, FILE *out);

#endif
