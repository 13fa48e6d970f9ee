/* SPDX-License-Identifier: MIT */
/* api_run.c - arrays in, arrays out: the interpreter and compiled kernels. */
#include "api/api.h"
#include "codegen/unit/unit_profile.h"
#include "poly/loops/execute.h"
#include "base/hash.h"
#include "glenside/interpret/interpret.h"
#include "glenside/target/machine.h"
#include <assert.h>

#include <math.h>
#include <string.h>

static glen_tensors *
new_tensors(glen_context *ctx, const gs_program *p, bool outputs) {
  glen_tensors *t = BS_NEW(&ctx->arena, glen_tensors);
  t->ctx = ctx;
  t->program = p;
  t->heap = outputs ? p->ctx.heap : &ctx->heap;
  t->outputs = outputs;
  t->n = outputs ? p->outputs.len : p->inputs.len;
  t->data = BS_NEWS(&ctx->arena, gs_tensor, t->n);
  return t;
}

void
glen_tensors_free(glen_tensors *t) {
  if (!t)
    return;
  for (uint32_t k = 0; k < t->n; k++)
    gs_tensor_done(t->heap, &t->data[k]);
  t->n = 0;
}

uint32_t
glen_tensors_count(const glen_tensors *t) {
  return t->n;
}

static const gs_named *
named(const glen_tensors *t, uint32_t k) {
  return t->outputs ? &t->program->outputs.data[k]
                    : &t->program->inputs.data[k];
}

const char *
glen_tensor_name(const glen_tensors *t, uint32_t k) {
  return named(t, k)->name;
}

/* ---- inputs ---- */

glen_tensors *
glen_inputs_new(glen_context *ctx, const glen_program *program, uint64_t seed) {
  API_ENTER(ctx, NULL);
  const gs_program *p = program->program;
  if (!api_has_numbers(ctx, p, "a run"))
    return NULL;
  glen_tensors *t = new_tensors(ctx, p, false);
  for (uint32_t k = 0; k < t->n; k++) {
    gs_type type;
    gs_type_at(p, p->inputs.data[k].term, &type);
    const char *name = p->inputs.data[k].name;
    const gs_data *data = gs_find_data(p, name);
    if (data && !gs_data_read(&ctx->gs, data, &type, &t->data[k]))
      return NULL;
    if (data)
      continue;
    gs_tensor_init(t->heap, &t->data[k], &type);
    gs_tensor_fill(&t->data[k], seed, name);
  }
  return t;
}

/* Weights whose elements are in files are counted, not named. */
void
api_hint_inputs(glen_context *ctx, const gs_program *p) {
  uint32_t stored = 0;
  bs_text names;
  bs_text_init(&names, &ctx->heap);
  for (uint32_t k = 0; k < p->inputs.len; k++) {
    const char *name = p->inputs.data[k].name;
    if (gs_find_data(p, name))
      stored++;
    else
      bs_putf(&names, "%s%s", names.len ? ", " : "", name);
  }
  if (stored)
    bs_putf(&names, "%s%u with elements in files", names.len ? ", and " : "",
            stored);
  bs_hint(&ctx->diags, "its inputs are: %s", bs_text_str(&names));
  bs_text_done(&names);
}

/* The number of the input of that name; without a name, of the only one whose
 * elements the program does not have; UINT32_MAX: there is none, or there are
 * several. */
static uint32_t
number_of_input(const glen_tensors *t, const char *name) {
  uint32_t found = UINT32_MAX;
  for (uint32_t k = 0; k < t->n; k++) {
    const char *known = glen_tensor_name(t, k);
    if (name ? strcmp(known, name) != 0 : !!gs_find_data(t->program, known))
      continue;
    if (found != UINT32_MAX)
      return UINT32_MAX;
    found = k;
  }
  return found;
}

bool
api_find_input(glen_context *ctx, const glen_tensors *t, const char *name,
               const char *what, uint32_t *out) {
  *out = number_of_input(t, name);
  if (*out != UINT32_MAX)
    return true;
  bs_error(&ctx->diags, BS_NOWHERE, "unknown-input",
           name ? "the program has no input named %s"
                : "say which input %s is for, as NAME=FILE",
           name ? name : what);
  api_hint_inputs(ctx, t->program);
  return false;
}

bool
glen_input_load(glen_context *ctx, glen_tensors *inputs, const char *name,
                const char *npy_path) {
  API_ENTER(ctx, false);
  const gs_program *p = inputs->program;
  gs_tensor read;
  gs_type type;
  uint32_t k;
  if (!api_find_input(ctx, inputs, name, npy_path, &k))
    return false;
  gs_type_at(p, p->inputs.data[k].term, &type);
  if (!gs_npy_read(&ctx->gs, npy_path, &type, &read))
    return false;
  gs_tensor_done(inputs->heap, &inputs->data[k]);
  inputs->data[k] = read;
  return true;
}

/* ---- execution ---- */

glen_tensors *
glen_interpret(glen_context *ctx, const glen_program *program,
               const glen_tensors *inputs) {
  API_ENTER(ctx, NULL);
  if (!api_has_numbers(ctx, program->program, "the interpreter"))
    return NULL;
  bs_stage_begin(&ctx->governor, "the interpreter", 1, 1);
  glen_tensors *t = new_tensors(ctx, program->program, true);
  return gs_interpret(program->program, inputs->data, t->data) ? t : NULL;
}

glen_tensors *
glen_rounding_bounds(glen_context *ctx, const glen_program *program,
                     const glen_tensors *inputs) {
  API_ENTER(ctx, NULL);
  const gs_program *p = program->program;
  if (!api_has_numbers(ctx, p, "the interpreter"))
    return NULL;
  bs_stage_begin(&ctx->governor, "the interpreter", 1, 1);
  glen_tensors *t = new_tensors(ctx, p, true);
  glen_tensors *bounds = new_tensors(ctx, p, true);
  bool ok = gs_interpret_bounded(p, inputs->data, t->data, bounds->data);
  glen_tensors_free(t);
  return ok ? bounds : NULL;
}

glen_tensors *
glen_loops_interpret(glen_context *ctx, const glen_loops *loops,
                     const glen_tensors *inputs) {
  API_ENTER(ctx, NULL);
  const po_program *p = loops->loops;
  glen_tensors *t = new_tensors(ctx, p->source, true);
  for (uint32_t k = 0; k < t->n; k++) {
    gs_type type;
    gs_type_at(p->source, p->source->outputs.data[k].term, &type);
    gs_tensor_init(t->heap, &t->data[k], &type);
  }
  return po_execute(p, inputs->data, t->data) ? t : NULL;
}

/* The time that so many cores of the target need for a step at least, where
 * each moves its share of the bytes from the smallest cache that holds it; 0:
 * it is not known what the step computes, or how fast the target is. */
static double
least_seconds(const gs_target *t, const cg_step *s, double cores) {
  double hz = 1e9 * t->frequency_ghz;
  if (s->operations < 0 || hz <= 0 || t->flops_per_cycle <= 0 ||
      t->memory_bytes_per_cycle <= 0)
    return 0;
  double share = s->bytes / cores;
  return fmax(s->operations / cores / t->flops_per_cycle,
              share / gs_bytes_a_cycle(t, share)) /
         hz;
}

/* The cores of the target that so many threads run on; 0: one on each. */
static double
cores_of(const gs_target *t, uint32_t threads) {
  double all = (double)gs_cores(t);
  return threads ? fmin(threads, all) : all;
}

static void
tell_profile(glen_context *ctx, const gs_target *target, double cores,
             const cg_profile *from, glen_profile *to) {
  glen_profile_step *steps =
      BS_NEWS(&ctx->arena, glen_profile_step, from->steps.len + 1u);
  for (uint32_t k = 0; k < from->steps.len; k++) {
    const cg_step *s = &from->steps.data[k];
    steps[k] = (glen_profile_step){.layer = s->layer,
                                   .kernel = s->kernel,
                                   .kind = s->kind,
                                   .seconds = s->seconds,
                                   .operations = s->operations,
                                   .bytes = s->bytes,
                                   .least = least_seconds(target, s, cores)};
  }
  *to = (glen_profile){steps, from->steps.len};
}

glen_tensors *
glen_build_and_run(glen_context *ctx, const glen_loops *loops,
                   const glen_tensors *inputs, const glen_build_options *build,
                   double *seconds) {
  return glen_build_and_run_at(ctx, NULL, loops, inputs, build, seconds);
}

glen_tensors *
glen_build_and_run_at(glen_context *ctx, const glen_loops *general,
                      const glen_loops *loops, const glen_tensors *inputs,
                      const glen_build_options *build, double *seconds) {
  ctx->interrupt = 0;
  API_ENTER_LISTENING(ctx, NULL);
  const po_program *p = loops->loops;
  cg_profile profile = {0};
  cg_build_options options = {.cc = build->cc,
                              .flags = build->flags,
                              .n_flags = build->n_flags,
                              .sanitize = build->sanitize,
                              .keep = build->keep,
                              .threads = (int)build->threads,
                              .interrupt = &ctx->interrupt,
                              .profile = build->profile ? &profile : NULL,
                              .variants = loops->variants,
                              .n_variants = loops->n_variants};
  if (!api_knows_sizes(ctx, p, "a run"))
    return NULL;
  if (general) {
    options.general = general->loops;
    options.keys = (cg_keys){general->n_keys, general->keys};
    options.sizes = api_sizes_of(ctx, options.general, loops);
    if (!options.sizes)
      return NULL;
  }
  glen_tensors *t = new_tensors(ctx, p->source, true);
  bool ok = cg_build_and_run(p, &options, inputs->data, t->data,
                             build->repeats ? build->repeats : 1, seconds);
  if (ok && build->profile)
    tell_profile(ctx, p->target, cores_of(p->target, build->threads), &profile,
                 build->profile);
  bs_vec_done(p->ctx.heap, &profile.steps);
  return ok ? t : NULL;
}

/* ---- looking at arrays ---- */

static void
put_element(bs_text *text, const gs_tensor *t, int64_t i) {
  double x = gs_tensor_get(t, i);
  if (gs_dtype_table[t->dtype].integer)
    bs_putf(text, " %.0f", x);
  else
    bs_putf(text, " %.6g", x);
}

const char *
glen_tensor_text(glen_context *ctx, const glen_tensors *tensors, uint32_t k,
                 uint32_t max) {
  assert(k < tensors->n);
  API_ENTER(ctx, "");
  const gs_tensor *t = &tensors->data[k];
  bs_text text;
  bs_text_init(&text, &ctx->heap);
  bs_putf(&text, "%s ", gs_dtype_table[t->dtype].name);
  for (uint32_t d = 0; d < t->rank; d++)
    bs_putf(&text, "%s%lld", d ? "x" : "", (long long)t->dim[d]);
  if (!t->rank)
    bs_put(&text, "scalar");
  for (int64_t i = 0; i < t->elements && i < (int64_t)max; i++)
    put_element(&text, t, i);
  if (max && t->elements > (int64_t)max)
    bs_put(&text, " ...");
  return api_string(ctx, &text);
}

static size_t
bytes_of(const gs_tensor *t) {
  return (size_t)t->elements * gs_dtype_table[t->dtype].bytes;
}

uint64_t
glen_tensor_hash(const glen_tensors *t, uint32_t k) {
  assert(k < t->n);
  return bs_hash(t->data[k].data, bytes_of(&t->data[k]));
}

bool
glen_tensor_save(glen_context *ctx, const glen_tensors *tensors, uint32_t k,
                 const char *npy_path) {
  assert(k < tensors->n);
  API_ENTER(ctx, false);
  return gs_npy_write(&ctx->gs, npy_path, &tensors->data[k]);
}

/* ---- comparing ---- */

bool
glen_tensors_compare(const glen_tensors *a, const glen_tensors *b,
                     double tolerance, glen_comparison *out) {
  return glen_tensors_compare_within(a, b, tolerance, NULL, NULL, out);
}

bool
glen_tensors_compare_within(const glen_tensors *a, const glen_tensors *b,
                            double tolerance, const glen_tensors *bound_a,
                            const glen_tensors *bound_b, glen_comparison *out) {
  *out = (glen_comparison){0};
  for (uint32_t k = 0; k < a->n; k++) {
    gs_difference d;
    bool same =
        gs_tensor_compare_within(&a->data[k], &b->data[k], tolerance, tolerance,
                                 bound_a ? &bound_a->data[k] : NULL,
                                 bound_b ? &bound_b->data[k] : NULL, &d);
    out->rounding += d.rounding;
    if (!same && !out->differing) {
      out->output = k;
      out->index = d.first;
      out->a = d.a;
      out->b = d.b;
    }
    out->differing += same ? 0 : d.count;
    out->max_abs = fmax(out->max_abs, d.max_abs);
    out->max_rel = fmax(out->max_rel, d.max_rel);
  }
  return !out->differing;
}

void
glen_overlook_nans(glen_tensors *expected, const glen_tensors *actual) {
  for (uint32_t k = 0; k < expected->n; k++) {
    gs_tensor *t = &expected->data[k];
    if (gs_dtype_table[t->dtype].integer)
      continue;
    for (int64_t i = 0; i < t->elements; i++)
      if (isnan(gs_tensor_get(t, i)))
        gs_tensor_set(t, i, gs_tensor_get(&actual->data[k], i));
  }
}

/* The sizes of both are the same, so that numbers over them are. */
static bool
same_sizes(glen_context *ctx, const gs_sizes *a, const gs_sizes *b) {
  bool same = (a ? a->n : 0) == (b ? b->n : 0);
  for (uint32_t k = 0; same && a && k < a->n; k++) {
    const gs_size *x = &a->list[k], *y = &b->list[k];
    same = !strcmp(x->name, y->name) && x->least == y->least &&
           x->most == y->most && x->multiple == y->multiple;
  }
  if (same)
    return true;
  const gs_size *open = (a ? a : b)->list;
  bs_error(&ctx->diags, BS_NOWHERE, "different-programs",
           "the programs leave different sizes open");
  bs_hint(&ctx->diags,
          "--size %s=%lld gives it a number in each program "
          "that has it",
          open->name, (long long)open->most);
  return false;
}

static bool
differ(glen_context *ctx, const char *what, const gs_program *p,
       const gs_named *x, const gs_program *q, const gs_named *y) {
  gs_type s, t;
  bs_text of_x, of_y;
  bs_text_init(&of_x, &ctx->heap);
  bs_text_init(&of_y, &ctx->heap);
  gs_type_at(p, x->term, &s);
  gs_type_at(q, y->term, &t);
  gs_put_type_of(&of_x, p->sizes, &s);
  gs_put_type_of(&of_y, q->sizes, &t);
  bs_error(&ctx->diags, y->span, "different-programs",
           "the programs' %s differ: %s is %s and %s is %s", what, x->name,
           bs_text_str(&of_x), y->name, bs_text_str(&of_y));
  bs_text_done(&of_x);
  bs_text_done(&of_y);
  return false;
}

static bool
same_types(glen_context *ctx, const glen_program *a, const glen_program *b,
           bool outputs) {
  const char *what = outputs ? "outputs" : "inputs";
  const gs_program *p = a->program, *q = b->program;
  uint32_t n = outputs ? p->outputs.len : p->inputs.len;
  uint32_t m = outputs ? q->outputs.len : q->inputs.len;
  if (n != m)
    return bs_error(&ctx->diags, BS_NOWHERE, "different-programs",
                    "the programs have %u and %u %s", n, m, what);
  for (uint32_t k = 0; k < n; k++) {
    const gs_named *x = outputs ? &p->outputs.data[k] : &p->inputs.data[k];
    const gs_named *y = outputs ? &q->outputs.data[k] : &q->inputs.data[k];
    gs_type s, t;
    gs_type_at(p, x->term, &s);
    gs_type_at(q, y->term, &t);
    bool same = s.rank == t.rank && s.dtype == t.dtype &&
                !memcmp(s.dim, t.dim, s.rank * sizeof s.dim[0]);
    if (!same || (!outputs && strcmp(x->name, y->name)))
      return differ(ctx, what, p, x, q, y);
  }
  return true;
}

bool
glen_programs_agree(glen_context *ctx, const glen_program *a,
                    const glen_program *b) {
  API_ENTER(ctx, false);
  return same_sizes(ctx, a->program->sizes, b->program->sizes) &&
         same_types(ctx, a, b, false) && same_types(ctx, a, b, true);
}
