/* SPDX-License-Identifier: MIT */
/* schedule_legality.c - is what a schedule may do what it must and must not?
 *
 *   schedule_legality [first-seed [programs [commands [depth]]]]
 *
 * Of random loop programs, in which much depends on order, commands of every
 * primitive are tried at random places.  The order of all instances is
 * enumerated from the text of the program before and after a command, and all
 * pairs of accesses of an element are looked at (legal/): neither the integer
 * set library nor the analysis that decides on the command is asked.
 *
 * What was accepted must keep that order, where statements stay the same, and
 * compute the same values by the interpreter; marked loops must be
 * independent, blocks and threads within limits, barriers met by all threads.
 * What was refused as illegal is carried out nevertheless, without the check,
 * and must then be wrong by one of these; refusals of form are counted.  An
 * accepted command is gone on from, to the given depth.  The C of what one in
 * three of the programs came to is run under the sanitizers.
 *
 * By the numbers given in tests/property/meson.build, what each program came to
 * is recorded, too (recorded.h): refusals of form, and the text of each
 * step. */
#include "codegen/run/run_build.h"
#include "legal/judge.h"
#include "poly/loops/loops_check.h"
#include "poly/loops/execute.h"
#include "poly/script/script.h"
#include "recorded.h"
#include "scripts/scripts.h"
#include "tests/unit/sanitized.h"
#include "tests/unit/seeded.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 64, COMMAND = 512, DEEPEST = 8, SEEDS = 2, FIRST_INPUTS = 7 };
enum { COMMANDS = 40, DEPTH = 3 }; /* where nothing else is asked for */

static bs_heap heap;
static bs_arena arena;
static bs_diags diags;
static gs_context ctx;
static gs_target *target;

/* What came of the commands of a primitive. */
typedef struct tally {
  uint64_t tried, accepted;
  uint64_t illegal; /* refused, and found to be wrong */
  uint64_t strict;  /* refused, and found to be right */
  uint64_t open;    /* refused, and not decided here */
  uint64_t formal;  /* refused for its form */
  uint64_t ordered; /* accepted: all pairs of accesses were looked at */
} tally;

static tally tallies[MOST];
static uint64_t n_failed, n_unread;
static bool verbose;

static const char instruction[] =
    "(target test)\n"
    "(instr mma (params r c)\n"
    "  (operands (x ((b) (r)) f32) (y ((r c) ()) f32))\n"
    "  (result ((b c) ()) f32)\n"
    "  (semantics (compute dotProd (cartProd x (access (transpose y (list 1 "
    "0)) 1))))\n"
    "  (cost (cycles 1)) (emit \"mma({result}, {x}, {y});\"))\n";

static bool
start(void) {
  bs_heap_init(&heap, NULL, 0);
  bs_arena_init(&arena, &heap);
  bs_diags_init(&diags, &heap);
  ctx = (gs_context){&heap, &arena, bs_values_new(&heap), &diags};
  uint32_t source =
      bs_source_add(&diags, "test.target", instruction, strlen(instruction));
  target = gs_target_parse(&ctx, source);
  return target;
}

static void
forget_diagnostics(void) {
  bs_clear(&diags.list);
  diags.errors = diags.warnings = 0;
  diags.dropped = false;
}

static void
show_diagnostics(void) {
  bs_text out;
  bs_text_init(&out, &heap);
  for (uint32_t k = 0; k < diags.list.len; k++)
    bs_render(&diags, &diags.list.data[k], false, &out);
  fputs(bs_text_str(&out), stdout);
  bs_text_done(&out);
  forget_diagnostics();
}

/* ---- programs ---- */

/* A program, the order of its instances, and what it computes. */
typedef struct state {
  po_program *p;
  or_program *order; /* NULL: not known */
  bool runs, calls;  /* an instruction, which only C does */
  uint64_t values[SEEDS];
} state;

enum { ORDERS = 4 };

static or_program orders[ORDERS];

/* One that neither program uses. */
static or_program *
room_beside(const state *a, const state *b) {
  or_program *room = orders;
  while (room == a->order || room == b->order)
    room++;
  return room;
}

static char *
text_of(const po_program *p) {
  bs_text out;
  bs_text_init(&out, &heap);
  po_print(p, &out);
  char *text = bs_arena_strdup(&arena, bs_text_str(&out));
  bs_text_done(&out);
  return text;
}

static or_program *
order_of(const po_program *p, or_program *out) {
  const char *text = text_of(p);
  if (or_read(out, text) && or_enumerate(out))
    return out;
  n_unread++;
  if (verbose)
    printf("not read: %s\n%s", out->why, text);
  return NULL;
}

/* Integers, so that floats are exact, of both signs and zero; small ones, and
 * others that hardly ever are equal by accident.  divides: positive. */
static void
fill(gs_tensor *t, uint64_t seed, bool divides) {
  int64_t range = t->dtype == GS_I32 && seed % 2 ? 1 << 30 : 13;
  for (int64_t k = 0; k < t->elements; k++) {
    seed = (seed ^ (uint64_t)k) * 0x9e3779b97f4a7c15u + 12345;
    int64_t v = (int64_t)(seed >> 33) % range - range / 2;
    v = divides ? v % 7 + 7 : v;
    gs_tensor_set(t, k, t->dtype == GS_BF16 ? (double)(v * 21 + 1) : (double)v);
  }
}

static uint64_t
hash_of(const gs_tensor *t, uint64_t hash) {
  const unsigned char *bytes = t->data;
  size_t n = (size_t)t->elements * gs_dtype_table[t->dtype].bytes;
  for (size_t k = 0; k < n; k++)
    hash = (hash ^ bytes[k]) * 1099511628211u;
  return hash;
}

/* What is divided by is named D. */
static void
seed_inputs(const po_program *p, uint64_t seed, gs_tensor *in, gs_tensor *to) {
  seed_tensors(p, seed, in, to);
  for (uint32_t k = 0; k < p->arrays.len; k++) {
    const po_array *a = &p->arrays.data[k];
    if (a->role == PO_INPUT)
      fill(&in[a->number], seed + 2 * (uint64_t)a->number,
           !strcmp(a->name, "D"));
  }
}

static uint64_t
hash_outputs(const po_program *p, const gs_tensor *to) {
  uint64_t hash = 1469598103934665603u;
  for (uint32_t k = 0; k < p->arrays.len; k++)
    if (p->arrays.data[k].role == PO_OUTPUT)
      hash = hash_of(&to[p->arrays.data[k].number], hash);
  return hash;
}

static bool
values_of(const po_program *p, uint64_t seed, uint64_t *out) {
  gs_tensor in[4], to[4];
  seed_inputs(p, seed, in, to);
  bool ran = po_execute(p, in, to);
  *out = ran ? hash_outputs(p, to) : 0;
  forget_diagnostics();
  return ran;
}

static state
state_of(po_program *p, or_program *order) {
  state s = {.p = p, .order = order_of(p, order), .runs = true};
  for (uint32_t k = 0; k < p->stmts.len; k++)
    s.calls |= p->stmts.data[k].kind == PO_CALL;
  for (int k = 0; k < SEEDS; k++)
    s.runs &= values_of(p, FIRST_INPUTS + (uint64_t)k, &s.values[k]);
  return s;
}

/* ---- commands ---- */

static void
read_command(po_script_run *s, po_program **p, const char *command) {
  *s = (po_script_run){.program = p,
                       .heap = &heap,
                       .arena = &arena,
                       .diags = &diags,
                       .source = bs_source_add(&diags, "random.sched", command,
                                               strlen(command))};
  s->ok = po_read_tokens(&heap, &arena, &diags, s->source, &s->tokens) &&
          po_read_items(s) && s->items.len == 1;
}

/* Carries a command out on the program, gate or not. */
static bool
carry_out(po_program **p, const char *command, bool gate) {
  po_script_run s;
  read_command(&s, p, command);
  po_step_call call = {.span = po_tok(&s, 0)->span};
  call.primitive = po_primitive_find(po_tok(&s, 0)->word);
  bool ok =
      s.ok && call.primitive && po_read_args(&s, 1, s.items.data[0].hi, &call);
  if (ok && gate)
    ok = po_apply(p, &call, NULL);
  else if (ok)
    call.primitive->apply(*p, &call);
  po_sched_tokens_done(&heap, &s.tokens);
  bs_vec_done(&heap, &s.items);
  return ok;
}

static const char *
last_code(void) {
  for (uint32_t k = diags.list.len; k-- > 0;)
    if (diags.list.data[k].severity == BS_ERROR)
      return diags.list.data[k].code;
  return "?";
}

static tally *
tally_of(const char *command) {
  char name[COMMAND];
  snprintf(name, sizeof name, "%.*s", (int)strcspn(command, " "), command);
  const po_primitive *what = po_primitive_find(name);
  return &tallies[what ? what - po_primitives : MOST - 1];
}

/* What the present program came to. */
typedef struct outcome {
  uint32_t tried, accepted;
  uint64_t hash;
} outcome;

static outcome came_to;

/* A command, and the text that it led to or the code of its refusal. */
static void
note(const char *command, const char *what) {
  recorded_hash(&came_to.hash, command, strlen(command));
  recorded_hash(&came_to.hash, what, strlen(what));
}

static bool
is_command(const char *command, const char *name) {
  size_t n = strlen(name);
  return !strncmp(command, name, n) && command[n] == ' ';
}

/* ---- judgement ---- */

/* Whether a program does what another one did; why not. */
static ju_answer
judge(const state *was, const state *is, const char **why) {
  ju_answer order = JU_UNKNOWN;
  if (is->order && (ju_marks_hold(is->order, why) == JU_NO ||
                    ju_bindings_hold(is->order, why) == JU_NO ||
                    ju_barriers_hold(is->order, why) == JU_NO ||
                    ju_places_hold(is->order, why) == JU_NO))
    return JU_NO;
  if (was->order && is->order)
    order = ju_keeps_order(was->order, is->order, why);
  if (order == JU_NO)
    return JU_NO;
  if (is->calls)
    return order;
  if (was->runs && !is->runs) {
    *why = "it does not run";
    return JU_NO;
  }
  for (int k = 0; was->runs && k < SEEDS; k++)
    if (was->values[k] != is->values[k]) {
      *why = "it computes other values";
      return JU_NO;
    }
  return order == JU_YES ? JU_YES : JU_UNKNOWN;
}

static void
complain(uint64_t seed, const state *was, const char *command, const char *what,
         const char *why) {
  printf("seed %llu: %s: %s: %s\n%s", (unsigned long long)seed, command, what,
         why ? why : "", text_of(was->p));
  n_failed++;
}

/* Factors that are given alone must reach a loop's end, and then may be. */
static ju_answer
factors_reach(const state *was, const char *command) {
  char loop[OR_NAME];
  int f, g;
  if (!was->order ||
      sscanf(command, "split %47s [%d, %d]", loop, &f, &g) != 3 || f < 1 ||
      g < 1)
    return JU_UNKNOWN;
  int k = or_loop_named(was->order, loop);
  const or_node *l = k < 0 ? NULL : &was->order->nodes[k];
  if (!l || l->n_lo != 1 || l->n_hi != 1 ||
      was->order->terms[l->lo[0]].kind != OR_NUMBER ||
      was->order->terms[l->hi[0]].kind != OR_NUMBER)
    return JU_UNKNOWN;
  int64_t extent =
      was->order->terms[l->hi[0]].n - was->order->terms[l->lo[0]].n;
  return (int64_t)f * g >= extent ? JU_YES : JU_NO;
}

/* A bound loop in the text as it would be; the text's own marks but for it. */
static ju_answer
judge_binding(const state *was, const char *command, const char **why) {
  static or_program as;
  static const char *const axes[] = {"blockIdx.x",  "blockIdx.y",
                                     "blockIdx.z",  "threadIdx.x",
                                     "threadIdx.y", "threadIdx.z"};
  char loop[OR_NAME], axis[OR_NAME];
  if (!was->order || sscanf(command, "bind %47s %47s", loop, axis) != 2)
    return JU_UNKNOWN;
  as = *was->order;
  int k = or_loop_named(&as, loop);
  if (k < 0 || as.nodes[k].mark != OR_SERIAL)
    return JU_UNKNOWN;
  as.nodes[k].mark = OR_BIND;
  for (as.nodes[k].axis = 0; strcmp(axes[as.nodes[k].axis], axis) != 0;)
    as.nodes[k].axis++;
  if (ju_bindings_hold(&as, why) == JU_NO || ju_marks_hold(&as, why) == JU_NO ||
      ju_barriers_hold(&as, why) == JU_NO)
    return JU_NO;
  return JU_YES;
}

static bool
is_one_of(const char *code, const char *const *list) {
  while (*list && strcmp(*list, code) != 0)
    list++;
  return *list;
}

/* A command that was refused may have left a program that cannot be run. */
static bool
is_whole(const po_program *p) {
  bs_text why;
  bs_text_init(&why, &heap);
  bool ok = po_check(p, &why);
  bs_text_done(&why);
  return ok;
}

/* What a refusal says of the program as it would be, carried out all the same.
 * Unknown: it speaks of form, or cannot be run. */
static ju_answer
judge_refusal(const state *was, const char *command, const char *code,
              const char **why) {
  static const char *const binding[] = {"too-large", "axis-taken",
                                        "block-in-thread", "illegal", NULL};
  static const char *const order[] = {"illegal", "divergent", NULL};
  if (is_command(command, "bind"))
    return is_one_of(code, binding) ? judge_binding(was, command, why)
                                    : JU_UNKNOWN;
  if (is_command(command, "split") && !strcmp(code, "factors"))
    return factors_reach(was, command);
  if (!is_one_of(code, order))
    return JU_UNKNOWN;
  po_program *p = po_copy(was->p);
  carry_out(&p, command, false);
  forget_diagnostics();
  ju_answer answer = JU_UNKNOWN;
  if (is_whole(p)) {
    state is = state_of(p, &orders[ORDERS - 1]);
    answer = is.order ? judge(was, &is, why) : JU_UNKNOWN;
  }
  po_free(p);
  return answer;
}

static void
count_refusal(uint64_t seed, const state *was, const char *command,
              const char *code, tally *t) {
  char kept[COMMAND];
  const char *why = NULL;
  snprintf(kept, sizeof kept, "%s", code);
  bs_text said;
  bs_text_init(&said, &heap);
  for (uint32_t k = 0; verbose && k < diags.list.len; k++)
    bs_render(&diags, &diags.list.data[k], false, &said);
  forget_diagnostics();
  ju_answer answer = judge_refusal(was, command, kept, &why);
  bool decided = !strcmp(kept, "illegal") || !strcmp(kept, "divergent");
  t->illegal += answer == JU_NO;
  t->strict += answer == JU_YES;
  t->open += answer == JU_UNKNOWN && decided;
  t->formal += answer == JU_UNKNOWN && !decided;
  if (verbose && answer == JU_UNKNOWN && decided)
    printf("open: %s\n%s%s", command, text_of(was->p), bs_text_str(&said));
  if (answer == JU_YES) {
    complain(seed, was, command, "refused, and right", kept);
    printf("%s", bs_text_str(&said));
  }
  bs_text_done(&said);
}

/* One command; the program after it, or one that is NULL. */
static state
try_command(uint64_t seed, const state *was, const char *command,
            or_program *room) {
  po_program *p = po_copy(was->p);
  tally *t = tally_of(command);
  const char *why = NULL;
  t->tried++;
  came_to.tried++;
  if (!carry_out(&p, command, true)) {
    po_free(p);
    note(command, last_code());
    count_refusal(seed, was, command, last_code(), t);
    return (state){.p = NULL};
  }
  forget_diagnostics();
  t->accepted++;
  came_to.accepted++;
  note(command, text_of(p));
  state is = state_of(p, room);
  ju_answer answer = judge(was, &is, &why);
  t->ordered += answer == JU_YES;
  if (answer == JU_NO)
    complain(seed, was, command, "accepted, and wrong", why);
  if (is_command(command, "split") && factors_reach(was, command) == JU_NO)
    complain(seed, was, command, "accepted", "factors do not reach the end");
  return is;
}

/* ---- C ---- */

enum { BATCH = 20, PER_CODE = 3 };

/* What commands led to, and the inputs and outputs of its C. */
typedef struct coded {
  uint64_t seed, expected;
  po_program *p;
  gs_tensor in[4], out[4];
} coded;

static coded waiting[BATCH];
static uint32_t n_waiting;
static uint64_t n_compiled;

static bool
has_code(const po_program *p) {
  bs_text c, h;
  bs_text_init(&c, &heap);
  bs_text_init(&h, &heap);
  cg_options options = {.name = "f", .openmp = true};
  bool ok = cg_emit_c(p, &options, &c, &h);
  bs_text_done(&h);
  bs_text_done(&c);
  forget_diagnostics();
  return ok;
}

/* The program is kept, or freed. */
static void
keep_for_code(uint64_t seed, const state *s) {
  coded *c = &waiting[n_waiting];
  po_lay_out(s->p);
  if (SANITIZED || seed % PER_CODE || !s->runs || s->calls || !has_code(s->p)) {
    po_free(s->p);
    return;
  }
  *c = (coded){.seed = seed, .expected = s->values[0], .p = s->p};
  seed_inputs(s->p, FIRST_INPUTS, c->in, c->out);
  n_waiting++;
}

static bool
run_coded(coded *list, uint32_t n) {
  cg_job jobs[BATCH];
  cg_build_options options = {
      .sanitize = true, .optimize = "-O0", .time_limit = 300, .threads = 2};
  for (uint32_t k = 0; k < n; k++)
    jobs[k] = (cg_job){
        .program = list[k].p, .inputs = list[k].in, .outputs = list[k].out};
  return !n || cg_build_and_run_all(jobs, n, &options, 1);
}

/* All that wait are compiled together, and each alone where that fails. */
static void
run_waiting(void) {
  bool all = run_coded(waiting, n_waiting);
  forget_diagnostics();
  for (uint32_t k = 0; k < n_waiting; k++) {
    coded *c = &waiting[k];
    if ((all || run_coded(c, 1)) && hash_outputs(c->p, c->out) == c->expected)
      continue;
    printf("seed %llu: its C does not do the same\n%s",
           (unsigned long long)c->seed, text_of(c->p));
    show_diagnostics();
    n_failed++;
  }
  n_compiled += n_waiting;
  for (uint32_t k = 0; k < n_waiting; k++)
    po_free(waiting[k].p);
  n_waiting = 0;
}

/* ---- programs and their commands ---- */

static void
try_program(uint64_t seed, int commands, int depth) {
  static char text[TEXT];
  random_start(seed);
  make_hard_program(text, sizeof text);
  uint32_t source = bs_source_add(&diags, "random.loops", text, strlen(text));
  po_program *p = po_read_loops(&ctx, target, source, NULL, 0);
  if (!p) {
    printf("seed %llu: the program is not read:\n%s", (unsigned long long)seed,
           text);
    show_diagnostics();
    n_failed++;
    return;
  }
  came_to = (outcome){0};
  note(text, "");
  state at = state_of(p, &orders[0]);
  for (int level = 0; level < depth && level < DEEPEST; level++) {
    state next = {.p = NULL};
    for (int k = 0; k < commands; k++) {
      char command[COMMAND];
      make_any_command(at.p, command, sizeof command);
      state is = try_command(seed, &at, command, room_beside(&at, &next));
      if (!is.p)
        continue;
      if (next.p)
        po_free(next.p);
      next = is;
      if (k > commands / 2)
        break;
    }
    if (!next.p)
      break;
    po_free(at.p);
    at = next;
  }
  keep_for_code(seed, &at);
  if (commands == COMMANDS && depth == DEPTH &&
      !recorded_same("schedule_legality", seed,
                     "%u of %u commands accepted, texts %016" PRIx64,
                     came_to.accepted, came_to.tried, came_to.hash))
    n_failed++;
}

static bool
report(uint64_t first, uint64_t n) {
  tally all = {0};
  printf("  %-24s %7s %8s %8s %7s %8s %7s %7s\n", "", "tried", "accepted",
         "ordered", "illegal", "too-much", "open", "form");
  for (uint32_t k = 0; k < po_n_primitives && k < MOST; k++) {
    const tally *t = &tallies[k];
    printf("  %-24s %7llu %8llu %8llu %7llu %8llu %7llu %7llu\n",
           po_primitives[k].name, (unsigned long long)t->tried,
           (unsigned long long)t->accepted, (unsigned long long)t->ordered,
           (unsigned long long)t->illegal, (unsigned long long)t->strict,
           (unsigned long long)t->open, (unsigned long long)t->formal);
    all.tried += t->tried;
    all.accepted += t->accepted;
    all.illegal += t->illegal;
  }
  printf("%llu programs from seed %llu, %llu commands, %llu accepted, %llu "
         "illegal, %llu texts not read, %llu with C, %llu failed\n",
         (unsigned long long)n, (unsigned long long)first,
         (unsigned long long)all.tried, (unsigned long long)all.accepted,
         (unsigned long long)all.illegal, (unsigned long long)n_unread,
         (unsigned long long)n_compiled, (unsigned long long)n_failed);
  return !n_failed;
}

int
main(int argc, char **argv) {
  uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
  uint64_t n = argc > 2 ? strtoull(argv[2], NULL, 10) : 200;
  int commands = argc > 3 ? atoi(argv[3]) : COMMANDS;
  int depth = argc > 4 ? atoi(argv[4]) : DEPTH;
  verbose = getenv("LEGALITY_VERBOSE") != NULL;
  for (uint64_t k = 0; k < n; k++) {
    if (k % BATCH == 0 && !start())
      return 1;
    try_program(first + k, commands, depth);
    if (k % BATCH < BATCH - 1 && k + 1 < n)
      continue;
    run_waiting();
    bs_heap_done(&heap);
  }
  return !report(first, n);
}
