/* SPDX-License-Identifier: MIT */
/* instr_test.c - see instr_test.h.
 *
 * Sizes that the instruction admits are drawn and sorted, so that the first
 * call that fails is the smallest.  All calls are one executable; when it ends
 * badly, they are run one by one to find out which.  A difference is made
 * simpler, element by element, while it stays. */
#include "codegen/run/instr_trial.h"
#include "glenside/text/text_print.h"
#include "base/random.h"
#include <stdlib.h>
#include <string.h>

#define DRAWS        6000
#define MOST_SHAPES  96
#define SHAPES       7
#define FEW_ELEMENTS ((int64_t)1 << 14) /* of a call, where there are such */
#define ELEMENTS     ((int64_t)1 << 21)
#define MOST_CALLS   64
#define SIMPLER_RUNS 160

typedef struct shape {
  const uint32_t *choice;
  int64_t elements;
} shape;

typedef struct tester {
  const gs_context *outer;
  gs_context ctx; /* of the test */
  const gs_target *target;
  const gs_instr *instr;
  const gs_mac *mac; /* what `instr` means runs on it; NULL: it is called */
  const cg_instr_options *options;
  cg_instr_answer *out;
  gs_sizing sizing;
  shape shapes[MOST_SHAPES];
  uint32_t n_shapes;
  cg_trial trials[MOST_CALLS];
  uint32_t n;
  bool sanitize, stopped;
  bs_heap heap;
} tester;

void
cg_instr_defaults(cg_instr_options *o) {
  *o = (cg_instr_options){.seed = 1, .calls = 16};
  o->build.time_limit = 60;
  o->build.optimize = "-O1";
  o->build.threads = 1;
}

static const char *
keep(const tester *t, const char *text) {
  return bs_arena_strdup(t->outer->arena, text);
}

/* ---- sizes ---- */

static uint64_t
draw(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return *state >> 33;
}

static int64_t
elements_of(const gs_sizing *s) {
  int64_t n = gs_elements(&s->result);
  for (uint32_t k = 0; k < s->instr->n_operands; k++)
    if (__builtin_add_overflow(n, gs_elements(&s->types[k]), &n))
      return INT64_MAX;
  return n;
}

static bool
is_known(const tester *t) {
  size_t bytes = t->instr->scope.vars.len * sizeof(uint32_t);
  for (uint32_t k = 0; k < t->n_shapes; k++)
    if (!memcmp(t->shapes[k].choice, t->sizing.choice, bytes))
      return true;
  return false;
}

/* Parameters may give the semantics no type. */
static bool
has_type(const tester *t) {
  gs_fault fault;
  gs_term *operands =
      BS_NEWS(t->ctx.arena, gs_term, t->instr->n_operands + (size_t)1);
  if (!t->instr->n_params)
    return true;
  gs_program *p = gs_program_new(&t->ctx, NULL);
  gs_sizing_declare(&t->sizing, p, operands);
  return gs_term_ok(
      gs_instr_expand(t->instr, p, t->sizing.attr, operands, &fault));
}

static void
add_shape(tester *t, int64_t most) {
  gs_sizing *s = &t->sizing;
  if (t->n_shapes == MOST_SHAPES || is_known(t) || !gs_sizing_holds(s) ||
      elements_of(s) > most || !has_type(t))
    return;
  uint32_t vars = t->instr->scope.vars.len;
  t->shapes[t->n_shapes++] =
      (shape){bs_arena_copy(t->ctx.arena, s->choice, vars * sizeof *s->choice),
              elements_of(s)};
}

/* Some drawn at random; and, where these are few, one after the other. */
static void
find_shapes(tester *t, int64_t most) {
  uint64_t state = t->options->seed * BS_RANDOM_STEP + 1;
  gs_sizing *s = &t->sizing;
  uint32_t vars = t->instr->scope.vars.len;
  for (uint32_t k = 0; k < DRAWS && t->n_shapes < MOST_SHAPES; k++) {
    for (uint32_t v = 0; v < vars; v++) {
      uint32_t n = gs_sizing_choices(s, v);
      s->choice[v] = n ? (uint32_t)(draw(&state) % n) : 0;
    }
    add_shape(t, most);
  }
  memset(s->choice, 0, vars * sizeof *s->choice);
  for (uint32_t k = 0; k < 4 * DRAWS && t->n_shapes < SHAPES; k++) {
    add_shape(t, most);
    if (!gs_sizing_advance(s))
      return;
  }
}

static int
by_elements(const void *a, const void *b) {
  const shape *x = a, *y = b;
  return x->elements < y->elements ? -1 : x->elements > y->elements;
}

/* ---- calls ---- */

static int
by_cost(const void *a, const void *b) {
  const cg_trial *x = a, *y = b;
  return x->cost < y->cost ? -1 : x->cost > y->cost;
}

/* The smallest shapes, and others up to the largest. */
static const shape *
chosen_shape(const tester *t, uint32_t k) {
  uint32_t few = SHAPES / 2, at = k % SHAPES;
  if (t->n_shapes <= SHAPES)
    return &t->shapes[k % t->n_shapes];
  return &t->shapes[at < few ? at
                             : few + (at - few) * (t->n_shapes - 1 - few) /
                                         (SHAPES - 1 - few)];
}

/* A call of that shape; false when it has no type or is not lowered. */
static bool
make_trial(tester *t, const shape *s, uint32_t way, uint32_t kind,
           uint64_t seed, cg_trial *out) {
  memcpy(t->sizing.choice, s->choice,
         t->instr->scope.vars.len * sizeof *s->choice);
  if (!gs_sizing_holds(&t->sizing))
    return false;
  bool ok = cg_trial_make(&t->ctx, t->target, &t->sizing, t->mac, way, out) &&
            cg_trial_fill(out, kind, seed);
  if (!ok)
    cg_trial_done(out);
  return ok;
}

static bool
uses_memory(const gs_instr *instr) {
  bool memory = instr->result.memory != 0;
  for (uint32_t k = 0; k < instr->n_operands; k++)
    memory |= instr->operands[k].memory != 0;
  return memory;
}

/* In memories each way is tried of each shape, however few shapes there are. */
static uint32_t
way_of(const tester *t, uint32_t k, uint32_t shapes) {
  return uses_memory(t->instr) ? (k % shapes + k / shapes) % CG_TRIAL_ALL_WAYS
                               : (k + k / shapes) % CG_TRIAL_WAYS;
}

static void
make_trials(tester *t) {
  uint32_t calls =
      t->options->calls < MOST_CALLS ? t->options->calls : MOST_CALLS;
  uint32_t shapes = t->n_shapes < SHAPES ? t->n_shapes : SHAPES;
  for (uint32_t k = 0; k < calls; k++)
    t->n +=
        make_trial(t, chosen_shape(t, k), way_of(t, k, shapes),
                   k % 3 + k / shapes, t->options->seed + k, &t->trials[t->n]);
  qsort(t->trials, t->n, sizeof *t->trials, by_cost);
}

/* ---- runs ---- */

typedef enum ended { WELL, BADLY, NOT_BUILT, STOPPED } ended;

/* Addresses change from run to run. */
static const char *
without_addresses(const tester *t, const char *text) {
  const char *at = strstr(text, " on address");
  if (!at)
    at = strstr(text, " on unknown address");
  return bs_arena_printf(t->outer->arena, "%.*s",
                         (int)(at ? (size_t)(at - text) : strlen(text)), text);
}

/* The first error, or what the compiler or the program said of it: what stands
 * behind the last colon of a linker's line is the name that it misses. */
static const char *
reason_of(const tester *t) {
  static const char *const telling[] = {"undefined reference", "undefined sym",
                                        "runtime error", "ERROR:", "error:"};
  const bs_diags *d = t->ctx.diags;
  for (size_t i = 0; i < sizeof telling / sizeof *telling; i++)
    for (uint32_t k = 0; k < d->list.len; k++) {
      const char *at = strstr(d->list.data[k].message, telling[i]);
      if (at && d->list.data[k].severity == BS_NOTE)
        return without_addresses(t, at);
    }
  return d->list.len ? keep(t, d->list.data[0].message) : "no reason is known";
}

static ended
how_it_ended(const tester *t) {
  const bs_diags *d = t->ctx.diags;
  const char *code = d->list.len ? d->list.data[0].code : "";
  if (!strcmp(code, "interrupted") || !strcmp(code, "no-compiler"))
    return STOPPED;
  return !strcmp(code, "run-failed") || !strcmp(code, "run-time") ? BADLY
                                                                  : NOT_BUILT;
}

static ended
run(tester *t, cg_trial *trials, uint32_t n) {
  cg_job jobs[MOST_CALLS];
  cg_build_options build = t->options->build;
  build.sanitize = t->sanitize;
  bs_clear(&t->ctx.diags->list);
  t->ctx.diags->errors = t->ctx.diags->warnings = 0;
  for (uint32_t k = 0; k < n; k++)
    jobs[k] = (cg_job){.program = trials[k].loops,
                       .inputs = trials[k].inputs,
                       .outputs = trials[k].found};
  if (cg_build_and_run_all(jobs, n, &build, 1))
    return WELL;
  return how_it_ended(t);
}

/* With the sanitizers where the compiler has them. */
static ended
run_all(tester *t) {
  t->sanitize = true;
  ended e = run(t, t->trials, t->n);
  if (e == NOT_BUILT) {
    t->sanitize = false;
    e = run(t, t->trials, t->n);
  }
  return e;
}

/* ---- simpler ---- */

static bool
still_differs(cg_trial *trial, cg_built *built) {
  double seconds;
  cg_trial_drop_found(trial);
  return cg_trial_expect(trial) &&
         cg_built_run(built, trial->inputs, trial->found, &seconds) &&
         cg_trial_difference(trial) >= 0;
}

static void
simplify_element(cg_trial *trial, cg_built *built, gs_tensor *in, int64_t i,
                 uint32_t *left) {
  double was = gs_tensor_get(in, i);
  for (int simple = 0; simple < 2 && was != simple && *left; simple++) {
    gs_tensor_set(in, i, simple);
    (*left)--;
    if (still_differs(trial, built))
      return;
    gs_tensor_set(in, i, was);
  }
}

static void
simplify(tester *t, cg_trial *trial) {
  cg_build_options build = t->options->build;
  build.sanitize = t->sanitize;
  cg_built *built = cg_build(trial->loops, &build);
  uint32_t left = SIMPLER_RUNS;
  if (!built)
    return;
  for (uint32_t k = 0; k < trial->p->inputs.len; k++)
    for (int64_t i = 0; i < trial->inputs[k].elements && left; i++)
      simplify_element(trial, built, &trial->inputs[k], i, &left);
  still_differs(trial, built);
  cg_built_free(built);
}

/* ---- answers ---- */

static void
keep_program(const tester *t, const cg_trial *trial) {
  bs_text text;
  bs_text_init(&text, t->ctx.heap);
  gs_print_term(trial->p, trial->p->outputs.data[0].term, &text);
  t->out->program = keep(t, bs_text_str(&text));
}

static void
keep_inputs(const tester *t, const cg_trial *trial) {
  uint32_t n = trial->p->inputs.len;
  cg_instr_input *in = BS_NEWS(t->outer->arena, cg_instr_input, n + (size_t)1);
  for (uint32_t k = 0; k < n; k++) {
    const gs_tensor *from = &trial->inputs[k];
    in[k] = (cg_instr_input){keep(t, trial->p->inputs.data[k].name), *from};
    in[k].tensor.data = bs_arena_copy(t->outer->arena, from->data,
                                      (size_t)from->elements *
                                          gs_dtype_table[from->dtype].bytes);
  }
  t->out->inputs = in;
  t->out->n_inputs = n;
}

static void
refute(tester *t, const cg_trial *trial, const char *reason) {
  t->out->verdict = CG_INSTR_REFUTED;
  t->out->reason = reason;
  t->out->sizes = keep(t, trial->sizes);
  keep_program(t, trial);
  keep_inputs(t, trial);
}

static void
refute_element(tester *t, cg_trial *trial) {
  cg_instr_answer *out = t->out;
  simplify(t, trial);
  int64_t at = trial->found->data ? cg_trial_difference(trial) : -1;
  const gs_tensor *e = trial->expected;
  if (at < 0) {
    refute(t, trial, "what it gives changes from run to run");
    return;
  }
  out->differs = true;
  out->expected = gs_tensor_get(e, at);
  out->found = gs_tensor_get(trial->found, at);
  out->rank = e->rank;
  for (uint32_t d = e->rank; d-- > 0; at /= e->dim[d])
    out->index[d] = at % e->dim[d];
  refute(t, trial,
         bs_arena_printf(t->outer->arena,
                         "the template gives %.10g, the semantics %.10g",
                         out->found, out->expected));
}

static int64_t
first_difference(const cg_trial *trials, uint32_t n) {
  for (uint32_t k = 0; k < n; k++)
    if (cg_trial_difference(&trials[k]) >= 0)
      return k;
  return n;
}

/* The first that differs or ends badly, run one by one; n: none did. */
static uint32_t
find_alone(tester *t, cg_trial *trials, uint32_t n, bool *badly) {
  for (uint32_t k = 0; k < n; k++) {
    ended e = run(t, &trials[k], 1);
    *badly = e == BADLY;
    if (*badly || (e == WELL && cg_trial_difference(&trials[k]) >= 0))
      return k;
  }
  return n;
}

static uint32_t
find_wrong(tester *t, cg_trial *trials, uint32_t n, ended e, bool *badly) {
  *badly = false;
  if (e == WELL)
    return (uint32_t)first_difference(trials, n);
  return e == BADLY ? find_alone(t, trials, n, badly) : n;
}

static void
refute_trial(tester *t, cg_trial *trial, bool badly) {
  if (badly)
    refute(t, trial, reason_of(t));
  else
    refute_element(t, trial);
}

#define SMALLER 10

/* The smallest shapes in the way, and with the kind of values, that went
 * wrong: the first of them that goes wrong, too, is told instead. */
static void
look_smaller(tester *t, cg_trial *found, bool badly) {
  cg_trial trials[SMALLER];
  uint32_t n = 0;
  const char *reason = badly ? reason_of(t) : NULL;
  for (uint32_t k = 0; k < t->n_shapes && n < SMALLER; k++) {
    n += make_trial(t, &t->shapes[k], found->way, found->kind,
                    t->options->seed + k, &trials[n]);
    if (n && trials[n - 1].cost >= found->cost)
      cg_trial_done(&trials[--n]);
  }
  bool also_badly;
  ended e = n ? run(t, trials, n) : NOT_BUILT;
  uint32_t k = find_wrong(t, trials, n, e, &also_badly);
  if (k < n)
    refute_trial(t, &trials[k], also_badly);
  else if (badly)
    refute(t, found, reason);
  else
    refute_element(t, found);
  while (n)
    cg_trial_done(&trials[--n]);
}

static void
look_for_wrong(tester *t, ended e) {
  bool badly;
  const char *reason = e == BADLY ? reason_of(t) : NULL;
  uint32_t k = find_wrong(t, t->trials, t->n, e, &badly);
  if (k < t->n)
    look_smaller(t, &t->trials[k], badly);
  else if (e == BADLY)
    refute(t, &t->trials[t->n - 1], reason);
}

static void
untested(tester *t, const char *reason) {
  t->out->verdict = CG_INSTR_UNTESTED;
  t->out->reason = reason;
}

static void
tested(tester *t) {
  cg_instr_answer *out = t->out;
  out->verdict = CG_INSTR_TESTED;
  out->reason =
      bs_arena_printf(t->outer->arena, "%u %s, of %u %s%s%s",
                      BS_COUNTED_AS(out->calls, "call agrees", "calls agree"),
                      BS_COUNTED(out->shapes, "size"),
                      t->instr->n_params ? " and parameters" : "",
                      t->sanitize ? "" : ", without sanitizers");
}

/* The processor that runs it does not know an instruction. */
static bool
is_unknown_here(const tester *t) {
  const bs_diags *d = t->ctx.diags;
  for (uint32_t k = 0; k < d->list.len; k++)
    if (strstr(d->list.data[k].message, "llegal instruction"))
      return true;
  return false;
}

static void
conclude(tester *t) {
  ended e = run_all(t);
  t->out->calls = t->n;
  t->out->shapes = t->n_shapes < SHAPES ? t->n_shapes : SHAPES;
  t->out->sanitized = t->sanitize;
  t->stopped = e == STOPPED;
  if (e == BADLY && t->mac && is_unknown_here(t)) {
    untested(t, "this processor does not have it");
    return;
  }
  if (e == NOT_BUILT)
    untested(t, bs_arena_printf(t->outer->arena, "it cannot be built here: %s",
                                reason_of(t)));
  if (e == WELL || e == BADLY)
    look_for_wrong(t, e);
  if (e == WELL && t->out->verdict != CG_INSTR_REFUTED)
    tested(t);
}

static void
test(void *arg) {
  tester *t = arg;
  find_shapes(t, FEW_ELEMENTS);
  if (!t->n_shapes)
    find_shapes(t, ELEMENTS);
  qsort(t->shapes, t->n_shapes, sizeof *t->shapes, by_elements);
  if (t->n_shapes)
    make_trials(t);
  if (t->n)
    conclude(t);
  else if (!t->n_shapes)
    untested(t, "no small sizes were found that it admits");
  else
    untested(t, bs_arena_printf(t->outer->arena,
                                "it cannot be called by itself: %s",
                                reason_of(t)));
}

static void
test_job(void *arg) {
  tester *t = arg;
  bs_arena arena;
  bs_diags diags;
  bs_arena_init(&arena, &t->heap);
  bs_diags_init_within(&diags, &t->heap, t->outer->diags);
  t->ctx = (gs_context){&t->heap, &arena, t->outer->values, &diags};
  gs_sizing_init(&t->sizing, &t->ctx, t->instr);
  test(t);
  for (uint32_t k = 0; k < t->n; k++)
    cg_trial_done(&t->trials[k]);
  if (t->stopped && diags.list.len)
    bs_error(t->outer->diags, BS_NOWHERE, diags.list.data[0].code, "%s",
             diags.list.data[0].message);
}

/* On a heap of its own, which unwinds with the context's. */
static bool
test_apart(tester *t) {
  bs_heap *outer = t->outer->heap;
  bs_heap_init_child(&t->heap, outer, 0);
  bool memory = bs_protect(&t->heap, test_job, t), stopped = t->stopped;
  bs_heap_done(&t->heap);
  bs_free(outer, t);
  if (!memory)
    bs_out_of_memory(outer);
  return !stopped;
}

bool
cg_test_instr(const gs_context *ctx, const gs_target *target,
              const gs_instr *instr, const cg_instr_options *options,
              cg_instr_answer *out) {
  tester *t = bs_calloc(ctx->heap, 1, sizeof *t);
  *t = (tester){.outer = ctx,
                .target = target,
                .instr = instr,
                .options = options,
                .out = out};
  *out = (cg_instr_answer){.verdict = CG_INSTR_UNTESTED};
  return test_apart(t);
}

/* On a target that has nothing else. */
bool
cg_test_mac(const gs_context *ctx, const gs_target *target, const gs_mac *mac,
            const cg_instr_options *options, cg_instr_answer *out) {
  static const char *const flag = "-DGLEN_INSTRUCTIONS";
  tester *t = bs_calloc(ctx->heap, 1, sizeof *t);
  gs_target *alone = bs_arena_copy(ctx->arena, target, sizeof *target);
  cg_instr_options with = *options;
  const char **flags =
      BS_NEWS(ctx->arena, const char *, with.build.n_flags + (size_t)1);
  for (uint32_t k = 0; k < with.build.n_flags; k++)
    flags[k] = with.build.flags[k];
  flags[with.build.n_flags++] = flag;
  with.build.flags = flags;
  alone->macs.data = bs_arena_copy(ctx->arena, &mac, sizeof mac);
  alone->macs.len = alone->macs.cap = 1;
  *t = (tester){.outer = ctx,
                .target = alone,
                .instr = gs_mac_product(ctx, mac),
                .mac = mac,
                .options = &with,
                .out = out};
  *out = (cg_instr_answer){.verdict = CG_INSTR_UNTESTED,
                           .reason = "no dtype is both its factors'"};
  if (t->instr)
    return test_apart(t);
  bs_free(ctx->heap, t);
  return true;
}
