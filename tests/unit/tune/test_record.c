/* SPDX-License-Identifier: MIT */
/* test_record.c - results of tuning: their file, their table and their JSON. */
#include "../context.h"
#include "tune/tune.h"
#include <stdio.h>
#include <unistd.h>

static po_program program;
static tu_options options;
static char folder[64];

static void
start(void) {
  fixture_start();
  strcpy(folder, "glen-test-tune-XXXXXX");
  cr_assert(mkdtemp(folder));
  options = (tu_options){.file = bs_arena_printf(&arena, "%s/r.json", folder),
                         .version = "1.2",
                         .program_name = "p",
                         .rounds = 2};
}

static void
stop(void) {
  remove(options.file);
  rmdir(folder);
  fixture_stop();
}

static const tu_candidate found[] = {
    {.strategy = {.name = "as it is", .script = "", .cost = 3000},
     .code = "aa",
     .status = TU_OK,
     .seconds = 0.5,
     .rounds = 2},
    {.strategy = {.name = "split", .script = "split a 4\n", .cost = 1000},
     .code = "bb",
     .status = TU_OK,
     .seconds = 0.25,
     .rounds = 3},
    {.strategy = {.name = "slow", .script = "s\n", .cost = 2000},
     .code = "cc",
     .status = TU_SLOW},
    {.strategy = {.name = "ends", .script = "e\n", .cost = 4000},
     .code = "dd",
     .status = TU_FAILED,
     .message = "it ended"},
    {.strategy = {.name = "differs", .script = "d\n", .cost = 500},
     .code = "ee",
     .status = TU_MISMATCH,
     .rounds = 1,
     .message = "element 3"},
    {.strategy = {.name = "fresh", .script = "f\n", .cost = 600},
     .code = "ff",
     .status = TU_NEW},
};
enum { FOUND = sizeof found / sizeof found[0] };

/* A search over the first candidates; nothing of them is known yet, unless
 * `results`. */
static tu_search
search(const char *key, uint32_t first, uint32_t n, bool results) {
  tu_search s = {.ctx = &ctx,
                 .program = &program,
                 .options = &options,
                 .key = key,
                 .compiler = "cc 1",
                 .best = results ? 1 : 0};
  for (uint32_t k = first; k < first + n; k++) {
    tu_candidate c = {.strategy = found[k].strategy, .code = found[k].code};
    bs_push(&heap, &s.list, results ? found[k] : c);
  }
  return s;
}

static void
write_text(const char *text) {
  FILE *f = fopen(options.file, "w");
  cr_assert(f && fputs(text, f) >= 0 && !fclose(f));
}

static const char *
text_of_file(void) {
  bs_text t;
  FILE *f = fopen(options.file, "r");
  cr_assert(f);
  bs_text_init(&t, &heap);
  for (int c; (c = getc(f)) != EOF;)
    bs_putc(&t, (char)c);
  fclose(f);
  return bs_text_str(&t);
}

static uint32_t
count(const char *text, const char *word) {
  uint32_t n = 0;
  for (; (text = strstr(text, word)); text++)
    n++;
  return n;
}

static void
is_as_found(const tu_candidate *c, uint32_t k) {
  cr_expect_eq(c->status, found[k].status, "%u", k);
  cr_expect_eq(c->rounds, found[k].rounds, "%u", k);
  cr_expect_eq(c->seconds, found[k].seconds, "%u", k);
  cr_expect_eq(!c->message, !found[k].message, "%u", k);
  if (c->message)
    cr_expect_str_eq(c->message, found[k].message);
}

Test(record, what_was_written_is_known_again, .init = start, .fini = stop) {
  tu_search s = search("k", 0, FOUND, true), again = search("k", 0, FOUND, 0);
  cr_assert(tu_write_record(&s), "%s", faults());
  cr_assert(tu_read_record(&again), "%s", faults());
  for (uint32_t k = 0; k < FOUND; k++)
    is_as_found(&again.list.data[k], k);
  cr_expect_eq(again.resumed, FOUND - 1, "what was not run is not known");
}

Test(record, the_file_is_written_whole, .init = start, .fini = stop) {
  tu_search s = search("k", 0, 2, true);
  cr_assert(tu_write_record(&s));
  cr_expect_str_eq(text_of_file(), "{\n"
                                   " \"schema\": 1,\n"
                                   " \"kind\": \"glen-tune\",\n"
                                   " \"entries\": [\n"
                                   "  {\n"
                                   "   \"key\": \"k\",\n"
                                   "   \"program\": \"p\",\n"
                                   "   \"glen\": \"1.2\",\n"
                                   "   \"target\": \"default\",\n"
                                   "   \"compiler\": \"cc 1\",\n"
                                   "   \"chosen\": \"split\",\n"
                                   "   \"candidates\": [\n"
                                   "    {\n"
                                   "     \"name\": \"as it is\",\n"
                                   "     \"code\": \"aa\",\n"
                                   "     \"status\": \"ok\",\n"
                                   "     \"rounds\": 2,\n"
                                   "     \"cost\": 3000.0,\n"
                                   "     \"script\": \"\",\n"
                                   "     \"seconds\": 0.5\n"
                                   "    },\n"
                                   "    {\n"
                                   "     \"name\": \"split\",\n"
                                   "     \"code\": \"bb\",\n"
                                   "     \"status\": \"ok\",\n"
                                   "     \"rounds\": 3,\n"
                                   "     \"cost\": 1000.0,\n"
                                   "     \"script\": \"split a 4\\n\",\n"
                                   "     \"seconds\": 0.25\n"
                                   "    }\n"
                                   "   ]\n"
                                   "  }\n"
                                   " ]\n"
                                   "}");
}

Test(record, the_target_is_named, .init = start, .fini = stop) {
  program.target = target_of("(target t)");
  tu_search s = search("k", 0, 1, true);
  s.best = 0;
  cr_assert(tu_write_record(&s));
  cr_expect(strstr(text_of_file(), "\"target\": \"t\""));
}

Test(record, entries_of_other_keys_stay, .init = start, .fini = stop) {
  tu_search s = search("k", 0, 2, true), other = search("o", 0, 3, true);
  cr_assert(tu_write_record(&s) && tu_write_record(&other));
  cr_assert(tu_write_record(&s) && tu_write_record(&other));
  const char *text = text_of_file();
  cr_expect_eq(count(text, "\"key\""), 2);
  cr_expect_eq(count(text, "\"as it is\""), 2);
  cr_expect_eq(count(text, "\"slow\""), 2, "a name and a status");
  cr_expect_lt(strstr(text, "\"k\""), strstr(text, "\"o\""));
}

Test(record, candidates_that_were_not_looked_at_stay, .init = start,
     .fini = stop) {
  tu_search s = search("k", 0, 3, true), fewer = search("k", 0, 2, true);
  cr_assert(tu_write_record(&s) && tu_write_record(&fewer));
  tu_search again = search("k", 0, 3, false);
  cr_assert(tu_read_record(&again));
  cr_expect_eq(again.resumed, 3);
  cr_expect_eq(count(text_of_file(), "\"split\""), 2, "once, and chosen");
}

Test(record, other_code_is_measured_anew, .init = start, .fini = stop) {
  tu_search s = search("k", 0, 3, true), again = search("k", 0, 3, false);
  cr_assert(tu_write_record(&s));
  again.list.data[1].code = "b";
  again.list.data[2].strategy.name = "slower";
  cr_assert(tu_read_record(&again));
  cr_expect_eq(again.resumed, 1);
  cr_expect_eq(again.list.data[0].status, TU_OK);
  cr_expect_eq(again.list.data[1].status, TU_NEW);
  cr_expect_eq(again.list.data[2].status, TU_NEW);
  tu_search other = search("other", 0, 3, false);
  cr_assert(tu_read_record(&other));
  cr_expect_eq(other.resumed, 0);
}

Test(record, no_file_is_an_empty_one, .init = start, .fini = stop) {
  tu_search s = search("k", 0, 2, true);
  cr_expect(tu_read_record(&s));
  cr_expect_eq(s.resumed, 0);
  const char *file = options.file;
  options.file = NULL;
  cr_expect(tu_read_record(&s) && tu_write_record(&s));
  options.file = file;
  cr_expect(access(file, F_OK));
}

#define CANDIDATE(status, more)                                                \
  "{\"name\": \"n\", \"code\": \"c\", \"status\": \"" status "\"" more "}"
#define ENTRY(candidates) "{\"key\": \"k\", \"candidates\": [" candidates "]}"
#define FILE_OF(entries)                                                       \
  "{\"schema\": 1, \"kind\": \"glen-tune\", \"entries\": [" entries "]}"
#define OF_CANDIDATE(status, more) FILE_OF(ENTRY(CANDIDATE(status, more)))
#define BAD_ENTRY(n)               "entry " n " is malformed"
#define NO_TUNE_FILE               "this is not a file of tuning results"

static const struct {
  const char *text, *fault; /* NULL: it is read */
} texts[] = {
    {FILE_OF(""), NULL},
    {FILE_OF(ENTRY("")), NULL},
    {OF_CANDIDATE("ok", ", \"seconds\": 0.5, \"rounds\": 1"), NULL},
    {OF_CANDIDATE("ok", ", \"seconds\": 2, \"rounds\": 2147483647"), NULL},
    {OF_CANDIDATE("slow", ", \"rounds\": 0"), NULL},
    {OF_CANDIDATE("new", ", \"rounds\": 0"), NULL},
    {OF_CANDIDATE("failed", ", \"rounds\": 0, \"message\": 7"), NULL},
    {OF_CANDIDATE("ok", ", \"seconds\": 0.5"), BAD_ENTRY("1")},
    {OF_CANDIDATE("ok", ", \"seconds\": 0.5, \"rounds\": -1"), BAD_ENTRY("1")},
    {OF_CANDIDATE("ok", ", \"seconds\": 0.5, \"rounds\": 1.5"), BAD_ENTRY("1")},
    {OF_CANDIDATE("ok", ", \"seconds\": 0.5, \"rounds\": 2147483648"),
     BAD_ENTRY("1")},
    {OF_CANDIDATE("ok", ", \"rounds\": 1"), BAD_ENTRY("1")},
    {OF_CANDIDATE("ok", ", \"seconds\": 0, \"rounds\": 1"), BAD_ENTRY("1")},
    {OF_CANDIDATE("ok", ", \"seconds\": -1, \"rounds\": 1"), BAD_ENTRY("1")},
    {OF_CANDIDATE("ok", ", \"seconds\": \"1\", \"rounds\": 1"), BAD_ENTRY("1")},
    {OF_CANDIDATE("well", ", \"seconds\": 1, \"rounds\": 1"), BAD_ENTRY("1")},
    {FILE_OF(ENTRY("7")), BAD_ENTRY("1")},
    {FILE_OF(ENTRY("{\"code\": \"c\", \"status\": \"slow\", \"rounds\": 0}")),
     BAD_ENTRY("1")},
    {FILE_OF(ENTRY("{\"name\": \"n\", \"status\": \"slow\", \"rounds\": 0}")),
     BAD_ENTRY("1")},
    {FILE_OF(ENTRY("{\"name\": \"n\", \"code\": \"c\", \"rounds\": 0}")),
     BAD_ENTRY("1")},
    {FILE_OF(ENTRY("") ", 7"), BAD_ENTRY("2")},
    {FILE_OF(ENTRY("") ", " ENTRY("") ", {\"key\": \"k\"}"), BAD_ENTRY("3")},
    {FILE_OF("{\"candidates\": []}"), BAD_ENTRY("1")},
    {FILE_OF("{\"key\": 1, \"candidates\": []}"), BAD_ENTRY("1")},
    {"{\"schema\": 2, \"kind\": \"glen-tune\", \"entries\": []}",
     "its schema is not 1: another version wrote it"},
    {"{\"kind\": \"glen-tune\", \"entries\": []}",
     "its schema is not 1: another version wrote it"},
    {"{\"schema\": 1, \"kind\": \"glen-tune\", \"entries\": {}}",
     "\"entries\" is not a list"},
    {"{\"schema\": 1, \"kind\": \"glen-tune\"}", "\"entries\" is not a list"},
    {"{\"schema\": 1, \"kind\": \"tune\", \"entries\": []}", NO_TUNE_FILE},
    {"{\"schema\": 1, \"entries\": []}", NO_TUNE_FILE},
    {"[]", NO_TUNE_FILE},
    {"{", "line 1, column 1: "},
    {"{\"a\": 1, \"a\": 1}", "duplicate object key"},
};

/* A file that is not of this form is an error, and is left as it is. */
Test(record, what_is_no_file_of_results, .init = start, .fini = stop) {
  for (size_t k = 0; k < sizeof texts / sizeof texts[0]; k++) {
    tu_search s = search("k", 0, 2, true);
    write_text(texts[k].text);
    bs_diags_init(&diags, &heap);
    cr_expect_eq(tu_read_record(&s), !texts[k].fault, "%s", texts[k].text);
    cr_expect_eq(diags.list.len > 0, texts[k].fault != NULL, "%s",
                 texts[k].text);
    if (!texts[k].fault)
      continue;
    cr_expect(strstr(faults(), texts[k].fault), "%s\n%s", texts[k].text,
              faults());
    cr_expect(strstr(faults(), options.file) && strstr(faults(), "--tune"));
    cr_expect_not(tu_write_record(&s));
    cr_expect_str_eq(text_of_file(), texts[k].text);
  }
}

Test(record, a_folder_is_no_file, .init = start, .fini = stop) {
  tu_search s = search("k", 0, 1, false);
  options.file = folder;
  cr_expect_not(tu_read_record(&s));
  cr_expect(diags.list.len == 1);
  options.file = bs_arena_printf(&arena, "%s/r.json", folder);
}

static const char *
report_of(const tu_search *s, void put(const tu_search *, bs_text *)) {
  bs_text out;
  bs_text_init(&out, &heap);
  put(s, &out);
  return bs_text_str(&out);
}

Test(report, a_line_for_each_candidate, .init = start, .fini = stop) {
  tu_search s = search("k", 0, FOUND, true);
  cr_expect_str_eq(report_of(&s, tu_put_report),
                   "          time   ratio    predicted  strategy\n"
                   "   5.000e-01 s    2.00         3000  as it is\n"
                   "*  2.500e-01 s    1.00         1000  split\n"
                   "          slow                 2000  slow\n"
                   "        failed                 4000  ends\n"
                   "    it ended\n"
                   "      mismatch                  500  differs\n"
                   "    element 3\n"
                   "           new                  600  fresh\n"
                   "chosen: split; the cost model would choose: differs\n");
}

Test(report, what_was_known_and_what_was_stopped, .init = start, .fini = stop) {
  tu_search s = search("k", 0, 1, true);
  s.best = 0;
  s.resumed = 7;
  s.stopped = true;
  s.list.data[0].seconds = 0;
  const char *end = bs_arena_printf(
      &arena,
      "*  0.000e+00 s    1.00         3000  as it is\n"
      "chosen: as it is; the cost model would choose: as it is\n"
      "7 known from %s\nstopped: the best so far was taken\n",
      options.file);
  const char *text = report_of(&s, tu_put_report);
  cr_expect_str_eq(strchr(text, '\n') + 1, end);
}

Test(report, as_json, .init = start, .fini = stop) {
  tu_search s = search("k", 1, 3, true);
  s.best = 0;
  s.resumed = 2;
  cr_expect_str_eq(report_of(&s, tu_json_report),
                   "{\n"
                   " \"schema\": 1,\n"
                   " \"key\": \"k\",\n"
                   " \"compiler\": \"cc 1\",\n"
                   " \"chosen\": \"split\",\n"
                   " \"stopped\": false,\n"
                   " \"resumed\": 2,\n"
                   " \"candidates\": [\n"
                   "  {\n"
                   "   \"name\": \"split\",\n"
                   "   \"status\": \"ok\",\n"
                   "   \"seconds\": 0.25,\n"
                   "   \"rounds\": 3,\n"
                   "   \"cost\": 1000.0,\n"
                   "   \"code\": \"bb\",\n"
                   "   \"script\": \"split a 4\\n\"\n"
                   "  },\n"
                   "  {\n"
                   "   \"name\": \"slow\",\n"
                   "   \"status\": \"slow\",\n"
                   "   \"seconds\": null,\n"
                   "   \"rounds\": 0,\n"
                   "   \"cost\": 2000.0,\n"
                   "   \"code\": \"cc\",\n"
                   "   \"script\": \"s\\n\"\n"
                   "  },\n"
                   "  {\n"
                   "   \"name\": \"ends\",\n"
                   "   \"status\": \"failed\",\n"
                   "   \"seconds\": null,\n"
                   "   \"rounds\": 0,\n"
                   "   \"cost\": 4000.0,\n"
                   "   \"code\": \"dd\",\n"
                   "   \"message\": \"it ended\",\n"
                   "   \"script\": \"e\\n\"\n"
                   "  }\n"
                   " ]\n"
                   "}\n");
}
