// SPDX-License-Identifier: BSD-2-Clause
#include "gzip.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#define GZIP_BITS (15 + 16) /* zlib: with a header of gzip */

/* RFC 9110, 12.5.3: "gzip;q=0" refuses it. */
bool gzip__is_accepted(const char *header)
{
	const char *at = header ? strstr(header, "gzip") : NULL;

	if (!at)
		return false;
	at += strlen("gzip");
	at += strspn(at, " \t");
	if (*at != ';')
		return true;
	at += 1 + strspn(at + 1, " \t");
	return strncmp(at, "q=", 2) != 0 || strtod(at + 2, NULL) > 0;
}

void *gzip__pack(const void *from, size_t len, bool fast, size_t *packed)
{
	z_stream stream = { .next_in = (z_const Bytef *)from, .avail_in = (uInt)len };
	unsigned char *to = NULL;
	uLong most;

	if (len > UINT32_MAX / 2 ||
	    deflateInit2(&stream, fast ? Z_BEST_SPEED : Z_DEFAULT_COMPRESSION, Z_DEFLATED,
			 GZIP_BITS, 8, Z_DEFAULT_STRATEGY) != Z_OK)
		return NULL;
	most = deflateBound(&stream, (uLong)len);
	to = malloc(most);
	stream.next_out = to;
	stream.avail_out = (uInt)most;
	if (to && deflate(&stream, Z_FINISH) != Z_STREAM_END) {
		free(to);
		to = NULL;
	}
	*packed = stream.total_out;
	deflateEnd(&stream);
	return to;
}
