/* SPDX-License-Identifier: Apache-2.0
 *
 * The HTML report: the viewer's modules for findings, with the findings beside them, in one file. It is opened from a
 * disk, where a page may load nothing, so everything is inside:
 *
 *     <style>                     report.css
 *     <script id=report>          the findings as JSON
 *     <script type=module>        report.js
 *
 * Names in a trace may hold anything: '<' never appears in the JSON, so that nothing in it ends the script, and the
 * modules make text nodes of it. That nothing in report.js ends its script, bundle.py sees to.
 */
#include "report/report.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "report/assets.h"

enum {
	MAX_ROWS = 500
};

static const char head[] =
	"<!doctype html>\n"
	"<html lang=\"en\">\n"
	"<head>\n"
	"<meta charset=\"utf-8\">\n"
	"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	"<meta name=\"color-scheme\" content=\"light dark\">\n"
	"<meta name=\"generator\" content=\"millrace " MR_VERSION "\">\n"
	"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; "
	"style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n"
	"<title>millrace report</title>\n";

static const char tail[] = "<noscript>This page needs JavaScript. The same findings as text: "
			   "millrace report</noscript>\n"
			   "</body>\n"
			   "</html>\n";

static void print_asset(const char *before, const char *path, const char *after, FILE *file)
{
	const struct mr_asset *asset = mr_asset_find(path);

	fputs(before, file);
	fwrite(asset->bytes, 1, asset->size, file);
	fputs(after, file);
}

/* In JSON '<' stands in texts only, where it can be written otherwise. */
static void print_without_tags(const char *json, FILE *file)
{
	for (size_t length; *json; json += length) {
		length = strcspn(json, "<");
		fwrite(json, 1, length, file);
		if (json[length] == '<') {
			fputs("\\u003c", file);
			length++;
		}
	}
}

static int print_data(const struct mr_summary *summary, const struct mr_findings *findings,
		      FILE *file)
{
	mr_auto(free) char *json = NULL;
	size_t size;
	FILE *memory = open_memstream(&json, &size);

	if (!memory)
		return -ENOMEM;
	int result = mr_report_print_short_json(summary, findings, MAX_ROWS, memory);
	if (fclose(memory) != 0 && result == 0)
		result = -ENOMEM;
	if (result < 0)
		return result;
	fputs("<script type=\"application/json\" id=\"report\">", file);
	print_without_tags(json, file);
	fputs("</script>\n", file);
	return 0;
}

int mr_report_print_html(const struct mr_summary *summary, const struct mr_findings *findings,
			 FILE *file)
{
	fputs(head, file);
	print_asset("<style>\n", "report.css", "</style>\n</head>\n<body>\n", file);
	int result = print_data(summary, findings, file);
	print_asset("<script type=\"module\">\n", "report.js", "</script>\n", file);
	fputs(tail, file);
	if (result < 0)
		return mr_fail_errno(-result, "make the page");
	return fflush(file) == 0 && !ferror(file) ? 0 : mr_fail_errno(errno, "write the page");
}
