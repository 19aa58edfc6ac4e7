// SPDX-License-Identifier: BSD-2-Clause
/*
 * contrast OFF ON: how much the values of the file ON, one a line, differ from those of OFF on the
 * same lines: they were measured in turn, so what disturbs one disturbs mostly also the other.
 * Student's t test of the logarithms of their ratios. Prints "DIFFERENCE LOW HIGH", the geometric
 * mean of the differences and its 95 % interval, in percent of OFF.
 */
#include <math.h>
#include <stdio.h>

#include <stats/contrast.h>

#define CONFIDENCE 0.95

/* The ratios of both files. Returns 0 if there are fewer than two, or if a value has no other. */
static int read_pairs(struct contrast_group *group, FILE *off_file, FILE *on_file)
{
	double off, on, ratio, sum = 0, squares = 0, nr = 0;

	for (;;) {
		int got = fscanf(off_file, "%lf", &off), other = fscanf(on_file, "%lf", &on);

		if (got == EOF && other == EOF)
			break;
		if (got != 1 || other != 1 || off <= 0 || on <= 0)
			return 0;
		ratio = log(on / off);
		sum += ratio;
		squares += ratio * ratio;
		nr++;
	}
	if (nr < 2)
		return 0;
	*group = (struct contrast_group){ .centre = sum / nr,
					  .variance = (squares - sum * sum / nr) / (nr - 1),
					  .observations = nr };
	return 1;
}

static int read_files(struct contrast_group *group, const char *off, const char *on)
{
	FILE *off_file = fopen(off, "re"), *on_file = fopen(on, "re");
	int done = off_file && on_file && read_pairs(group, off_file, on_file);

	if (off_file)
		fclose(off_file);
	if (on_file)
		fclose(on_file);
	return done;
}

static double percent(double logarithm)
{
	return 100 * expm1(logarithm);
}

int main(int argc, char **argv)
{
	struct contrast_group none = {}, ratios;
	struct contrast found;

	if (argc != 3) {
		fprintf(stderr, "usage: contrast OFF ON\n");
		return 2;
	}
	if (!read_files(&ratios, argv[1], argv[2])) {
		fprintf(stderr,
			"contrast: both files need as many positive numbers, two or more\n");
		return 1;
	}
	none.observations = ratios.observations;
	found = contrast__of(&none, &ratios, CONFIDENCE, 0);
	printf("%.3g %.3g %.3g\n", percent(found.difference), percent(found.low),
	       percent(found.high));
	return 0;
}
