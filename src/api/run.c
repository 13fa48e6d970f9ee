/* SPDX-License-Identifier: MIT */
/* run.c - arrays in, arrays out: the interpreter and compiled kernels. */
#include "api/api.h"
#include "codegen/unit/profile.h"
#include "poly/loops/execute.h"
#include "base/hash.h"
#include "glenside/interpret.h"

#include <math.h>
#include <string.h>

typedef struct run_args {
  glen_context *ctx;
  const glen_program *program;
  const glen_loops *loops, *general;
  const glen_tensors *inputs;
  const glen_build_options *build;
  uint64_t seed;
  double *seconds;
  glen_tensors *out;
  const char *name, *path, *text;
  uint32_t k, max;
  bool ok;
} run_args;

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

static void
inputs_body(void *arg) {
  run_args *a = arg;
  const gs_program *p = a->program->program;
  if (!api_has_numbers(a->ctx, p, "a run"))
    return;
  glen_tensors *t = new_tensors(a->ctx, p, false);
  for (uint32_t k = 0; k < t->n; k++) {
    gs_type type;
    gs_type_at(p, p->inputs.data[k].term, &type);
    const char *name = p->inputs.data[k].name;
    const gs_data *data = gs_find_data(p, name);
    if (data && !gs_data_read(&a->ctx->gs, data, &type, &t->data[k]))
      return;
    if (data)
      continue;
    gs_tensor_init(t->heap, &t->data[k], &type);
    gs_tensor_fill(&t->data[k], a->seed, name);
  }
  a->out = t;
}

glen_tensors *
glen_inputs_new(glen_context *ctx, const glen_program *program, uint64_t seed) {
  run_args a = {.ctx = ctx, .program = program, .seed = seed};
  return api_enter(ctx, inputs_body, &a) ? a.out : NULL;
}

bool
api_find_input(glen_context *ctx, const glen_tensors *t, const char *name,
               const char *what, uint32_t *out) {
  if (!name && t->n == 1) {
    *out = 0;
    return true;
  }
  for (uint32_t k = 0; name && k < t->n; k++)
    if (!strcmp(glen_tensor_name(t, k), name)) {
      *out = k;
      return true;
    }
  bs_text names;
  bs_text_init(&names, &ctx->heap);
  for (uint32_t k = 0; k < t->n; k++)
    bs_putf(&names, "%s%s", k ? ", " : "", glen_tensor_name(t, k));
  bs_error(&ctx->diags, BS_NOWHERE, "unknown-input",
           name ? "the program has no input named %s"
                : "say which input %s is for, as NAME=FILE",
           name ? name : what);
  bs_hint(&ctx->diags, "its inputs are: %s", bs_text_str(&names));
  bs_text_done(&names);
  return false;
}

static void
load_body(void *arg) {
  run_args *a = arg;
  const gs_program *p = a->inputs->program;
  gs_tensor read;
  gs_type type;
  uint32_t k;
  if (!api_find_input(a->ctx, a->inputs, a->name, a->path, &k))
    return;
  gs_type_at(p, p->inputs.data[k].term, &type);
  if (!gs_npy_read(&a->ctx->gs, a->path, &type, &read))
    return;
  gs_tensor_done(a->inputs->heap, &a->inputs->data[k]);
  a->inputs->data[k] = read;
  a->ok = true;
}

bool
glen_input_load(glen_context *ctx, glen_tensors *inputs, const char *name,
                const char *npy_path) {
  run_args a = {.ctx = ctx, .inputs = inputs, .name = name, .path = npy_path};
  return api_enter(ctx, load_body, &a) && a.ok;
}

/* ---- execution ---- */

static void
interpret_body(void *arg) {
  run_args *a = arg;
  if (!api_has_numbers(a->ctx, a->program->program, "the interpreter"))
    return;
  bs_stage_begin(&a->ctx->governor, "the interpreter", 1, 1);
  glen_tensors *t = new_tensors(a->ctx, a->program->program, true);
  if (gs_interpret(a->program->program, a->inputs->data, t->data))
    a->out = t;
}

glen_tensors *
glen_interpret(glen_context *ctx, const glen_program *program,
               const glen_tensors *inputs) {
  run_args a = {.ctx = ctx, .program = program, .inputs = inputs};
  return api_enter(ctx, interpret_body, &a) ? a.out : NULL;
}

static void
bounds_body(void *arg) {
  run_args *a = arg;
  const gs_program *p = a->program->program;
  if (!api_has_numbers(a->ctx, p, "the interpreter"))
    return;
  bs_stage_begin(&a->ctx->governor, "the interpreter", 1, 1);
  glen_tensors *t = new_tensors(a->ctx, p, true);
  glen_tensors *bounds = new_tensors(a->ctx, p, true);
  if (gs_interpret_bounded(p, a->inputs->data, t->data, bounds->data))
    a->out = bounds;
  glen_tensors_free(t);
}

glen_tensors *
glen_rounding_bounds(glen_context *ctx, const glen_program *program,
                     const glen_tensors *inputs) {
  run_args a = {.ctx = ctx, .program = program, .inputs = inputs};
  return api_enter(ctx, bounds_body, &a) ? a.out : NULL;
}

static void
execute_body(void *arg) {
  run_args *a = arg;
  const po_program *loops = a->loops->loops;
  glen_tensors *t = new_tensors(a->ctx, loops->source, true);
  for (uint32_t k = 0; k < t->n; k++) {
    gs_type type;
    gs_type_at(loops->source, loops->source->outputs.data[k].term, &type);
    gs_tensor_init(t->heap, &t->data[k], &type);
  }
  if (po_execute(loops, a->inputs->data, t->data))
    a->out = t;
}

glen_tensors *
glen_loops_interpret(glen_context *ctx, const glen_loops *loops,
                     const glen_tensors *inputs) {
  run_args a = {.ctx = ctx, .loops = loops, .inputs = inputs};
  return api_enter(ctx, execute_body, &a) ? a.out : NULL;
}

/* The time that one core of the target needs for a step at least; 0: it is not
 * known what the step computes, or how fast the target is. */
static double
least_seconds(const gs_target *t, const cg_step *s) {
  double hz = 1e9 * t->frequency_ghz;
  if (s->operations < 0 || hz <= 0 || t->flops_per_cycle <= 0 ||
      t->memory_bytes_per_cycle <= 0)
    return 0;
  return fmax(s->operations / t->flops_per_cycle,
              s->bytes / t->memory_bytes_per_cycle) /
         hz;
}

static void
tell_profile(run_args *a, const cg_profile *from, glen_profile *to) {
  const gs_target *target = a->loops->loops->target;
  glen_profile_step *steps =
      BS_NEWS(&a->ctx->arena, glen_profile_step, from->steps.len + 1u);
  for (uint32_t k = 0; k < from->steps.len; k++) {
    const cg_step *s = &from->steps.data[k];
    steps[k] = (glen_profile_step){.layer = s->layer,
                                   .kernel = s->kernel,
                                   .kind = s->kind,
                                   .seconds = s->seconds,
                                   .operations = s->operations,
                                   .bytes = s->bytes,
                                   .least = least_seconds(target, s)};
  }
  *to = (glen_profile){steps, from->steps.len};
}

static void
build_body(void *arg) {
  run_args *a = arg;
  const po_program *loops = a->loops->loops;
  glen_tensors *t = new_tensors(a->ctx, loops->source, true);
  cg_profile profile = {0};
  cg_build_options options = {.cc = a->build->cc,
                              .flags = a->build->flags,
                              .n_flags = a->build->n_flags,
                              .sanitize = a->build->sanitize,
                              .keep = a->build->keep,
                              .threads = (int)a->build->threads,
                              .interrupt = &a->ctx->interrupt,
                              .profile = a->build->profile ? &profile : NULL,
                              .variants = a->loops->variants,
                              .n_variants = a->loops->n_variants};
  uint32_t repeats = a->build->repeats ? a->build->repeats : 1;
  if (!api_knows_sizes(a->ctx, loops, "a run"))
    return;
  if (a->general) {
    options.general = a->general->loops;
    options.sizes = api_sizes_of(a->ctx, options.general, a->loops);
    if (!options.sizes)
      return;
  }
  if (cg_build_and_run(loops, &options, a->inputs->data, t->data, repeats,
                       a->seconds))
    a->out = t;
  if (a->out && a->build->profile)
    tell_profile(a, &profile, a->build->profile);
  bs_vec_done(loops->ctx.heap, &profile.steps);
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
  run_args a = {.ctx = ctx,
                .loops = loops,
                .general = general,
                .inputs = inputs,
                .build = build,
                .seconds = seconds};
  ctx->interrupt = 0;
  return api_enter_listening(ctx, build_body, &a) ? a.out : NULL;
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

static void
text_body(void *arg) {
  run_args *a = arg;
  const gs_tensor *t = &a->inputs->data[a->k];
  bs_text text;
  bs_text_init(&text, &a->ctx->heap);
  bs_putf(&text, "%s ", gs_dtype_table[t->dtype].name);
  for (uint32_t d = 0; d < t->rank; d++)
    bs_putf(&text, "%s%lld", d ? "x" : "", (long long)t->dim[d]);
  if (!t->rank)
    bs_put(&text, "scalar");
  for (int64_t i = 0; i < t->elements && i < (int64_t)a->max; i++)
    put_element(&text, t, i);
  if (a->max && t->elements > (int64_t)a->max)
    bs_put(&text, " ...");
  a->text = api_string(a->ctx, &text);
}

const char *
glen_tensor_text(glen_context *ctx, const glen_tensors *tensors, uint32_t k,
                 uint32_t max) {
  run_args a = {.ctx = ctx, .inputs = tensors, .k = k, .max = max, .text = ""};
  api_enter(ctx, text_body, &a);
  return a.text;
}

static size_t
bytes_of(const gs_tensor *t) {
  return (size_t)t->elements * gs_dtype_table[t->dtype].bytes;
}

uint64_t
glen_tensor_hash(const glen_tensors *t, uint32_t k) {
  return bs_hash(t->data[k].data, bytes_of(&t->data[k]));
}

static void
save_body(void *arg) {
  run_args *a = arg;
  a->ok = gs_npy_write(&a->ctx->gs, a->path, &a->inputs->data[a->k]);
}

bool
glen_tensor_save(glen_context *ctx, const glen_tensors *tensors, uint32_t k,
                 const char *npy_path) {
  run_args a = {.ctx = ctx, .inputs = tensors, .k = k, .path = npy_path};
  return api_enter(ctx, save_body, &a) && a.ok;
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
      return bs_error(&ctx->diags, y->span, "different-programs",
                      "the programs' %s differ: %s and %s", what, x->name,
                      y->name);
  }
  return true;
}

typedef struct agree_args {
  glen_context *ctx;
  const glen_program *a, *b;
  bool ok;
} agree_args;

static void
agree_body(void *arg) {
  agree_args *a = arg;
  a->ok = same_types(a->ctx, a->a, a->b, false) &&
          same_types(a->ctx, a->a, a->b, true);
}

bool
glen_programs_agree(glen_context *ctx, const glen_program *a,
                    const glen_program *b) {
  agree_args args = {ctx, a, b, false};
  return api_enter(ctx, agree_body, &args) && args.ok;
}
