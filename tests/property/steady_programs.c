/* SPDX-License-Identifier: MIT */
/* steady_programs.c - what is asked again of a program holds no more memory.
 *
 *   steady_programs RULES TARGET FILE...
 *
 * What a function forgets to free shows nowhere else: the context gives back
 * all it has when it is freed.  So each question is asked several times of a
 * context whose allocator counts, of each program (.glen) or loops (.loops).
 * The first times may keep what is interned; one that keeps something each time
 * fails.  A question that is refused has to give back what it had, too. */
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
} asked;

static void
texts(asked *q) {
  glen_program *same = glen_program_canonical(q->glen, q->program);
  glen_program_text(q->glen, q->program, true);
  glen_program_free(same);
}

static void
lowering(asked *q) {
  glen_loops_free(glen_lower(q->glen, q->program, q->target, false));
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

static void
saturation(asked *q) {
  glen_result_free(saturated(q, GLEN_REGIONS_WHOLE));
}

static void
saturation_by_layers(asked *q) {
  glen_result *r = saturated(q, GLEN_REGIONS_LAYERS);
  if (r)
    glen_result_text(q->glen, r, false);
  glen_result_free(r);
}

/* Of one result, which is not freed in between. */
static void
reports(asked *q) {
  glen_report all = {.json = true, .stats = true};
  glen_html html = {"title", NULL, NULL};
  glen_result_text(q->glen, q->result, false);
  glen_result_report(q->glen, q->result, &all);
  glen_result_egraph_json(q->glen, q->result);
  glen_result_dot(q->glen, q->result, 20);
  glen_result_html(q->glen, q->result, &html);
}

static void
maps(asked *q) {
  glen_mapped m;
  glen_map(q->glen, q->result, NULL, &m);
  glen_map(q->glen, q->result, "flatten-trivial", &m);
  glen_map_all(q->glen, q->result, &m);
}

static void
verdicts(asked *q) {
  glen_result_verify(q->glen, q->result);
  glen_result_verified_text(q->glen, q->result, true);
}

static void
chains(asked *q) {
  glen_explain_options o;
  glen_explained e;
  glen_explain_defaults(&o);
  glen_result_explain(q->glen, q->result, &o, &e);
  glen_result_proof(q->glen, q->result);
}

static void
equality(asked *q) {
  glen_equality e;
  glen_programs_prove(q->glen, q->program, q->program, &e);
}

static void
code(asked *q) {
  const char *c, *h, *host;
  glen_loops *l = glen_loops_copy(q->glen, q->loops);
  if (l) {
    glen_emit_c(q->glen, l, "f", "f.h", &c, &h);
    glen_manifest(q->glen, l, "f");
    glen_loops_implgraph(q->glen, l, true);
    if (glen_bind(q->glen, l)) {
      glen_emit_cuda(q->glen, l, "f");
      glen_emit_opencl(q->glen, l, "f", &c, &host);
    }
  }
  glen_loops_free(l);
}

static void
prints(asked *q) {
  static const char *const words[] = {"loops", "program", "tree", "axes",
                                      "deps"};
  glen_loops *l = glen_loops_copy(q->glen, q->loops);
  for (size_t k = 0; l && k < sizeof words / sizeof *words; k++)
    glen_schedule_print(q->glen, l, words[k]);
  if (l)
    glen_results(q->glen, l, 2);
  glen_loops_free(l);
}

static void
fused(asked *q, const char *way) {
  glen_loops *l = glen_loops_copy(q->glen, q->loops);
  if (l && glen_schedule_auto(q->glen, l, way, NULL, 0))
    glen_schedule_print(q->glen, l, "script");
  glen_loops_free(l);
}

static void
fused_min(asked *q) {
  fused(q, "min");
}

static void
fused_smart(asked *q) {
  fused(q, "smart");
}

static void
fused_max(asked *q) {
  fused(q, "max");
}

static void
fused_by_tiles(asked *q) {
  fused(q, "post-tile");
}

static void
layouts(asked *q) {
  static const int64_t widths[] = {4};
  glen_loops *l = glen_loops_copy(q->glen, q->loops);
  if (l)
    glen_give_layouts(q->glen, l, "lines", widths, 1);
  glen_loops_free(l);
}

static void
versions_for_sizes(asked *q) {
  glen_code_options o;
  glen_code_defaults(&o);
  o.keys = 2;
  glen_tiling(q->glen, q->program, q->target, &o, NULL, 0, true);
}

#define QUESTION(f, of_loops)                                                  \
  { #f, f, of_loops }
static const struct {
  const char *name;
  void (*ask)(asked *);
  bool of_loops;
} questions[] = {
    QUESTION(texts, false),
    QUESTION(lowering, false),
    QUESTION(saturation, false),
    QUESTION(reports, false),
    QUESTION(maps, false),
    QUESTION(verdicts, false),
    QUESTION(chains, false),
    QUESTION(equality, false),
    QUESTION(saturation_by_layers, false),
    QUESTION(code, true),
    QUESTION(prints, true),
    QUESTION(fused_min, true),
    QUESTION(fused_smart, true),
    QUESTION(fused_max, true),
    QUESTION(fused_by_tiles, true),
    QUESTION(layouts, true),
    QUESTION(versions_for_sizes, false),
};

/* The least that one of the further times keeps: a name is kept now and then,
 * in a block that has room for many; what is forgotten is kept each time. */
static ptrdiff_t
kept_each_time(asked *q, void (*question)(asked *)) {
  ptrdiff_t least = PTRDIFF_MAX;
  for (int k = 0; k < WARM + TIMES && least; k++) {
    size_t before = held;
    question(q);
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
  q->result = q->program ? saturated(q, GLEN_REGIONS_WHOLE) : NULL;
  if (!q->loops || (!q->result && !loops))
    printf("FAIL %s: %s\n", path, glen_take_diagnostics(q->glen, 0));
  return q->loops && (q->result || loops);
}

/* How many of the questions about a file keep something. */
static int
ask_all(asked *q, const char *path) {
  int failed = 0;
  for (size_t i = 0; i < sizeof questions / sizeof *questions; i++) {
    if (!q->program && !questions[i].of_loops)
      continue;
    ptrdiff_t kept = kept_each_time(q, questions[i].ask);
    if (kept)
      printf("FAIL %s of %s keeps %td bytes\n", questions[i].name, path, kept);
    failed += kept != 0;
  }
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
    failed += load(&q, words[k]) ? ask_all(&q, words[k]) : 1;
    glen_result_free(q.result);
    glen_loops_free(q.loops);
    glen_program_free(q.program);
  }
  glen_context_free(q.glen);
  if (held)
    printf("FAIL the context keeps %zu bytes\n", held);
  return failed || held;
}
