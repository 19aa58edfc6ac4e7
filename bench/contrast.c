// SPDX-License-Identifier: BSD-2-Clause
/*
 * contrast OFF ON: how much the values of the file ON, one a line, differ from those of OFF, as
 * `compare` judges runs: Welch's t test of the logarithms. Prints "DIFFERENCE LOW HIGH", the
 * difference of the geometric means and its 95 % interval, in percent of OFF.
 */
#include <math.h>
#include <stdio.h>

#include <stats/contrast.h>

#define CONFIDENCE 0.95

/* The observations of a file; 0: there are fewer than two, or one is not positive. */
static int read_group(struct contrast_group *group, const char *path)
{
	FILE *file = fopen(path, "re");
	double value, sum = 0, squares = 0, nr = 0;

	if (!file)
		return 0;
	while (fscanf(file, "%lf", &value) == 1 && value > 0) {
		sum += log(value);
		squares += log(value) * log(value);
		nr++;
	}
	if (!feof(file))
		nr = 0;
	fclose(file);
	if (nr < 2)
		return 0;
	*group = (struct contrast_group){ .centre = sum / nr,
					  .variance = (squares - sum * sum / nr) / (nr - 1),
					  .observations = nr };
	return 1;
}

static double percent(double logarithm)
{
	return 100 * expm1(logarithm);
}

int main(int argc, char **argv)
{
	struct contrast_group off, on;
	struct contrast found;

	if (argc != 3) {
		fprintf(stderr, "usage: contrast OFF ON\n");
		return 2;
	}
	if (!read_group(&off, argv[1]) || !read_group(&on, argv[2])) {
		fprintf(stderr, "contrast: each file needs two positive numbers or more\n");
		return 1;
	}
	found = contrast__of(&off, &on, CONFIDENCE, 0);
	printf("%.3g %.3g %.3g\n", percent(found.difference), percent(found.low),
	       percent(found.high));
	return 0;
}
