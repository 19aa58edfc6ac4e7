/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef LATSCOPE_TESTS_RMID_CHECK_H
#define LATSCOPE_TESTS_RMID_CHECK_H

/* Holds /proc/latscope_rmid against /proc. Returns the exit status. */
int check_live(void);

#endif
