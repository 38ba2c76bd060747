/* SPDX-License-Identifier: Apache-2.0
 *
 * The HTML report: the viewer's modules for findings, with the findings beside them, in one file. It is opened from a
 * disk, where a page may load nothing, so everything is inside:
 *
 *     <style>                     style.css pages.css
 *     <script type=importmap>     "millrace/dom.js": "data:text/javascript,…", …
 *     <script id=report>          the findings as JSON
 *     <script type=module>        import "millrace/report.js"
 *
 * A module that is a data: URL has no place that "./dom.js" could be relative to; its imports become the names of the
 * map. Names in a trace may hold anything: '<' never appears in the JSON, so that nothing in it ends the script, and
 * the modules make text nodes of it.
 */
#include "report/report.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "report/assets.h"

#define ENTRY  "report.js"
#define IMPORT "from \"./"
#define PREFIX "millrace/"

enum {
	MAX_ROWS = 500
};

static const char *const style_sheets[] = {"style.css", "pages.css"};

static const char head[] =
	"<!doctype html>\n"
	"<html lang=\"en\">\n"
	"<head>\n"
	"<meta charset=\"utf-8\">\n"
	"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	"<meta name=\"color-scheme\" content=\"light dark\">\n"
	"<meta name=\"generator\" content=\"millrace " MR_VERSION "\">\n"
	"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; "
	"style-src 'unsafe-inline'; script-src 'unsafe-inline' data:\">\n"
	"<title>millrace report</title>\n";

static const char tail[] = "<script type=\"module\">import \"" PREFIX ENTRY "\";</script>\n"
			   "<noscript>This page needs JavaScript. The same findings as text: "
			   "millrace report</noscript>\n"
			   "</body>\n"
			   "</html>\n";

/* ---- modules -------------------------------------------------------------------------------------- */

/* Marks a module and all that it needs, by its place in mr_assets. */
static void mark_modules(const struct mr_asset *module, bool *is_needed)
{
	const char *at = module->bytes;

	if (is_needed[module - mr_assets])
		return;
	is_needed[module - mr_assets] = true;
	while ((at = strstr(at, IMPORT))) {
		at += strlen(IMPORT);
		mr_auto(free) char *path = strndup(at, strcspn(at, "\""));
		const struct mr_asset *needed = path ? mr_asset_find(path) : NULL;

		if (needed)
			mark_modules(needed, is_needed);
	}
}

/* What a URL or the JSON around it would take for something else. */
static void print_url_byte(unsigned char byte, FILE *file)
{
	if (byte < ' ' || byte >= 0x7f || strchr("%#\"\\<", byte))
		fprintf(file, "%%%02X", byte);
	else
		fputc(byte, file);
}

static void print_module(const struct mr_asset *module, FILE *file)
{
	const char *text = module->bytes;

	fprintf(file, "\"" PREFIX "%s\":\"data:text/javascript;charset=utf-8,", module->path);
	for (size_t i = 0; i < module->size; i++) {
		if (strncmp(text + i, IMPORT, strlen(IMPORT)) == 0) {
			fputs("from %22" PREFIX, file);
			i += strlen(IMPORT) - 1;
		} else {
			print_url_byte((unsigned char)text[i], file);
		}
	}
	fputc('"', file);
}

static int print_modules(FILE *file)
{
	mr_auto(free) bool *is_needed = calloc(mr_asset_count, sizeof *is_needed);
	const char *separator = "";

	if (!is_needed)
		return -ENOMEM;
	mark_modules(mr_asset_find(ENTRY), is_needed);
	fputs("<script type=\"importmap\">{\"imports\":{", file);
	for (size_t i = 0; i < mr_asset_count; i++) {
		if (!is_needed[i])
			continue;
		fputs(separator, file);
		print_module(&mr_assets[i], file);
		separator = ",\n";
	}
	fputs("}}</script>\n", file);
	return 0;
}

/* ---- the rest ------------------------------------------------------------------------------------- */

static void print_style(FILE *file)
{
	fputs("<style>\n", file);
	for (size_t i = 0; i < mr_countof(style_sheets); i++) {
		const struct mr_asset *sheet = mr_asset_find(style_sheets[i]);

		fwrite(sheet->bytes, 1, sheet->size, file);
	}
	fputs("</style>\n", file);
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
	print_style(file);
	int result = print_modules(file);
	fputs("</head>\n<body>\n", file);
	if (result == 0)
		result = print_data(summary, findings, file);
	fputs(tail, file);
	if (result < 0)
		return mr_fail_errno(-result, "make the page");
	return fflush(file) == 0 && !ferror(file) ? 0 : mr_fail_errno(errno, "write the page");
}
