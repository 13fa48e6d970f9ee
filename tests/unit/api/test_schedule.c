/* SPDX-License-Identifier: MIT */
/* test_schedule.c - the commands of schedules as functions: each does what the
 * command of a script does, and its refusals are values. */
#include "fixture.h"

/* ---- programs ---- */

#define COPY                                                                   \
  "input A: f32[32, 64]\noutput B: f32[32, 64]\n"                              \
  "for i in 0..32 { for j in 0..64 { S: B[i, j] = A[i, j] } }\n"
#define BLUR                                                                   \
  "input A: f32[66]\noutput C: f32[64]\nworkspace B: f32[66]\n"                \
  "for x in 0..66 { SB: B[x] = A[x] * 0.5 }\n"                                 \
  "for i in 0..64 { SC: C[i] = B[i] + B[i + 2] }\n"
#define CHAIN                                                                  \
  "input A: f32[32, 32]\noutput C: f32[32, 32]\nworkspace B: f32[32, 32]\n"    \
  "for x in 0..32 { for y in 0..32 { SB: B[x, y] = A[x, y] + 1.0 } }\n"        \
  "for i in 0..32 { for j in 0..32 { SC: C[i, j] = B[i, j] * 2.0 } }\n"
#define SUM                                                                    \
  "input A: f32[32, 2, 16]\noutput B: f32[32]\n"                               \
  "for i in 0..32 { I: B[i] = 0.0\n"                                           \
  "  for j in 0..2 { for k in 0..16 { U: B[i] += A[i, j, k] } } }\n"
#define MATMUL                                                                 \
  "input A: f32[128, 96]\ninput B: f32[96, 64]\noutput C: f32[128, 64]\n"      \
  "for i in 0..128 { for j in 0..64 { I: C[i, j] = 0.0\n"                      \
  "  for k in 0..96 { U: C[i, j] += A[i, k] * B[k, j] } } }\n"
#define SKEW                                                                   \
  "output A: i32[33, 34]\n"                                                    \
  "for i in 0..32 { for j in 1..33 { S: A[i + 1, j - 1] = A[i, j] + 1.0 } }\n"
#define PARTS                                                                  \
  "input A: f32[90]\noutput C: f32[20]\noutput D: f32[20]\n"                   \
  "workspace B: f32[90]\n"                                                     \
  "for x in 0..90 { P: B[x] = exp(A[x]) }\n"                                   \
  "for i in 0..20 { S: C[i] = B[i] + B[i + 2] }\n"                             \
  "for j in 0..20 { T: D[j] = B[j + 60] }\n"
#define TARGET                                                                 \
  "(target adder (host (flops-per-cycle 2) (scalar-ops-per-cycle 1)))\n"       \
  "(instr add8 \"eight sums\" (operands (a ((8) ()) f32) (b ((8) ()) f32))\n"  \
  "  (result ((8) ()) f32) (semantics (compute add (pair a b)))\n"             \
  "  (cost (cycles 1)) (emit \"add8({a}, {b}, {result});\"))\n"
#define ADD                                                                    \
  "input A: f32[32, 8]\ninput B: f32[32, 8]\noutput C: f32[32, 8]\n"           \
  "for i in 0..32 { for j in 0..8 { S: C[i, j] = A[i, j] + B[i, j] } }\n"

static glen_loops *
load(glen_context *glen, const char *text) {
  const char *path = "adder.target";
  bool calls = !strcmp(text, ADD);
  put("p.loops", text);
  if (calls)
    put(path, TARGET);
  glen_target *target = glen_target_load(glen, calls ? path : NULL);
  cr_assert_not_null(target, "%s", glen_take_diagnostics(glen, GLEN_DIAG_TEXT));
  glen_loops *loops = glen_loops_load(glen, target, "p.loops", false);
  cr_assert_not_null(loops, "%s", glen_take_diagnostics(glen, GLEN_DIAG_TEXT));
  return loops;
}

static void
run_script(glen_context *glen, glen_loops *loops, const char *script) {
  const char *printed;
  put("s.sched", script);
  cr_assert(glen_schedule(glen, loops, "s.sched", false, &printed), "%s: %s",
            script, glen_take_diagnostics(glen, GLEN_DIAG_TEXT));
}

/* ---- each command ---- */

typedef struct step {
  const char *program;
  const char *before; /* a script that both run first */
  const char *command;
  bool (*call)(glen_context *, glen_loops *);
} step;

#define CALL(name, call)                                                       \
  static bool name(glen_context *g, glen_loops *l) {                           \
    return call;                                                               \
  }
#define LIST(...) __VA_ARGS__
/* With lists of numbers or names. */
#define CALL_WITH(name, lists, call)                                           \
  static bool name(glen_context *g, glen_loops *l) {                           \
    lists;                                                                     \
    return call;                                                               \
  }

typedef const int64_t ints[];
typedef const char *const words[];

static bool
split(glen_context *g, glen_loops *l) {
  glen_made made = {2, {"a", "b"}};
  bool ok = glen_loops_split(g, l, "i", (ints){-1, 8}, 2, &made);
  cr_expect_eq(made.n, 2);
  cr_expect_str_eq(made.names[0], "a");
  cr_expect_str_eq(made.names[1], "b");
  return ok;
}

/* Names that nobody chose are told, and may be used at once. */
static bool
tile(glen_context *g, glen_loops *l) {
  glen_made made = {0};
  bool ok = glen_loops_tile(g, l, (words){"i", "j"}, (ints){8, 8}, 2, &made) &&
            glen_loops_unroll(g, l, made.names[3]);
  cr_expect_eq(made.n, 4);
  return ok;
}

static bool
contract(glen_context *g, glen_loops *l) {
  return glen_loops_contract(
      g, l, "C",
      &(glen_contract){.size = sizeof(glen_contract), .as = "loops"});
}

static bool
contract_of_size(glen_context *g, glen_loops *l) {
  return glen_loops_contract(g, l, "C",
                             &(glen_contract){.size = sizeof(glen_contract),
                                              .swap = "false",
                                              .rows = 4,
                                              .vectors = 2});
}

CALL(contract_as_glen_likes, glen_loops_contract(g, l, "C", NULL))
CALL(fuse, glen_loops_fuse(g, l, (words){"i", "j"}, 2, NULL))
CALL(reorder, glen_loops_reorder(g, l, (words){"j", "i"}, 2))
CALL(fission, glen_loops_fission(g, l, "i", "j", NULL))
CALL(merge, glen_loops_merge(g, l, "x", "i", NULL))
CALL(compute_with, glen_loops_compute_with(g, l, "x", "i", 2, NULL))
CALL(compute_all_with,
     glen_loops_compute_with(g, l, "x", "i", GLEN_LEFT_OUT, NULL))
CALL(put_after, glen_loops_put_after(g, l, "j", "x"))
CALL(interleave,
     glen_loops_interleave(g, l, (words){"x", "i"}, 2, 16, (ints){0, 4}, NULL))
CALL(simple_compute_at, glen_loops_simple_compute_at(g, l, "SB", "j"))
CALL(shift, glen_loops_shift(g, l, "SC", "i", 2))
CALL(skew, glen_loops_skew(g, l, "j", "i", 1, NULL))
CALL(enclose, glen_loops_enclose(g, l, "i", "S[i, j] -> [floor(i / 8)]", NULL))
CALL(serial, glen_loops_serial(g, l, "i"))
CALL(unroll, glen_loops_unroll(g, l, "j"))
CALL(parallel, glen_loops_parallel(g, l, "i"))
CALL(vectorize, glen_loops_vectorize(g, l, "j", 8, NULL))
CALL(vectorize_tail, glen_loops_vectorize(g, l, "j", 8, "mask"))
CALL(bind, glen_loops_bind(g, l, "i", "blockIdx.x"))
CALL(sync_threads, glen_loops_sync_threads(g, l, "S", false))
CALL(separate, glen_loops_separate(g, l, "i0"))
CALL(peel, glen_loops_peel(g, l, "i", -2, NULL))
CALL(partition, glen_loops_partition(g, l, "i", (ints){10, 20}, 2, NULL))
CALL(specialise, glen_loops_specialise(g, l, "j", "i mod 4 = 0", NULL))
CALL(divide, glen_loops_divide(g, l, "B"))
CALL(trim, glen_loops_trim(g, l, "B"))
CALL(compute_inline, glen_loops_compute_inline(g, l, "B"))
CALL(reverse_compute_inline, glen_loops_reverse_compute_inline(g, l, "C"))
CALL(compute_at, glen_loops_compute_at(g, l, "B", "i0"))
CALL(roll, glen_loops_roll(g, l, "B", "i1", NULL))
CALL(roll_first, glen_loops_roll(g, l, "B", "i1", "first"))
CALL(reverse_compute_at, glen_loops_reverse_compute_at(g, l, "C", "y"))
CALL(cache_read, glen_loops_cache_read(g, l, "SC", "B", "local", NULL))
CALL(cache_read_at, glen_loops_cache_read(g, l, "SC", "B", "local", "i"))
CALL(cache_write, glen_loops_cache_write(g, l, "B", "local", "i"))
CALL(pack, glen_loops_pack(g, l, "U", "B", "[k, j] -> [j, k]", "local", "j0"))
CALL(set_buffer, glen_loops_set_buffer(g, l, "B", "local"))
CALL(rfactor, glen_loops_rfactor(g, l, "U.k", GLEN_LEFT_OUT, NULL))
CALL(rfactor_axis, glen_loops_rfactor(g, l, "U.k", 1, NULL))
CALL(privatise, glen_loops_privatise(g, l, "U.k", 4, NULL))
CALL(decompose_reduction, glen_loops_decompose_reduction(g, l, "B", "i"))
CALL(transform_layout,
     glen_loops_transform_layout(g, l, "B", "[i, j] -> [j, i]"))
CALL(storage_align, glen_loops_storage_align(g, l, "B", 0, 8, 1))
CALL(fold_storage, glen_loops_fold_storage(g, l, "B", 1, GLEN_LEFT_OUT))
CALL(fold_storage_in, glen_loops_fold_storage(g, l, "B", 1, 3))
CALL(double_buffer, glen_loops_double_buffer(g, l, "B_local", "i0", 2))
CALL(pipeline, glen_loops_pipeline(g, l, "B_local_in", "i0", 1))
CALL(pad_einsum, glen_loops_pad_einsum(g, l, "U", (ints){1, 1, 5}, 3))
CALL(tensorize, glen_loops_tensorize(g, l, "j", "add8", NULL, 0))

static const step steps[] = {
    {COPY, "", "a, b = split i [-1, 8]", split},
    {COPY, "", "fuse [i, j]", fuse},
    {COPY, "", "a, b, c, d = tile [i, j] [8, 8]; unroll d", tile},
    {COPY, "", "reorder [j, i]", reorder},
    {SUM, "", "fission i j", fission},
    {CHAIN, "", "merge x i", merge},
    {CHAIN, "", "compute_with x i 2", compute_with},
    {CHAIN, "", "compute_with x i", compute_all_with},
    {PARTS, "", "put_after j x", put_after},
    {BLUR, "", "interleave [x, i] 16 [0, 4]", interleave},
    {CHAIN, "", "simple_compute_at SB j", simple_compute_at},
    {BLUR, "", "shift SC i 2", shift},
    {SKEW, "", "skew j i 1", skew},
    {COPY, "", "enclose i \"S[i, j] -> [floor(i / 8)]\"", enclose},
    {COPY, "parallel i", "serial i", serial},
    {COPY, "", "unroll j", unroll},
    {COPY, "", "parallel i", parallel},
    {COPY, "", "vectorize j 8", vectorize},
    {COPY, "", "vectorize j 8 tail=mask", vectorize_tail},
    {COPY, "", "bind i blockIdx.x", bind},
    {COPY, "bind j threadIdx.x", "sync_threads S after=false", sync_threads},
    {COPY, "i0, i1 = split i [-1, 7]", "separate i0", separate},
    {COPY, "", "peel i -2", peel},
    {COPY, "", "partition i [10, 20]", partition},
    {COPY, "", "specialise j \"i mod 4 = 0\"", specialise},
    {PARTS, "", "divide B", divide},
    {PARTS, "", "trim B", trim},
    {CHAIN, "", "compute_inline B", compute_inline},
    {CHAIN, "", "reverse_compute_inline C", reverse_compute_inline},
    {BLUR, "i0, i1 = split i [-1, 16]", "compute_at B i0", compute_at},
    {BLUR, "i0, i1 = split i [-1, 16]", "roll B i1", roll},
    {BLUR, "i0, i1 = split i [-1, 16]", "roll B i1 fill=first", roll_first},
    {CHAIN, "", "reverse_compute_at C y", reverse_compute_at},
    {BLUR, "", "cache_read SC B local", cache_read},
    {BLUR, "", "cache_read SC B local at i", cache_read_at},
    {SUM, "", "cache_write B local at i", cache_write},
    {MATMUL, "j0, j1 = split U.j [-1, 16]",
     "pack U B \"[k, j] -> [j, k]\" local at j0", pack},
    {CHAIN, "", "set_buffer B local", set_buffer},
    {SUM, "", "rfactor U.k", rfactor},
    {SUM, "", "rfactor U.k 1", rfactor_axis},
    {SUM, "", "privatise U.k 4", privatise},
    {SUM, "", "decompose_reduction B i", decompose_reduction},
    {CHAIN, "", "transform_layout B \"[i, j] -> [j, i]\"", transform_layout},
    {CHAIN, "", "storage_align B 0 8 1", storage_align},
    {BLUR, "i0, i1 = split i [-1, 16]; roll B i1", "fold_storage B 1",
     fold_storage},
    {BLUR, "i0, i1 = split i [-1, 16]; roll B i1", "fold_storage B 1 3",
     fold_storage_in},
    {BLUR, "i0, i1 = split i [-1, 16]; cache_read SC B local at i0",
     "double_buffer B_local i0 2", double_buffer},
    {BLUR, "i0, i1 = split i [-1, 16]; cache_read SC B local at i0",
     "pipeline B_local_in i0 1", pipeline},
    {MATMUL, "", "pad_einsum U [1, 1, 5]", pad_einsum},
    {ADD, "", "tensorize j add8", tensorize},
    {MATMUL, "", "contract C as=loops", contract},
    {MATMUL, "", "contract C", contract_as_glen_likes},
    {MATMUL, "", "contract C rows=4 vectors=2 swap=false", contract_of_size},
};
enum { N_STEPS = sizeof steps / sizeof *steps };

/* The program afterwards, and the commands that led to it, but for names that
 * were not asked for alike. */
static char *
outcome(glen_context *glen, glen_loops *loops) {
  const char *program = glen_schedule_print(glen, loops, GLEN_PRINT_PROGRAM);
  char *text = malloc(strlen(program) + 1);
  cr_assert_not_null(text);
  return strcpy(text, program);
}

Test(schedule, a_function_does_what_its_command_does) {
  use_folder();
  for (uint32_t k = 0; k < N_STEPS; k++) {
    const step *s = &steps[k];
    glen_context *glen = begin();
    glen_loops *by_script = load(glen, s->program);
    glen_loops *by_call = load(glen, s->program);
    run_script(glen, by_script, s->before);
    run_script(glen, by_call, s->before);
    run_script(glen, by_script, s->command);
    cr_assert(s->call(glen, by_call), "%s: %s", s->command,
              glen_take_diagnostics(glen, GLEN_DIAG_TEXT));
    if (s->call != tile) {
      char *a = outcome(glen, by_script), *b = outcome(glen, by_call);
      cr_expect_str_eq(a, b, "%s", s->command);
      free(a);
      free(b);
      cr_expect_str_eq(glen_schedule_print(glen, by_call, GLEN_PRINT_SCRIPT),
                       glen_schedule_print(glen, by_script, GLEN_PRINT_SCRIPT),
                       "%s", s->command);
    }
    glen_context_free(glen);
  }
}

/* Of "a, b = split LOOP [FACTOR, ...]": split. */
static void
command_of(const char *usage, char *out, size_t size) {
  const char *equals = strstr(usage, " = "), *quote = strchr(usage, '"');
  if (equals && (!quote || equals < quote))
    usage = equals + 3;
  size_t n = strcspn(usage, " ;");
  cr_assert_lt(n, size);
  memcpy(out, usage, n);
  out[n] = '\0';
}

Test(schedule, every_command_is_a_function) {
  glen_context *glen = begin();
  char *help = strdup(glen_schedule_help(glen));
  uint32_t commands = 0;
  for (char *line = strtok(help, "\n"); line; line = strtok(NULL, "\n")) {
    char wanted[64], name[64];
    if (strspn(line, " ") != 2)
      continue;
    command_of(line + 2, wanted, sizeof wanted);
    bool found = false;
    for (uint32_t k = 0; k < N_STEPS && !found; k++) {
      command_of(steps[k].command, name, sizeof name);
      found = !strcmp(name, wanted);
    }
    cr_expect(found, "no function was called for %s", wanted);
    commands++;
  }
  cr_expect_geq(commands, 45);
  free(help);
  glen_context_free(glen);
}

/* ---- refusals ---- */

Test(schedule, a_refusal_names_a_pair) {
  use_folder();
  glen_context *glen = begin();
  glen_loops *loops = load(glen, SKEW);
  char *before = outcome(glen, loops);
  cr_expect_not(glen_loops_reorder(glen, loops, (words){"j", "i"}, 2));
  glen_diagnostic d;
  glen_violation v = {.size = sizeof v};
  cr_assert(glen_diagnostic_at(glen, 0, &d));
  cr_expect_str_eq(d.code, "illegal");
  cr_assert(glen_violated(loops, &v));
  cr_expect_str_eq(v.dependence, "flow");
  cr_expect_str_eq(v.array, "A");
  cr_expect_str_eq(v.source, "S[30,32]");
  cr_expect_str_eq(v.sink, "S[31,31]");
  cr_expect_null(v.loop);
  cr_expect_null(v.sizes);
  cr_expect_eq(v.violated, 961);
  cr_expect_eq(v.pairs, 961);
  char *after = outcome(glen, loops);
  cr_expect_str_eq(before, after);
  free(before);
  free(after);
  glen_context_free(glen);
}

Test(schedule, a_refused_mark_names_its_loop) {
  use_folder();
  glen_context *glen = begin();
  glen_loops *loops = load(glen, SKEW);
  glen_violation v = {.size = sizeof v};
  cr_expect_not(glen_loops_parallel(glen, loops, "i"));
  cr_assert(glen_violated(loops, &v));
  cr_expect_str_eq(v.loop, "i");
  /* A caller that knows the first field alone gets no more. */
  glen_violation old = {.size = offsetof(glen_violation, array), .array = "-"};
  cr_assert(glen_violated(loops, &old));
  cr_expect_str_eq(old.dependence, "flow");
  cr_expect_str_eq(old.array, "-");
  glen_context_free(glen);
}

/* Of parts that overlap, one would no longer get its value. */
Test(schedule, a_changed_value_names_a_pair) {
  use_folder();
  glen_context *glen = begin();
  glen_loops *loops = load(glen, BLUR);
  glen_violation v = {.size = sizeof v};
  run_script(glen, loops, "i0, i1 = split i [-1, 16]; roll B i1");
  cr_expect_not(glen_loops_fold_storage(glen, loops, "B", 1, 2));
  cr_assert(glen_violated(loops, &v));
  cr_expect_str_eq(v.array, "B");
  cr_expect_gt(v.violated, 0);
  glen_context_free(glen);
}

#define REFUSED(code, call)                                                    \
  do {                                                                         \
    cr_expect_not(call, "%s", #call);                                          \
    expect_code(glen, code);                                                   \
  } while (0)

Test(schedule, names_without_loops_are_warned_of) {
  use_folder();
  glen_context *glen = begin();
  glen_loops *loops = load(glen, COPY);
  glen_made three = {3, {"a", "b", "c"}};
  cr_expect(glen_loops_split(glen, loops, "i", (ints){-1, 8}, 2, &three));
  cr_expect_eq(three.n, 2);
  expect_code(glen, "unused-name");
  glen_context_free(glen);
}

Test(schedule, what_makes_no_sense_is_refused) {
  use_folder();
  glen_context *glen = begin();
  glen_loops *loops = load(glen, COPY);
  char *before = outcome(glen, loops);
  glen_made many = {GLEN_MAX_MADE + 1, {0}}, odd = {1, {"a b"}};
  glen_made none = {1, {0}}, empty = {1, {""}}, taken = {2, {"j", "b"}};
  glen_violation v = {.size = sizeof v};
  cr_expect_not(glen_violated(loops, &v));
  cr_expect_null(v.source);
  ints four = {-1, 4}, odd_ints = {INT64_MIN, INT64_MAX};
  REFUSED("unknown-name", glen_loops_unroll(glen, loops, "k"));
  REFUSED("unknown-name", glen_loops_unroll(glen, loops, ""));
  REFUSED("usage", glen_loops_unroll(glen, loops, NULL));
  REFUSED("usage", glen_loops_split(glen, loops, "i", NULL, 2, NULL));
  REFUSED("factors", glen_loops_split(glen, loops, "i", NULL, 0, NULL));
  REFUSED("factors", glen_loops_split(glen, loops, "i", odd_ints, 2, NULL));
  REFUSED("usage", glen_loops_split(glen, loops, "i", four, 2, &many));
  REFUSED("usage", glen_loops_split(glen, loops, "i", four, 2, &odd));
  REFUSED("usage", glen_loops_split(glen, loops, "i", four, 2, &none));
  REFUSED("usage", glen_loops_split(glen, loops, "i", four, 2, &empty));
  REFUSED("name-taken", glen_loops_split(glen, loops, "i", four, 2, &taken));
  REFUSED("usage", glen_loops_fuse(glen, loops, (words){"i", NULL}, 2, NULL));
  REFUSED("usage", glen_loops_fuse(glen, loops, NULL, 2, NULL));
  REFUSED("usage", glen_loops_bind(glen, loops, "i", "blockIdx.x\nunroll j"));
  REFUSED("usage", glen_loops_specialise(glen, loops, "j", "\"", NULL));
  REFUSED("distance", glen_loops_skew(glen, loops, "j", "i", INT64_MIN, NULL));
  REFUSED("cuts", glen_loops_peel(glen, loops, "i", INT64_MIN, NULL));
  glen_contract unset = {0};
  REFUSED("options-size", glen_loops_contract(glen, loops, "B", &unset));
  cr_expect_not(glen_violated(loops, &v));
  char *after = outcome(glen, loops);
  cr_expect_str_eq(before, after);
  free(before);
  free(after);
  glen_context_free(glen);
}

/* A call that is refused for another reason forgets the pair of the last. */
Test(schedule, a_pair_is_that_of_the_last_call) {
  use_folder();
  glen_context *glen = begin();
  glen_loops *loops = load(glen, SKEW);
  glen_violation v = {.size = sizeof v};
  cr_expect_not(glen_loops_parallel(glen, loops, "i"));
  cr_expect(glen_violated(loops, &v));
  cr_expect_not(glen_loops_parallel(glen, loops, "none"));
  cr_expect_not(glen_violated(loops, &v));
  cr_expect_null(v.source);
  cr_expect_not(glen_loops_parallel(glen, loops, "i"));
  cr_expect(glen_loops_skew(glen, loops, "j", "i", 1, NULL));
  cr_expect_not(glen_violated(loops, &v));
  glen_context_free(glen);
}

/* What is asked of loops is asked of them for all sizes: codes for parts of
 * these would run without it.  What is refused changes nothing. */
Test(schedule, a_schedule_is_for_all_sizes) {
  use_folder();
  glen_context *glen = begin();
  glen_target *target = glen_target_load(glen, NULL);
  put("mm.glen", "(size n 1 65) (tensor A (shape n n) f32)"
                 "(tensor B (shape n n) f32) (let C (matmul A B)) (output C)");
  put("unroll.sched", "unroll i1\n");
  glen_program *p = glen_program_load_at(glen, target, "mm.glen", NULL, 0);
  glen_code_options options;
  glen_code_defaults(&options);
  options.keys = 3;
  for (int by_script = 0; by_script < 2; by_script++) {
    const char *c, *h, *printed;
    glen_scheduled done;
    glen_loops *loops = glen_lower_scheduled(glen, p, target, &options, &done);
    cr_assert(loops && glen_emit_c(glen, loops, "mm", "mm.h", &c, &h));
    cr_expect(strstr(c, "mm_part0") && strstr(h, "mm_tiling"));
    cr_expect_not(glen_loops_parallel(glen, loops, "none"));
    cr_assert(glen_emit_c(glen, loops, "mm", "mm.h", &c, &h));
    cr_expect(strstr(c, "mm_part0"));
    cr_assert(by_script
                  ? glen_schedule(glen, loops, "unroll.sched", false, &printed)
                  : glen_loops_unroll(glen, loops, "i1"),
              "%s", glen_take_diagnostics(glen, GLEN_DIAG_TEXT));
    cr_assert(glen_emit_c(glen, loops, "mm", "mm.h", &c, &h));
    cr_expect_not(strstr(c, "mm_part0"));
    glen_loops_free(loops);
  }
  glen_context_free(glen);
}
