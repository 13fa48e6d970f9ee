/* SPDX-License-Identifier: MIT */
/* html.c - a result as one page for a browser, that needs nothing else.
 *
 * Style, script and outline of the page are files of src/report/, built in.
 * All data is one JSON text in a <script> that is not run.  In it '<', '>' and
 * '&' are written as escapes, so that no name can end the element; the script
 * puts names into the page as text, never as markup. */
#include "api/html.h"
#include "report-assets.h"
#include <string.h>

enum { LONGEST_TEXT = 200000 }; /* bytes of a program or of its loops */

/* --- data ----------------------------------------------------------------- */

/* Whole lines of it, as many as a page can hold. */
static void
json_lines(bs_json *j, const char *key, const char *s) {
  bs_text text;
  size_t n = strlen(s), left = 0;
  bs_text_init(&text, j->out->heap);
  if (n > LONGEST_TEXT) {
    for (n = LONGEST_TEXT; n && s[n - 1] != '\n'; n--)
      continue;
    left = strlen(s + n);
  }
  bs_putn(&text, s, n);
  if (left)
    bs_putf(&text, "... and %zu bytes more, left out of this page\n", left);
  bs_json_string(j, key, bs_text_str(&text));
  bs_text_done(&text);
}

static void
json_text_of(bs_json *j, const char *key, const gs_program *p) {
  bs_text text;
  bs_text_init(&text, j->out->heap);
  gs_print(p, true, &text);
  json_lines(j, key, bs_text_str(&text));
  bs_text_done(&text);
}

static void
json_summary(const glen_result *r, bs_json *j) {
  const glen_summary *s = &r->summary;
  bs_json_object(j, "summary");
  bs_json_string(j, "stop", s->stop);
  bs_json_int(j, "iterations", s->iterations);
  bs_json_int(j, "nodes", s->nodes);
  bs_json_int(j, "classes", s->classes);
  bs_json_real(j, "cost_before", s->cost_before);
  bs_json_real(j, "cost_after", s->cost_after);
  bs_json_real(j, "bound", s->bound);
  bs_json_bool(j, "optimal", s->optimal);
  bs_json_end(j);
}

static void
json_rules(const glen_result *r, bs_json *j) {
  bs_text place;
  bs_json_array(j, "rules");
  for (uint32_t k = 0; k < r->n_used_rules; k++) {
    const rl_rule *rule = r->used_rules[k];
    bs_text_init(&place, j->out->heap);
    bs_put_place(&r->ctx->diags, rule->span, &place);
    bs_json_object(j, NULL);
    bs_json_string(j, "name", rule->name);
    bs_json_string(j, "place", bs_text_str(&place));
    bs_json_string(j, "intent", rule->intent ? rule->intent : "");
    bs_json_end(j);
    bs_text_done(&place);
  }
  bs_json_end(j);
}

/* By iteration: the graph's size, and [rule, nodes it made] pairs. */
static void
json_growth(const glen_result *r, bs_json *j) {
  uint32_t n, at = 0;
  const eg_iteration *its = eg_runner_iterations(r->run.runner, &n);
  bs_json_array(j, "growth");
  for (uint32_t k = 0; k < n; k++) {
    bs_json_object(j, NULL);
    bs_json_int(j, "nodes", its[k].nodes);
    bs_json_int(j, "classes", its[k].classes);
    bs_json_object(j, "made");
    for (; at < r->growth.len && r->growth.data[at].iteration <= k; at++)
      bs_json_int(j, rl_at(r->run.rules, r->growth.data[at].rule)->name,
                  (int64_t)r->growth.data[at].nodes);
    bs_json_end(j);
    bs_json_end(j);
  }
  bs_json_end(j);
}

static void
json_page(const glen_result *result, const glen_html *what, bs_text *out) {
  bs_json j;
  bs_json_init(&j, out, 0);
  bs_json_object(&j, NULL);
  bs_json_int(&j, "schema", 1);
  bs_json_string(&j, "title", what->title);
  bs_json_string(&j, "version", glen_version());
  json_summary(result, &j);
  json_text_of(&j, "before", result->input);
  json_text_of(&j, "after", result->program.program);
  api_html_layers(result, &j);
  api_html_costs(result, &j);
  json_rules(result, &j);
  json_growth(result, &j);
  api_html_egraph(result, &j);
  if (what->loops)
    json_lines(&j, "loops", what->loops);
  /* JSON within JSON, as a string: it is read by itself. */
  if (what->explained)
    bs_json_string(&j, "explained", what->explained);
  bs_json_end(&j);
}

/* --- the page ------------------------------------------------------------- */

/* Only strings of the JSON can hold these characters. */
static void
put_script_data(bs_text *out, const char *s) {
  for (; *s; s++)
    if (*s == '<' || *s == '>' || *s == '&')
      bs_putf(out, "\\u%04x", (unsigned)*s);
    else
      bs_putc(out, *s);
}

static void
put_escaped(bs_text *out, const char *s) {
  for (; *s; s++)
    switch (*s) {
    case '<':
      bs_put(out, "&lt;");
      break;
    case '>':
      bs_put(out, "&gt;");
      break;
    case '&':
      bs_put(out, "&amp;");
      break;
    case '"':
      bs_put(out, "&quot;");
      break;
    default:
      bs_putc(out, *s);
    }
}

static void
put_part(const glen_result *result, const glen_html *what, const char *mark,
         size_t n, bs_text *out) {
  bs_text data;
  if (n == 5 && !memcmp(mark, "TITLE", n)) {
    put_escaped(out, what->title);
  } else if (n == 5 && !memcmp(mark, "STYLE", n)) {
    bs_put(out, report_css);
  } else if (n == 6 && !memcmp(mark, "SCRIPT", n)) {
    bs_put(out, report_elements);
    bs_put(out, report_terms);
    bs_put(out, report_charts);
    bs_put(out, report_places);
    bs_put(out, report_graph);
    bs_put(out, report_main);
  } else {
    bs_text_init(&data, out->heap);
    json_page(result, what, &data);
    put_script_data(out, bs_text_str(&data));
    bs_text_done(&data);
  }
}

/* The outline, with what its marks `@NAME@` stand for. */
const char *
glen_result_html(glen_context *ctx, const glen_result *result,
                 const glen_html *what) {
  API_ENTER(ctx, NULL);
  bs_text out;
  bs_text_init(&out, &ctx->heap);
  for (const char *at = report_html;;) {
    const char *mark = strchr(at, '@');
    const char *end = mark ? strchr(mark + 1, '@') : NULL;
    if (!end) {
      bs_put(&out, at);
      return api_string(ctx, &out);
    }
    bs_putn(&out, at, (size_t)(mark - at));
    put_part(result, what, mark + 1, (size_t)(end - mark - 1), &out);
    at = end + 1;
  }
}
