/* schedule_scripts.c - random loop programs under random schedule scripts.
 *
 *   schedule_scripts [first-seed [programs [steps [optimize]]]]
 *
 * A program is a chain of stages over small arrays: element by element,
 * stencils, transposes, reductions, recurrences in place, triangles.  A script
 * is made step by step from what the program then has; commands that are
 * refused leave it as it was.  After every accepted command outputs must equal
 * those of the unscheduled program (the oracle runs instances one by one), the
 * gate must accept the result, and (of one program in four) the script's normal
 * form must lead to the same text.  Every accepted command is a case.  The C of
 * what each third script leaves is compiled, many programs together, and finds
 * the same; where glen itself runs under the sanitizers it is made only.  A
 * failing case is shrunk by leaving out commands; seed, program and script are
 * printed. */
#include "codegen/build.h"
#include "poly/execute.h"
#include "poly/schedule/primitive.h"
#include "tests/unit/sanitized.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The C of one program in three is compiled: it takes as long as the rest. */
enum { MAX_STEPS = 16, TEXT = 8192, BATCH = 100, PER_CODE = 3 };

static bs_heap heap;
static bs_arena arena;
static bs_diags diags;
static gs_context ctx;
static gs_target *target;
static uint64_t state;
static uint64_t tried[64], accepted[64], n_cases, n_compiled;

static uint64_t
random64(void) {
  state += 0x9e3779b97f4a7c15u;
  uint64_t z = state;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

static int
pick(int lo, int hi) {
  return lo + (int)(random64() % (uint64_t)(hi - lo + 1));
}

static void
start(void) {
  bs_heap_init(&heap, NULL, 0);
  bs_arena_init(&arena, &heap);
  bs_diags_init(&diags, &heap);
  ctx = (gs_context){&heap, &arena, bs_values_new(&heap), &diags};
  target = gs_target_default(&ctx);
}

/* ---- programs ---- */

typedef struct writer {
  char *at, *end;
  int n_stmts, n_loops;
} writer;

__attribute__((format(printf, 2, 3))) static void
put(writer *w, const char *format, ...) {
  va_list args;
  va_start(args, format);
  int n = vsnprintf(w->at, (size_t)(w->end - w->at), format, args);
  va_end(args);
  if (n > 0 && w->at + n < w->end)
    w->at += n;
}

enum { SIDE = 7 };

/* One stage from array `from`, of which n x m elements are set, to `to`. */
static void
put_stage(writer *w, const char *from, const char *to, int *n, int *m) {
  int kind = pick(0, 6), s = w->n_stmts;
  char i[8], j[8], k[8];
  snprintf(i, sizeof i, "i%d", w->n_loops);
  snprintf(j, sizeof j, "j%d", w->n_loops);
  snprintf(k, sizeof k, "k%d", w->n_loops++);
  int di = pick(0, 2), dj = pick(0, 2);
  if (kind == 1 && (*n - di < 3 || *m - dj < 3))
    kind = 0;
  if (kind == 1) {
    *n -= di;
    *m -= dj;
  }
  if (kind == 2) {
    int old = *n;
    *n = *m;
    *m = old;
  }
  put(w, "for %s in 0..%d {\n  for %s in 0..%d {\n", i, *n, j, *m);
  switch (kind) {
  case 0:
    put(w, "    S%d: %s[%s, %s] = %s[%s, %s] * 3.0\n", s, to, i, j, from, i, j);
    break;
  case 1:
    put(w, "    S%d: %s[%s, %s] = %s[%s, %s] + %s[%s + %d, %s + %d]\n", s, to,
        i, j, from, i, j, from, i, di, j, dj);
    break;
  case 2:
    put(w, "    S%d: %s[%s, %s] = %s[%s, %s] + 1.0\n", s, to, i, j, from, j, i);
    break;
  case 3:
    put(w, "    S%d: %s[%s, %s] = 0.0\n    for %s in 0..%d {\n", s, to, i, j, k,
        *m);
    put(w, "      S%d: %s[%s, %s] += %s[%s, %s] * %s[%s, %s]\n    }\n", s + 1,
        to, i, j, from, i, k, from, i, j);
    w->n_stmts++;
    break;
  case 4: /* in place, down the columns or along the rows */
    put(w, "    S%d: %s[%s, %s] = %s[%s, %s]\n  }\n}\n", s, to, i, j, from, i,
        j);
    put(w, "for a%s in 1..%d {\n  for a%s in 0..%d {\n", i, *n, j, *m);
    put(w, "    S%d: %s[a%s, a%s] = %s[a%s - 1, a%s] + %s[a%s, a%s]\n", s + 1,
        to, i, j, to, i, j, from, i, j);
    w->n_stmts++;
    break;
  case 5: /* the largest so far of a row, from the end */
    put(w, "    S%d: %s[%s, %s] = %s[%s, %d - %s]\n", s, to, i, j, from, i,
        *m - 1, j);
    put(w, "    for %s in 0..%s + 1 {\n", k, j);
    put(w, "      S%d: %s[%s, %s] max= %s[%s, %s]\n    }\n", s + 1, to, i, j,
        from, i, k);
    w->n_stmts++;
    break;
  default: /* two statements that share loops */
    put(w, "    S%d: %s[%s, %s] = %s[%s, %s] - 2.0\n", s, to, i, j, from, i, j);
    put(w, "    S%d: %s[%s, %s] += %s[%s, 0]\n", s + 1, to, i, j, from, i);
    w->n_stmts++;
  }
  w->n_stmts++;
  put(w, "  }\n}\n");
}

/* The last stage writes all of the output: of what nobody writes C and oracle
 * know different things. */
static void
make_program(char *text, size_t size) {
  static char body[TEXT];
  writer w = {body, body + sizeof body, 0, 0}, head = {text, text + size, 0, 0};
  int stages = pick(1, 3), n = pick(5, SIDE), m = pick(4, SIDE);
  for (int k = 0; k < stages; k++) {
    char from[8], to[8];
    snprintf(from, sizeof from, "T%d", k);
    snprintf(to, sizeof to, "T%d", k + 1);
    put_stage(&w, from, to, &n, &m);
  }
  put(&head, "input T0: i32[%d, %d]\noutput T%d: i32[%d, %d]\n", SIDE, SIDE,
      stages, n, m);
  for (int k = 1; k < stages; k++)
    put(&head, "workspace T%d: i32[%d, %d]\n", k, SIDE, SIDE);
  put(&head, "\n%s", body);
}

static po_program *
read_program(const char *text) {
  uint32_t source = bs_source_add(&diags, "random.loops", text, strlen(text));
  return po_read_loops(&ctx, target, source);
}

/* ---- commands ---- */

static const char *
some_loop(const po_program *p) {
  const char *all[256];
  int n = 0;
  for (uint32_t k = 1; k < p->nest.nodes.len && n < 256; k++)
    if (p->nest.nodes.data[k].kind == PO_LOOP)
      all[n++] = p->nest.nodes.data[k].name;
  return n ? all[pick(0, n - 1)] : "none";
}

/* A loop around the same statement as another one, more often than not. */
static const char *
near_loop(const po_program *p, const char *loop) {
  uint32_t node = po_nest_find(p, loop), loops[PO_MAX_DEPTH];
  if (node == PO_NO_NODE || !pick(0, 4))
    return some_loop(p);
  while (p->nest.nodes.data[node].kind == PO_LOOP &&
         p->nest.nodes.data[node].first != PO_NO_NODE)
    node = p->nest.nodes.data[node].first;
  uint32_t n = po_nest_loops(p, node, loops);
  return n ? p->nest.nodes.data[loops[pick(0, (int)n - 1)]].name : "none";
}

static const char *
inner_loop(const po_program *p, const char *loop) {
  uint32_t node = po_nest_find(p, loop);
  uint32_t kid = node == PO_NO_NODE ? node : p->nest.nodes.data[node].first;
  return kid != PO_NO_NODE && p->nest.nodes.data[kid].kind == PO_LOOP
             ? p->nest.nodes.data[kid].name
             : some_loop(p);
}

static const char *
some_stmt(const po_program *p) {
  return p->stmts.data[pick(0, (int)p->stmts.len - 1)].name;
}

static const char *
some_array(const po_program *p) {
  return p->arrays.data[pick(0, (int)p->arrays.len - 1)].name;
}

/* The loop that stands next to this one. */
static const char *
next_loop(const po_program *p, const char *loop) {
  uint32_t node = po_nest_find(p, loop);
  uint32_t next = node == PO_NO_NODE ? node : p->nest.nodes.data[node].next;
  return next != PO_NO_NODE && p->nest.nodes.data[next].kind == PO_LOOP
             ? p->nest.nodes.data[next].name
             : some_loop(p);
}

/* A statement that makes an array with folds, such as a cache in a loop, the
 * array, and a loop around them; others where there are none. */
static void
pick_folded(const po_program *p, const char **stmt, const char **array,
            const char **loop) {
  for (uint32_t k = 0; k < p->stmts.len; k++) {
    const po_stmt *s = &p->stmts.data[k];
    const po_array *a = &p->arrays.data[s->array];
    uint32_t loops[PO_MAX_DEPTH], n = po_nest_loops(p, s->leaf, loops);
    if (a->role != PO_LOCAL || !n || !pick(0, 2))
      continue;
    *stmt = s->name;
    *array = a->name;
    *loop = p->nest.nodes.data[loops[pick(0, (int)n - 1)]].name;
  }
}

/* A factor for each index of some statement. */
static void
put_padding(const po_program *p, char *out, size_t size) {
  const po_stmt *s = &p->stmts.data[pick(0, (int)p->stmts.len - 1)];
  int n = snprintf(out, size, "pad_einsum %s [", s->name);
  for (uint32_t k = 0; k < s->n_iters && n > 0 && (size_t)n < size; k++)
    n += snprintf(out + n, size - (size_t)n, "%s%d", k ? ", " : "", pick(1, 4));
  if (n > 0 && (size_t)n < size)
    snprintf(out + n, size - (size_t)n, "]");
}

static void
make_command(const po_program *p, char *out, size_t size) {
  static const char *const scopes[] = {"local", "global", "shared"};
  const char *a = some_loop(p), *b = near_loop(p, a), *c = near_loop(p, a);
  const char *s = some_stmt(p), *x = some_array(p), *scope = scopes[pick(0, 2)];
  int f = pick(1, 5);
  switch (pick(0, 30)) {
  case 0:
  case 1:
    snprintf(out, size, "split %s [-1, %d]", a, f);
    break;
  case 2:
    snprintf(out, size, "split %s [%d, -1, %d]", a, pick(1, 3), pick(1, 3));
    break;
  case 3:
    snprintf(out, size, "fuse [%s, %s]", a, inner_loop(p, a));
    break;
  case 4:
    snprintf(out, size, "reorder [%s, %s]", a, b);
    break;
  case 5:
    snprintf(out, size, "reorder [%s, %s, %s]", a, b, c);
    break;
  case 6:
    snprintf(out, size, "tile [%s, %s] [%d, %d]", a, b, f, pick(1, 4));
    break;
  case 7:
    snprintf(out, size, "fission %s %s", a, pick(0, 1) ? b : s);
    break;
  case 8:
    f = pick(0, 5);
    if (f < 3)
      snprintf(out, size, "merge %s %s", a, next_loop(p, a));
    else if (f < 5)
      snprintf(out, size, "interleave [%s, %s] %d [%d, %d]", a, next_loop(p, a),
               pick(1, 8), pick(0, 2), pick(0, 8));
    else
      snprintf(out, size, "put_after %s %s", pick(0, 1) ? s : a,
               pick(0, 1) ? b : some_stmt(p));
    break;
  case 9:
    snprintf(out, size, "simple_compute_at %s %s", s, a);
    break;
  case 10:
    snprintf(out, size, "shift %s %s %d", s, a, pick(-2, 2));
    break;
  case 11:
    snprintf(out, size, "peel %s %d", a, pick(-3, 3));
    break;
  case 12:
    snprintf(out, size, "partition %s [%d, %d]", a, pick(1, 3), pick(3, 6));
    break;
  case 13:
    snprintf(out, size, "compute_inline %s", pick(0, 1) ? s : x);
    break;
  case 14:
    snprintf(out, size, "reverse_compute_inline %s", s);
    break;
  case 15:
  case 16:
    snprintf(out, size, "compute_at %s %s", pick(0, 1) ? s : x, a);
    break;
  case 17:
    snprintf(out, size, "reverse_compute_at %s %s", s, a);
    break;
  case 18:
    snprintf(out, size, "cache_read %s %s %s at %s", s, x, scope, a);
    break;
  case 19:
    snprintf(out, size, "cache_read %s %s %s", s, x, scope);
    break;
  case 20:
    snprintf(out, size, "cache_write %s %s%s%s", pick(0, 1) ? s : x, scope,
             pick(0, 1) ? " at " : "", "");
    if (strstr(out, " at "))
      snprintf(out + strlen(out), size - strlen(out), "%s", a);
    break;
  case 21:
    snprintf(out, size, "rfactor %s %d", a, pick(0, 2));
    break;
  case 22:
    if (pick(0, 1)) {
      snprintf(out, size, "decompose_reduction %s %s", s, a);
      break;
    }
    pick_folded(p, &s, &x, &a);
    snprintf(out, size, "pipeline %s %s", s, a);
    break;
  case 23:
    if (pick(0, 1))
      snprintf(out, size, "vectorize %s %d", a, 1 << pick(0, 3));
    else
      snprintf(out, size, "%s %s",
               pick(0, 2) ? (pick(0, 1) ? "parallel" : "serial") : "unroll", a);
    break;
  case 24:
    put_padding(p, out, size);
    break;
  case 25:
    snprintf(
        out, size,
        "pack %s %s \"[i, j] -> [floor(j / %d), i, j mod %d]\" local at %s", s,
        x, f, f, a);
    break;
  case 26:
    pick_folded(p, &s, &x, &a);
    if (pick(0, 1))
      snprintf(out, size, "double_buffer %s %s %d", x, a, pick(2, 3));
    else
      snprintf(out, size, "set_buffer %s %s", x, scope);
    break;
  case 27:
  case 28:
    snprintf(out, size, "roll %s %s%s", pick(0, 1) ? s : x, a,
             pick(0, 2) ? "" : " fill=first");
    break;
  case 29:
    pick_folded(p, &s, &x, &a);
    if (pick(0, 1))
      snprintf(out, size, "fold_storage %s %d", x, pick(-2, 2));
    else
      snprintf(out, size, "fold_storage %s %d %d", x, pick(-2, 2), f);
    break;
  default:
    if (pick(0, 1))
      snprintf(out, size,
               "transform_layout %s \"[i, j] -> [floor(j / %d), i, j mod %d]\"",
               x, f, f);
    else
      snprintf(out, size, "storage_align %s %d %d %d", x, pick(0, 2), f,
               pick(0, f - 1));
  }
}

static void
forget_diagnostics(void) {
  bs_clear(&diags.list);
  diags.errors = diags.warnings = 0;
  diags.dropped = false;
}

static bool
apply(po_program **p, const char *command) {
  bs_text out;
  bs_text_init(&out, &heap);
  uint32_t source =
      bs_source_add(&diags, "random.sched", command, strlen(command));
  bool ok = po_run_script(p, source, &out);
  bs_text_done(&out);
  forget_diagnostics();
  return ok;
}

/* ---- the oracle ---- */

static uint64_t
hash_of(const gs_tensor *t) {
  uint64_t hash = 1469598103934665603u;
  const unsigned char *bytes = t->data;
  for (int64_t k = 0; k < t->elements * 4; k++)
    hash = (hash ^ bytes[k]) * 1099511628211u;
  return hash;
}

static uint64_t
outputs_of(const po_program *p, bool *ran) {
  gs_tensor in[4], out[4];
  po_seed_tensors(p, 7, in, out);
  *ran = po_execute(p, in, out);
  return hash_of(&out[0]);
}

static char *
text_of(const po_program *p) {
  bs_text out;
  bs_text_init(&out, &heap);
  po_print(p, &out);
  return bs_arena_strdup(&arena, bs_text_str(&out));
}

/* What is wrong with a program; NULL: nothing. */
static const char *
wrong(po_program *p, uint64_t expected) {
  bool ran;
  uint64_t got = outputs_of(p, &ran);
  if (!ran)
    return "the program does not run";
  return got == expected ? NULL : "outputs differ";
}

static const char *
replayed_differs(const char *program, const po_program *p) {
  bs_text out;
  bs_text_init(&out, &heap);
  po_print_script(p, &out);
  po_program *again = read_program(program);
  po_violation v;
  if (!apply(&again, bs_text_str(&out)))
    return "the normal form is refused";
  if (!po_program_is_legal(again, &v))
    return "the gate does not accept the result";
  const char *same = strcmp(text_of(again), text_of(p)) == 0
                         ? NULL
                         : "the normal form leads elsewhere";
  po_free(again);
  return same;
}

/* ---- the C ---- */

static const char *optimize = "-O1";

/* A program that a script led to. */
typedef struct trial {
  char text[TEXT];
  uint64_t seed, expected;
  po_program *loops;
  gs_tensor in[4], out[4];
  bool has_code;
} trial;

/* Whether C can be made: what is meant for a GPU is refused. */
static bool
has_code(const po_program *p) {
  bs_text c, h;
  bs_text_init(&c, &heap);
  bs_text_init(&h, &heap);
  cg_options options = {.name = "f", .openmp = true};
  bool ok = cg_emit_c(p, &options, &c, &h);
  bs_text_done(&h);
  bs_text_done(&c);
  return ok;
}

/* Compiles and runs those that have code; false: the compiler refuses some, or
 * one dies. */
static bool
run_code(trial *trials, uint32_t n) {
  cg_job *jobs = BS_NEWS(&arena, cg_job, n ? n : 1);
  cg_build_options options = {
      .optimize = optimize, .time_limit = 300, .threads = 2};
  uint32_t n_jobs = 0;
  for (uint32_t k = 0; k < n; k++) {
    trial *t = &trials[k];
    po_lay_out(t->loops);
    t->has_code = t->seed % PER_CODE == 0 && has_code(t->loops);
    if (!t->has_code || SANITIZED)
      continue;
    po_seed_tensors(t->loops, 7, t->in, t->out);
    jobs[n_jobs++] =
        (cg_job){.program = t->loops, .inputs = t->in, .outputs = t->out};
  }
  return !n_jobs || cg_build_and_run_all(jobs, n_jobs, &options, 1);
}

static bool
code_agrees(const trial *t) {
  return SANITIZED || !t->has_code || hash_of(&t->out[0]) == t->expected;
}

/* ---- cases ---- */

typedef struct script {
  char command[MAX_STEPS][256];
  bool kept[MAX_STEPS];
  int n;
} script;

/* Runs the commands that are kept; what went wrong. */
static const char *
run_script(const char *program, const script *s) {
  po_program *p = read_program(program);
  bool ran;
  uint64_t expected = outputs_of(p, &ran);
  const char *fault = NULL;
  for (int k = 0; !fault && k < s->n; k++)
    if (s->kept[k] && apply(&p, s->command[k])) {
      fault = wrong(p, expected);
      text_of(p);
    }
  if (!fault)
    fault = replayed_differs(program, p);
  trial t = {.expected = expected, .loops = p}; /* seed 0: has code */
  if (!fault && !run_code(&t, 1))
    fault = "its C does not compile or run";
  if (!fault && !code_agrees(&t))
    fault = "outputs of its C differ";
  forget_diagnostics();
  po_free(p);
  return fault;
}

static void
shrink(const char *program, script *s) {
  for (int k = 0; k < s->n; k++) {
    if (!s->kept[k])
      continue;
    s->kept[k] = false;
    if (!run_script(program, s))
      s->kept[k] = true;
  }
}

static int
number_of(const char *command) {
  char name[64];
  snprintf(name, sizeof name, "%.*s", (int)strcspn(command, " "), command);
  const po_primitive *what = po_primitive_find(name);
  return what ? (int)(what - po_primitives) : 63;
}

/* What the compiler said of the C, and glen of it. */
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

static void
report(const trial *t, script *s, const char *fault) {
  printf("seed %llu: %s\n", (unsigned long long)t->seed, fault);
  shrink(t->text, s);
  printf("%s", t->text);
  for (int k = 0; k < s->n; k++)
    if (s->kept[k])
      printf("  %s\n", s->command[k]);
}

/* A program and its script, up to the C; false: it fails. */
static bool
schedule(trial *t, script *s, int steps) {
  bool ran;
  state = t->seed * 1000003u;
  make_program(t->text, sizeof t->text);
  po_program *p = read_program(t->text);
  if (!p) {
    printf("seed %llu: the program is not read:\n%s",
           (unsigned long long)t->seed, t->text);
    return false;
  }
  t->expected = outputs_of(p, &ran);
  const char *fault = ran ? NULL : "the program does not run";
  for (int tries = 0; !fault && tries < 4 * steps && s->n < steps; tries++) {
    make_command(p, s->command[s->n], sizeof s->command[s->n]);
    int number = number_of(s->command[s->n]);
    tried[number]++;
    if (!apply(&p, s->command[s->n]))
      continue;
    accepted[number]++;
    s->kept[s->n++] = true;
    n_cases++;
    fault = wrong(p, t->expected);
    if (t->seed % 4 == 0)
      text_of(p); /* what is asked in between changes nothing */
  }
  if (!fault && t->seed % 4 == 0)
    fault = replayed_differs(t->text, p);
  if (fault)
    report(t, s, fault);
  t->loops = p;
  return !fault;
}

/* Programs of consecutive seeds in one context; how many fail. */
static int
run_batch(uint64_t first, uint32_t n, int steps) {
  start();
  trial *trials = bs_calloc(&heap, n, sizeof *trials);
  script *scripts = bs_calloc(&heap, n, sizeof *scripts);
  uint32_t made = 0;
  for (uint32_t k = 0; k < n; k++) {
    trials[made] = (trial){.seed = first + k};
    scripts[made].n = 0;
    made += schedule(&trials[made], &scripts[made], steps);
  }
  bool all = run_code(trials, made);
  if (!all)
    show_diagnostics();
  forget_diagnostics();
  int failed = (int)(n - made);
  for (uint32_t k = 0; k < made; k++) {
    n_compiled += trials[k].has_code;
    const char *fault = all && code_agrees(&trials[k])
                            ? NULL
                            : run_script(trials[k].text, &scripts[k]);
    if (fault) {
      failed++;
      report(&trials[k], &scripts[k], fault);
    }
  }
  for (uint32_t k = 0; k < made; k++)
    po_free(trials[k].loops);
  bs_heap_done(&heap);
  return failed;
}

int
main(int argc, char **argv) {
  uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
  uint64_t n = argc > 2 ? strtoull(argv[2], NULL, 10) : 1000;
  int steps = argc > 3 ? atoi(argv[3]) : 6, failed = 0;
  optimize = argc > 4 ? argv[4] : optimize;
  if (steps < 1 || steps > MAX_STEPS)
    steps = MAX_STEPS;
  for (uint64_t k = 0; k < n; k += BATCH)
    failed +=
        run_batch(first + k, (uint32_t)(n - k < BATCH ? n - k : BATCH), steps);
  printf("%llu programs from seed %llu, %llu cases, %llu with C, %d failed\n",
         (unsigned long long)n, (unsigned long long)first,
         (unsigned long long)n_cases, (unsigned long long)n_compiled, failed);
  for (uint32_t k = 0; k < po_n_primitives && k < 64; k++)
    if (tried[k])
      printf("  %-24s %6llu accepted of %6llu\n", po_primitives[k].name,
             (unsigned long long)accepted[k], (unsigned long long)tried[k]);
  return failed != 0;
}
