// SPDX-License-Identifier: BSD-2-Clause
/*
 * chdb LIBRARY DIR: runs the statements of stdin, each ended by a line's last ';', with the engine
 * of ClickHouse that is in the library (libchdb.so), on the data in DIR. Prints the answers. Exit
 * status 1: a statement failed, and the reason was printed; 77: the library cannot be loaded.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST (1 << 20)

struct engine {
	void **(*connect)(int argc, char **argv);
	void *(*query)(void *connection, const char *sql, const char *format);
	const char *(*result)(void *result);
	size_t (*length)(void *result);
	const char *(*error)(void *result);
	void (*destroy)(void *result);
};

static int load(struct engine *engine, const char *path)
{
	void *library = dlopen(path, RTLD_NOW);

	if (!library)
		return -1;
	*(void **)&engine->connect = dlsym(library, "chdb_connect");
	*(void **)&engine->query = dlsym(library, "chdb_query");
	*(void **)&engine->result = dlsym(library, "chdb_result_buffer");
	*(void **)&engine->length = dlsym(library, "chdb_result_length");
	*(void **)&engine->error = dlsym(library, "chdb_result_error");
	*(void **)&engine->destroy = dlsym(library, "chdb_destroy_query_result");
	return engine->connect && engine->query && engine->result && engine->length &&
			       engine->error && engine->destroy
		       ? 0
		       : -1;
}

/* 0, or 1 after the reason was printed. */
static int run(const struct engine *engine, void *connection, const char *sql)
{
	void *result = engine->query(connection, sql, "TabSeparated");
	const char *error = engine->error(result);

	if (error)
		printf("%s\nin: %.300s\n", error, sql);
	else
		fwrite(engine->result(result), 1, engine->length(result), stdout);
	if (!error)
		engine->destroy(result);
	return error != NULL;
}

int main(int argc, char **argv)
{
	static char text[MOST];
	char path[4096], name[] = "clickhouse", *args[] = { name, path };
	struct engine engine = { 0 };
	void **connection;
	int bad = 0;

	if (argc != 3 || load(&engine, argv[1])) {
		fprintf(stderr, "cannot load %s\n", argc > 1 ? argv[1] : "nothing");
		return 77;
	}
	snprintf(path, sizeof(path), "--path=%s", argv[2]);
	connection = engine.connect(2, args);
	if (!connection)
		return 77;
	text[fread(text, 1, MOST - 1, stdin)] = '\0';
	for (char *at = text, *end; !bad && (end = strstr(at, ";\n")); at = end + 2) {
		*end = '\0';
		bad = run(&engine, *connection, at);
	}
	fflush(stdout);
	_Exit(bad); /* its threads would be waited for */
}
