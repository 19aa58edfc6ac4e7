/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef LATSCOPE_TESTS_RMID_CHECK_H
#define LATSCOPE_TESTS_RMID_CHECK_H

/* Both hold /proc/latscope_rmid against /proc, and return the exit status. */

/* There comes a moment when they say the same, threads and all. */
int check_live(void);

/* Among others that come and go: nobody who was there before and after is overlooked. */
int check_busy(void);

#endif
