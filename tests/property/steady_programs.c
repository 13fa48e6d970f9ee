/* SPDX-License-Identifier: MIT */
/* steady_programs.c - what is asked again of a program holds no more memory.
 *
 *   steady_programs RULES TARGET [[--open] FILE]...
 *
 * What a function forgets to free shows nowhere else: the context gives back
 * all it has when it is freed.  So each question is asked several times of a
 * context whose allocator counts, of each program (.glen) or loops (.loops).
 * The first times may keep what is interned; one that keeps something each time
 * fails, and so does one that is not answered: what is refused early says
 * nothing of what lies behind.  A program behind --open leaves a size open, and
 * is not rewritten. */
#include "glen/glen.h"
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WARM = 1, TIMES = 3, NODES = 300 };

/* ---- a count of the bytes that are held ---- */

typedef union head {
  size_t size;
  max_align_t align;
} head;

static size_t held;

static void *
counted(void *arg, void *block, size_t size) {
  (void)arg;
  head *old = block ? (head *)block - 1 : NULL;
  size_t had = old ? old->size : 0;
  if (!size) {
    held -= had;
    free(old);
    return NULL;
  }
  head *now = realloc(old, sizeof *now + size);
  if (!now)
    return NULL;
  held += size - had;
  now->size = size;
  return now + 1;
}

/* ---- the questions ---- */

typedef struct asked {
  glen_context *glen;
  glen_target *target;
  glen_rules *rules;
  glen_program *program; /* NULL: only loops */
  glen_result *result;
  glen_loops *loops;
  bool open; /* a size of the program is */
} asked;

/* Each answers whether it was answered. */

static bool
texts(asked *q) {
  glen_program *same = glen_program_canonical(q->glen, q->program);
  bool ok = same && glen_program_text(q->glen, q->program, true);
  glen_program_free(same);
  return ok;
}

static bool
lowering(asked *q) {
  glen_loops *l = glen_lower(q->glen, q->program, q->target, false);
  glen_loops_free(l);
  return l != NULL;
}

static glen_result *
saturated(asked *q, glen_regions regions) {
  glen_saturate_options o;
  glen_saturate_defaults(&o);
  o.explain = regions == GLEN_REGIONS_WHOLE;
  o.regions = regions;
  o.nodes = NODES;
  return glen_saturate(q->glen, q->program, q->rules, q->target, &o);
}

static bool
saturation(asked *q) {
  glen_result *r = saturated(q, GLEN_REGIONS_WHOLE);
  glen_result_free(r);
  return r != NULL;
}

static bool
saturation_by_layers(asked *q) {
  glen_result *r = saturated(q, GLEN_REGIONS_LAYERS);
  bool ok = r && glen_result_text(q->glen, r, false);
  glen_result_free(r);
  return ok;
}

/* Of one result, which is not freed in between. */
static bool
reports(asked *q) {
  glen_report all = {.json = true, .stats = true};
  glen_html html = {"title", NULL, NULL};
  return glen_result_text(q->glen, q->result, false) &&
         glen_result_report(q->glen, q->result, &all) &&
         glen_result_egraph_json(q->glen, q->result) &&
         glen_result_dot(q->glen, q->result, 20) &&
         glen_result_html(q->glen, q->result, &html);
}

static bool
maps(asked *q) {
  glen_mapped m;
  return glen_map(q->glen, q->result, NULL, &m) &&
         glen_map(q->glen, q->result, "flatten-trivial", &m) &&
         glen_map_all(q->glen, q->result, &m);
}

static bool
verdicts(asked *q) {
  return glen_result_verify(q->glen, q->result) &&
         glen_result_verified_text(q->glen, q->result, true);
}

static bool
chains(asked *q) {
  glen_explain_options o;
  glen_explained e;
  glen_explain_defaults(&o);
  return glen_result_explain(q->glen, q->result, &o, &e) &&
         glen_result_proof(q->glen, q->result);
}

static bool
equality(asked *q) {
  glen_equality e;
  return glen_programs_prove(q->glen, q->program, q->program, &e);
}

static bool
tiling(asked *q) {
  static const char *const sizes[] = {"n=5"};
  glen_code_options o;
  glen_code_defaults(&o);
  return glen_tiling(q->glen, q->program, q->target, &o, sizes, 1, true);
}

static bool
code(asked *q) {
  const char *c, *h;
  glen_loops *l = glen_loops_copy(q->glen, q->loops);
  bool ok = l && glen_emit_c(q->glen, l, "f", "f.h", &c, &h) &&
            glen_manifest(q->glen, l, "f") &&
            glen_loops_implgraph(q->glen, l, true);
  glen_loops_free(l);
  return ok;
}

static bool
code_for_devices(asked *q) {
  const char *c, *host;
  glen_loops *l = glen_loops_copy(q->glen, q->loops);
  bool ok = l && glen_bind(q->glen, l) && glen_emit_cuda(q->glen, l, "f") &&
            glen_emit_opencl(q->glen, l, "f", &c, &host);
  glen_loops_free(l);
  return ok;
}

static bool
prints(asked *q) {
  glen_loops *l = glen_loops_copy(q->glen, q->loops);
  bool ok = l != NULL;
  for (glen_printed k = 0; ok && k <= GLEN_PRINT_FUSED; k++)
    ok = glen_schedule_print(q->glen, l, k);
  ok = ok && glen_results(q->glen, l, 2);
  glen_loops_free(l);
  return ok;
}

static bool
fused(asked *q, glen_fusion way) {
  glen_loops *l = glen_loops_copy(q->glen, q->loops);
  bool ok = l && glen_schedule_auto(q->glen, l, way, NULL, 0) &&
            glen_schedule_print(q->glen, l, GLEN_PRINT_SCRIPT);
  glen_loops_free(l);
  return ok;
}

static bool
fused_min(asked *q) {
  return fused(q, GLEN_FUSE_MIN);
}

static bool
fused_smart(asked *q) {
  return fused(q, GLEN_FUSE_SMART);
}

static bool
fused_max(asked *q) {
  return fused(q, GLEN_FUSE_MAX);
}

static bool
fused_by_tiles(asked *q) {
  return fused(q, GLEN_FUSE_POST_TILE);
}

static bool
layouts(asked *q) {
  static const int64_t widths[] = {4};
  glen_loops *l = glen_loops_copy(q->glen, q->loops);
  bool ok = l && glen_give_layouts(q->glen, l, GLEN_LAYOUT_LINES, widths, 1);
  glen_loops_free(l);
  return ok;
}

static bool
code_of_result(asked *q) {
  const char *c, *h;
  const glen_program *chosen = glen_result_program(q->result);
  glen_loops *l = chosen ? glen_lower(q->glen, chosen, q->target, false) : NULL;
  bool ok = l && glen_emit_c(q->glen, l, "f", "f.h", &c, &h);
  glen_loops_free(l);
  return ok;
}

/* Files of loops, programs, and those that leave a size open. */
enum { OF_LOOPS = 1, CLOSED = 2, OPEN = 4, ANY = 7 };

#define QUESTION(f, about)                                                     \
  { #f, f, about }
static const struct {
  const char *name;
  bool (*ask)(asked *);
  unsigned about; /* kinds of files */
} questions[] = {
    QUESTION(texts, CLOSED),
    QUESTION(lowering, CLOSED | OPEN),
    QUESTION(saturation, CLOSED),
    QUESTION(reports, CLOSED),
    QUESTION(maps, CLOSED),
    QUESTION(verdicts, CLOSED),
    QUESTION(chains, CLOSED),
    QUESTION(equality, CLOSED | OPEN),
    QUESTION(tiling, OPEN),
    QUESTION(saturation_by_layers, CLOSED),
    QUESTION(code_of_result, CLOSED),
    QUESTION(code, ANY),
    QUESTION(code_for_devices, OF_LOOPS | CLOSED),
    QUESTION(prints, OF_LOOPS | CLOSED),
    QUESTION(fused_min, OF_LOOPS | CLOSED),
    QUESTION(fused_smart, OF_LOOPS | CLOSED),
    QUESTION(fused_max, OF_LOOPS | CLOSED),
    QUESTION(fused_by_tiles, OF_LOOPS | CLOSED),
    QUESTION(layouts, OF_LOOPS | CLOSED),
};

/* The least that one of the further times keeps: a name is kept now and then,
 * in a block that has room for many; what is forgotten is kept each time. */
static ptrdiff_t
kept_each_time(asked *q, bool (*question)(asked *), bool *answered) {
  ptrdiff_t least = PTRDIFF_MAX;
  *answered = true;
  for (int k = 0; k < WARM + TIMES && least; k++) {
    size_t before = held;
    *answered &= question(q);
    glen_free_strings(q->glen);
    glen_clear_diagnostics(q->glen);
    ptrdiff_t more = (ptrdiff_t)held - (ptrdiff_t)before;
    if (k >= WARM && more < least)
      least = more;
  }
  return least;
}

static bool
is_loops(const char *path) {
  size_t n = strlen(path);
  return n > 6 && !strcmp(path + n - 6, ".loops");
}

static bool
load(asked *q, const char *path) {
  bool loops = is_loops(path);
  q->program =
      loops ? NULL : glen_program_load_at(q->glen, q->target, path, NULL, 0);
  q->loops = loops        ? glen_loops_load(q->glen, q->target, path, false)
             : q->program ? glen_lower(q->glen, q->program, q->target, false)
                          : NULL;
  bool rewritten = q->program && !q->open;
  q->result = rewritten ? saturated(q, GLEN_REGIONS_WHOLE) : NULL;
  bool ok = q->loops && (q->result || !rewritten);
  if (!ok)
    printf("FAIL %s: %s\n", path, glen_take_diagnostics(q->glen, 0));
  return ok;
}

/* Is it answered, and keeps nothing? */
static bool
ask_one(asked *q, size_t i, const char *path) {
  bool answered;
  ptrdiff_t kept = kept_each_time(q, questions[i].ask, &answered);
  if (kept)
    printf("FAIL %s of %s keeps %td bytes\n", questions[i].name, path, kept);
  if (!answered)
    printf("FAIL %s of %s is not answered\n", questions[i].name, path);
  return answered && !kept;
}

static unsigned
kind_of(const asked *q) {
  return q->open ? OPEN : q->program ? CLOSED : OF_LOOPS;
}

/* How many of the questions about a file fail. */
static int
ask_all(asked *q, const char *path) {
  int failed = 0;
  for (size_t i = 0; i < sizeof questions / sizeof *questions; i++)
    if (questions[i].about & kind_of(q))
      failed += !ask_one(q, i, path);
  return failed;
}

int
main(int n, char **words) {
  if (n < 4)
    return 2;
  glen_allocator allocator = {counted, NULL};
  const char *rules = words[1];
  asked q = {.glen = glen_context_new(&allocator, 0)};
  q.target = q.glen ? glen_target_load(q.glen, words[2]) : NULL;
  q.rules =
      q.target ? glen_rules_load(q.glen, q.target, &rules, 1, NULL, 0) : NULL;
  int failed = !q.rules;
  for (int k = 3; k < n && q.rules; k++) {
    if (!strcmp(words[k], "--open")) {
      q.open = true;
      continue;
    }
    failed += load(&q, words[k]) ? ask_all(&q, words[k]) : 1;
    glen_result_free(q.result);
    glen_loops_free(q.loops);
    glen_program_free(q.program);
    q.open = false;
  }
  glen_context_free(q.glen);
  if (held)
    printf("FAIL the context keeps %zu bytes\n", held);
  return failed || held;
}
