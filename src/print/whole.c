// SPDX-License-Identifier: BSD-2-Clause
#include "report.h"

#include <errno.h>
#include <stdlib.h>

#include <store/json.h>

#include "text.h"
#include "html.h"
#include "why.h"

int whole__new(struct whole **out, struct rundb *db, const struct run *run,
	       const struct timeline_rules *rules)
{
	struct whole *whole = calloc(1, sizeof(*whole));
	const struct probe_view *view;
	int err;

	*out = whole;
	if (!whole)
		return -ENOMEM;
	err = timeline__read(&whole->timeline, db, run, rules)
		      ?: correlation__read(&whole->correlation, &whole->timeline, db);
	for (unsigned int i = 0; !err && (view = probe_view__nth(i)); i++)
		if (view->read)
			err = view->read(&whole->more[i], &whole->timeline, db);
	return err;
}

void whole__free(struct whole *whole)
{
	const struct probe_view *view;

	if (!whole)
		return;
	for (unsigned int i = 0; (view = probe_view__nth(i)); i++)
		if (view->free)
			view->free(whole->more[i]);
	correlation__clear(&whole->correlation);
	timeline__clear(&whole->timeline);
	free(whole);
}

int whole__print_text(FILE *out, const struct text_style *style, const struct run *run,
		      const struct whole *whole)
{
	const struct probe_view *view;
	int err = 0;

	text__run(out, run);
	text__incomplete(out, run);
	if (run->nr_probes > 1) {
		err = probe_view__print_answer(out, run);
		if (err > 0)
			fputc('\n', out);
		err = err < 0 ? err : 0;
	}
	for (unsigned int i = 0; !err && i < run->nr_probes; i++)
		err = why_text__sentence(out, run, &run->probes[i]);
	for (unsigned int i = 0; !err && i < run->nr_probes; i++) {
		view = probe_view__of(&run->probes[i]);
		if (view && view->prints_recordings)
			err = view->print(out, run, &run->probes[i], style);
		else
			text__probe(out, run, &run->probes[i], style);
		if (!err)
			err = why_text__print(out, run, &run->probes[i], style->top);
	}
	if (err)
		return err;
	why_text__missing_names(out, run);
	if (whole) {
		report__print_timeline(out, &whole->timeline, style->top, style->all_metrics);
		report__print_correlation(out, &whole->correlation);
		report__print_pressure(out, &whole->correlation, style->all_metrics);
	}
	for (unsigned int i = 0; (view = probe_view__nth(i)); i++)
		if (view->print_end)
			view->print_end(out, run, whole ? whole->more[i] : NULL);
	return 0;
}

int whole__print_json(FILE *out, const struct run *run, const struct whole *whole)
{
	struct json_object *object = json__run(run);
	const struct probe_view *view;

	why_json__add(object, run);
	if (object && whole) {
		report__add_timeline(object, &whole->timeline);
		report__add_correlation(object, &whole->correlation);
		report__add_pressure(object, &whole->correlation);
		for (unsigned int i = 0; (view = probe_view__nth(i)); i++)
			if (view->add_json)
				view->add_json(object, whole->more[i]);
	}
	return json__print(object, out, true);
}

static struct html_report html_of(struct rundb *db, const struct run *run,
				  const struct whole *whole, unsigned int top)
{
	return (struct html_report){ .db = db,
				     .run = run,
				     .timeline = &whole->timeline,
				     .correlation = &whole->correlation,
				     .top = top };
}

int whole__print_picture(FILE *out, struct rundb *db, const struct run *run,
			 const struct whole *whole)
{
	const struct html_report html = html_of(db, run, whole, WHOLE_PAGE_KEYS);

	return html__picture(out, &html);
}

int whole__print_page(FILE *out, struct rundb *db, const struct run *run, const struct whole *whole,
		      unsigned int top)
{
	const struct text_style style = { .all_metrics = true, .top = top };
	struct html_report html = html_of(db, run, whole, top);
	char *text = NULL;
	size_t size = 0;
	FILE *stream;
	int err;

	stream = open_memstream(&text, &size);
	if (!stream)
		return -ENOMEM;
	err = whole__print_text(stream, &style, run, whole);
	if (fclose(stream) && !err)
		err = -ENOMEM;
	html.text = text;
	if (!err)
		err = html__report(out, &html);
	free(text);
	return err;
}
