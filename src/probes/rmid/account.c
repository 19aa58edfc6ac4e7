// SPDX-License-Identifier: BSD-2-Clause
#include "account.h"

/* All rows, including idle and lost time, must add up to the CPU time of the window. */
static void tell_balance(const struct rmid_account *account, FILE *out)
{
	double wall = (double)account->wall_ns;

	fprintf(out, "; rows add up to %.3f ms of %.3f ms of CPUs", (double)account->told_ns / 1e6,
		wall / 1e6);
	if (account->told_ns != account->wall_ns)
		fprintf(out, ", which is wrong by %.6f %%",
			100.0 * ((double)account->told_ns - wall) / wall);
	fprintf(out, "; lost: %.3f ms, %.3f %%", (double)account->missing_ns / 1e6,
		100.0 * (double)account->missing_ns / wall);
}

void rmid_account__tell_emulation(const struct emulation_state *state, bool groups, FILE *out)
{
	fprintf(out, "; %u %s, at most %u were in use", state->rmids,
		groups ? "groups stand for RMIDs" : "RMIDs are emulated", state->most);
	if (groups)
		fprintf(out, "; groups go to the processes with the most CPU time, %llu passed on",
			(unsigned long long)state->yielded);
	if (state->refused || state->waiting)
		fprintf(out, "; no %s was free %llu times, %u processes wait for one",
			groups ? "group" : "RMID", (unsigned long long)state->refused,
			state->waiting);
	if (state->untracked)
		fprintf(out, ", %llu processes found no room",
			(unsigned long long)state->untracked);
	if (state->miscounted)
		fprintf(out, ", the end of %llu processes was not seen",
			(unsigned long long)state->miscounted);
}

void rmid_account__tell(const struct rmid_account *account, FILE *out)
{
	tell_balance(account, out);
	fprintf(out, "; %llu of %llu slots incomplete, %llu records lost",
		(unsigned long long)account->incomplete_slots, (unsigned long long)account->slots,
		(unsigned long long)(account->lost_spans + account->lost_others));
	if (account->malformed)
		fprintf(out, ", %llu malformed", (unsigned long long)account->malformed);
	if (account->hidden)
		fprintf(out, ", %llu switches hidden", (unsigned long long)account->hidden);
	if (account->ticks)
		fprintf(out, "; %.2f %% of ticks within 100 us of their edge",
			100.0 * (double)account->ticks_in_time / (double)account->ticks);
	if (account->failed_reads)
		fprintf(out, "; perf events could not be read %llu times",
			(unsigned long long)account->failed_reads);
}
