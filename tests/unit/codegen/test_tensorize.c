/* SPDX-License-Identifier: MIT */
/* test_tensorize.c - loop nests replaced by calls of instructions: the code
 * that calls them, compiled under sanitizers, against the loops as they were
 * run one instance at a time; and what is refused, with the program unchanged.
 */
#include "poly/loops/execute.h"
#include "poly/schedule/primitive.h"
#include "run.h"

TestSuite(tensorize, .init = fixture_start, .fini = fixture_stop);

/* ---- instructions ---- */

#define SUM(text)                                                              \
  "(compute dotProd (cartProd x (access (transpose y (list 1 "                 \
  "0)) 1)))" text

/* As the systolic array, of any or of one size. */
#define ARRAY(name, dtype, result, c_type, c_result, where)                    \
  "(target t (prelude \"static void " name "(int b, int r, int c, " c_result   \
  " *o, int os, int ot, const " c_type " *x, int xs, int xt, const " c_type    \
  " *y, int ys, int yt) {\n"                                                   \
  "  for (int i = 0; i < b; i++) for (int j = 0; j < c; j++) {\n"              \
  "    " c_result " s = 0;\n"                                                  \
  "    for (int k = 0; k < r; k++) s += (" c_result                            \
  ")x[i * xs + k * xt] * (" c_result ")y[k * ys + j * yt];\n"                  \
  "    o[i * os + j * ot] = s;\n  }\n}\"))"                                    \
  "(instr " name " (params r c) (operands (x ((b) (r)) " dtype                 \
  ") (y (() (r c)) " dtype ")) (result ((b c) ()) " result                     \
  ") (semantics " SUM(") ") where                                              \
      "(emit \"" name "({b}, {r}, {c}, {result}, {result.stride.0}, "          \
      "{result.stride.1}, {x}, {x.stride.0}, {x.stride.1}, {y}, "              \
      "{y.stride.0}, {y.stride.1});\"))"
#define ANY ARRAY("mm", "f32", "f32", "float", "float", "")
#define FIXED                                                                  \
  ARRAY("mm", "f32", "f32", "float", "float", "(where (and (= r 8) (= c 8)))")
#define BYTES ARRAY("mm", "i8", "i32", "int8_t", "int32_t", "")

/* Eight products; neighbours of x and of the result lie side by side. */
#define MUL8                                                                   \
  "(target t (prelude \"static void mul8(float *o, const float *x, const "     \
  "float *y, int ys) { for (int i = 0; i < 8; i++) o[i] = x[i] * y[i * ys]; "  \
  "}\"))(instr mul8 (operands (x ((n) ()) f32) (y ((n) ()) f32)) (result "     \
  "((n) ()) f32) (semantics (compute mul (pair x y))) (where (= n 8)) (emit "  \
  "\"mul8({result}, {x}, {y}, {y.stride.0});\"))"

/* Pairs of rows of y lie interleaved. */
#define PAIRS                                                                  \
  "(target t (prelude \"static void pairs(float *o, const float *x, const "    \
  "float *y) { for (int i = 0; i < 4; i++) for (int j = 0; j < 4; j++) { "     \
  "float s = 0; for (int k = 0; k < 8; k++) s += x[i * 8 + k] * y[k / 2 * 8 "  \
  "+ j * 2 + k % 2]; o[i * 4 + j] = s; } }\"))"                                \
  "(instr pairs (operands (x ((b) (r)) f32) (y ((r c) ()) f32)) (result ((b "  \
  "c) ()) f32) (semantics " SUM(                                               \
      ")") "(layout y (transpose (reshape (access "                            \
           "y 2) (shape (/ r 2) 2 c) (shape)) (list 0 2 1))) (where (and (= "  \
           "b 4) (and "                                                        \
           "(= r 8) (= c 4)))) (emit \"pairs({result}, {x}, {y});\"))"

/* The greater of neighbours, two rows at least. */
#define POOL                                                                   \
  "(target t (prelude \"static void pool(int h, int n, float *o, int os, int " \
  "ot, const float *a, int as, int at) { for (int i = 0; i < h; i++) for "     \
  "(int j = 0; j < n; j++) { float u = a[i * as + 2 * j * at], v = a[i * as "  \
  "+ (2 * j + 1) * at]; o[i * os + j * ot] = u > v ? u : v; } }\"))"           \
  "(instr pool (operands (a ((h) (t)) f32)) (result ((h (/ t 2)) ()) f32) "    \
  "(semantics (compute reduceMax (windows a (shape 2) (stride 2)))) (where "   \
  "(and (= (mod h 2) 0) (= (mod t 2) 0))) (emit \"pool({h}, {result.dim.1}, "  \
  "{result}, {result.stride.0}, {result.stride.1}, {a}, {a.stride.0}, "        \
  "{a.stride.1});\"))"

/* Three taps; the signal is two longer than the result. */
#define FIR                                                                    \
  "(target t (prelude \"static void fir(int m, float *o, const float *x, "     \
  "const float *w) { for (int i = 0; i + 2 < m; i++) o[i] = x[i] * w[0] + "    \
  "x[i + 1] * w[1] + x[i + 2] * w[2]; }\"))"                                   \
  "(instr fir (operands (x (() (m)) f32) (w (() (t)) f32)) (result (((- m "    \
  "2)) ()) f32) (semantics (compute dotProd (cartProd (windows x (shape 3) "   \
  "(stride 1)) w))) (where (= t 3)) (emit \"fir({m}, {result}, {x}, {w});\"))"

/* The mean of a row: its sum has a place of its own. */
#define MEAN                                                                   \
  "(target t (prelude \"static void mean(int n, int k, float *o, const float " \
  "*x, int xs) { for (int i = 0; i < n; i++) { float s = 0; for (int j = 0; "  \
  "j "                                                                         \
  "< k; j++) s += x[i * xs + j]; o[i] = s / (float)k; } }\"))"                 \
  "(instr mean (operands (x ((n) (k)) f32)) (result ((n) ()) f32) (semantics " \
  "(compute reduceMean x)) (emit \"mean({n}, {k}, {result}, {x}, "             \
  "{x.stride.0});\"))"

/* Not below 0, not above 6. */
#define CLIP                                                                   \
  "(target t (prelude \"static void clip6(int n, float *o, const float *x) { " \
  "for (int i = 0; i < n; i++) o[i] = x[i] < 0 ? 0 : x[i] > 6 ? 6 : x[i]; "    \
  "}\"))(instr clip6 (operands (x ((n) ()) f32)) (result ((n) ()) f32) "       \
  "(semantics (compute (clip 0 6) x)) (emit \"clip6({n}, {result}, {x});\"))"

/* ---- programs ---- */

#define MM(m, n, k)                                                            \
  "input A: f32[" #m ", " #k "]\ninput B: f32[" #k ", " #n "]\n"               \
  "output C: f32[" #m ", " #n "]\nfor i in 0.." #m " { for j in 0.." #n " {\n" \
  "  I: C[i, j] = 0\n  for k in 0.." #k " { U: C[i, j] += A[i, k] * B[k, j] "  \
  "}\n} }\n"
#define PRODUCTS                                                               \
  "input x: f32[20, 24]\ninput y: f32[24]\noutput z: f32[20, 24]\n"            \
  "for i in 0..20 { for j in 0..24 { S: z[i, j] = y[j] * x[i, j] } }\n"

typedef struct use {
  const char *target, *loops, *script;
} use;

static const use uses[] = {
    {ANY, MM(12, 10, 7), "tensorize i mm"},
    {ANY, MM(12, 10, 7),
     "i0, j0, i1, j1 = tile [i, j] [4, 5]; parallel i0; tensorize i1 mm"},
    {ANY, MM(12, 10, 7),
     "reorder [j, i]; j0, j1 = split j [-1, 2];"
     "tensorize j1 mm [7, 2]"},
    {ANY, MM(6, 6, 6), "tensorize i mm"},
    {ANY, MM(9, 1, 5), "tensorize i mm"},
    {FIXED, MM(16, 8, 24),
     "k0, k1 = split k [-1, 8]; rf, w = rfactor k0; "
     "a, b = split i_1 [-1, 4]; tensorize b mm; parallel rf"},
    {FIXED, MM(24, 16, 8),
     "i0, j0, i1, j1 = tile [i, j] [12, 8]; cache_write C local at j0;"
     "pack U B \"[k, j] -> [j, k]\" local at j0; tensorize i1 mm"},
    {FIXED, MM(10, 13, 21),
     "pad_einsum U [1, 8, 8]; k0, k1 = split U.k [-1, 8];"
     "rf, w = rfactor k0; j0, j1 = split j_1 [-1, 8]; reorder [j0, i_1, j1];"
     "tensorize i_1 mm; parallel rf"},
    {MUL8, PRODUCTS, "j0, j1 = split j [-1, 8]; tensorize j1 mul8"},
    {MUL8, PRODUCTS,
     "j0, j1 = split j [-1, 8]; cache_write z local at i;"
     "tensorize j1 mul8; parallel i"},
    /* Elements of its own, each operand in turn: a call needs an address. */
    {MUL8, PRODUCTS,
     "j0, j1 = split j [-1, 8]; cache_write z register at j0; unroll ax1;"
     "tensorize j1 mul8"},
    {MUL8, PRODUCTS,
     "j0, j1 = split j [-1, 8]; cache_read S x register at j0; unroll ax1;"
     "tensorize j1 mul8"},
    {MUL8, PRODUCTS,
     "j0, j1 = split j [-1, 8]; cache_read S y register at j0; unroll ax0;"
     "tensorize j1 mul8"},
    {PAIRS, MM(8, 12, 8),
     "i0, j0, i1, j1 = tile [i, j] [4, 4]; cache_write C local at j0;"
     "pack U B \"[k, j] -> [floor(k / 2), j, k mod 2]\" local at j0;"
     "tensorize i1 pairs"},
    {POOL,
     "input A: f32[8, 12]\noutput M: f32[8, 6]\n"
     "for i in 0..8 { for j in 0..6 { I: M[i, j] = lowest\n"
     "for k in 0..2 { U: M[i, j] max= A[i, 2 * j + k] } } }",
     "i0, i1 = split i [-1, 4]; tensorize i1 pool"},
    {POOL,
     "input A: f32[12, 8]\noutput M: f32[6, 8]\n"
     "for i in 0..8 { for j in 0..6 { I: M[j, i] = lowest\n"
     "for k in 0..2 { U: M[j, i] max= A[2 * j + k, i] } } }",
     "tensorize i pool"},
    {FIR,
     "input x: f32[18]\ninput w: f32[3]\noutput y: f32[16]\n"
     "for i in 0..16 { I: y[i] = 0\n"
     "for k in 0..3 { U: y[i] += w[k] * x[i + k] } }",
     "a, b = split i [-1, 8]; tensorize b fir"},
    {MEAN,
     "input x: f32[6, 10]\noutput y: f32[6]\nlocal s: f32[6 fold 1]\n"
     "for i in 0..6 { I: s[i] = 0\nfor k in 0..10 { U: s[i] += x[i, k] }\n"
     "F: y[i] = reduceMean(s[i], 10) }",
     "a, b = split i [-1, 3]; tensorize b mean"},
    {CLIP,
     "input x: f32[6, 10]\noutput y: f32[6, 10]\n"
     "for i in 0..6 { for j in 0..10 { S: y[i, j] = clip(x[i, j], 0, 6) } }",
     "tensorize j clip6"},
    {BYTES,
     "input A: i8[6, 5]\ninput B: i8[5, 4]\noutput C: i32[6, 4]\n"
     "for i in 0..6 { for j in 0..4 { I: C[i, j] = 0\n"
     "for k in 0..5 { U: C[i, j] += A[i, k] * B[k, j] } } }",
     "tensorize i mm"},
};

/* ---- running them ---- */

static po_program *
read_loops(const use *u) {
  uint32_t source =
      bs_source_add(&diags, "test.loops", u->loops, strlen(u->loops));
  po_program *p = po_read_loops(&ctx, target_of(u->target), source, NULL, 0);
  cr_assert(p, "%s%s", u->loops, faults());
  return p;
}

static bool
apply(po_program **p, const char *script) {
  bs_text out;
  bs_text_init(&out, &heap);
  uint32_t source = bs_source_add(&diags, "s.sched", script, strlen(script));
  return po_run_script(p, source, &out);
}

static cg_job
scheduled(const use *u) {
  po_program *p = read_loops(u);
  cr_assert(apply(&p, u->script), "%s\n%s", u->loops, faults());
  cr_assert_eq(count_stmts(p, PO_CALL), 1, "%s", loops_text(p));
  po_lay_out(p);
  return (cg_job){.program = p,
                  .inputs = inputs_of(p->source),
                  .outputs = BS_NEWS(&arena, gs_tensor, p->arrays.len)};
}

static void
compare(const use *u, const cg_job *job) {
  po_program *p = read_loops(u);
  const gs_program *source = p->source;
  gs_tensor *wanted = BS_NEWS(&arena, gs_tensor, source->outputs.len + 1);
  for (uint32_t j = 0; j < source->outputs.len; j++) {
    gs_type type;
    gs_difference d;
    gs_type_at(source, source->outputs.data[j].term, &type);
    gs_tensor_init(&heap, &wanted[j], &type);
    cr_assert(po_execute(p, job->inputs, wanted), "%s", faults());
    cr_assert(gs_tensor_compare(&wanted[j], &job->outputs[j], 1e-5, 1e-5, &d),
              "%s\n%s: %lld differ, at %lld %g, not %g", u->loops, u->script,
              (long long)d.count, (long long)d.first, d.b, d.a);
  }
}

Test(tensorize, calls_compute_what_the_loops_did) {
  enum { N = sizeof uses / sizeof *uses };
  cg_job *jobs = BS_NEWS(&arena, cg_job, N);
  cg_build_options build = {
      .sanitize = true, .optimize = "-O0", .time_limit = 200, .threads = 2};
  for (uint32_t k = 0; k < N; k++)
    jobs[k] = scheduled(&uses[k]);
  cr_assert(cg_build_and_run_all(jobs, N, &build, 1), "%s", faults());
  for (uint32_t k = 0; k < N; k++)
    compare(&uses[k], &jobs[k]);
}

Test(tensorize, normal_forms_and_texts_lead_to_the_same_program) {
  for (uint32_t k = 0; k < sizeof uses / sizeof *uses; k++) {
    po_program *once = read_loops(&uses[k]), *again = read_loops(&uses[k]);
    bs_text normal;
    bs_text_init(&normal, &heap);
    cr_assert(apply(&once, uses[k].script), "%s", faults());
    po_print_script(once, &normal);
    cr_assert(apply(&again, bs_text_str(&normal)), "%s", faults());
    const char *text = loops_text(once);
    cr_assert_str_eq(loops_text(again), text);
    use read = {uses[k].target, text, ""};
    cr_assert_str_eq(loops_text(read_loops(&read)), text);
  }
}

/* ---- refusals ---- */

static void
refused(const use *u, const char *reason) {
  po_program *p = read_loops(u);
  const char *last = strrchr(u->script, ';');
  char first[400] = "";
  if (last)
    snprintf(first, sizeof first, "%.*s", (int)(last - u->script), u->script);
  cr_assert(apply(&p, first), "%s", faults());
  const char *before = loops_text(p);
  cr_assert_not(apply(&p, last ? last + 1 : u->script), "%s", loops_text(p));
  cr_assert_str_eq(loops_text(p), before, "%s changes the program", u->script);
  cr_assert(strstr(faults(), reason), "expected `%s` in\n%s", reason, faults());
}

Test(tensorize, refusals) {
  static const struct {
    use use;
    const char *reason;
  } cases[] = {
      {{ANY, MM(8, 8, 8), "tensorize i systolic"},
       "the target has no instruction systolic"},
      {{ANY, MM(8, 8, 8), "tensorize i mm [8, 8, 8]"},
       "mm has 2 parameters, not 3"},
      {{FIXED, MM(8, 8, 24), "tensorize i mm"},
       "index k of U takes 24 values, the semantics have 8 there"},
      {{FIXED, MM(10, 10, 8), "tensorize i mm"}, "admits no sizes"},
      {{ANY, MM(10, 8, 8), "a, b = split i [-1, 4]; tensorize b mm"},
       "has 2 to 4 values of index i of I"},
      {{ANY, MM(8, 8, 8), "tensorize k mm"}, "U goes on from what C holds"},
      {{ANY, MM(8, 8, 8), "decompose_reduction C i; tensorize i mm"},
       "U goes on from what C holds"},
      {{MUL8, PRODUCTS, "reorder [j, i]; a, b = peel i 8; tensorize a mul8"},
       "lie 0 elements apart in y, and mul8 takes 1 only"},
      {{ANY,
        "input A: f32[4, 4]\ninput B: f32[4, 4]\noutput C: f32[4, 4]\n"
        "for i in 0..4 { for j in 0..4 { I: C[i, j] = 1\n"
        "for k in 0..4 { U: C[i, j] += A[i, k] * B[k, j] } } }",
        "tensorize i mm"},
       "I computes something else than the semantics"},
      {{ANY,
        "input A: f32[4, 4]\ninput B: f32[4, 4]\noutput C: f32[4, 4]\n"
        "for i in 0..4 { for j in 0..4 { I: C[i, j] = 0\n"
        "for k in 0..4 { U: C[i, j] max= A[i, k] * B[k, j] } } }",
        "tensorize i mm"},
       "U is an update, the semantics have another update there"},
      {{ANY,
        "input A: f32[4, 4]\ninput B: f32[4, 4]\noutput C: f32[4, 4]\n"
        "for i in 0..4 { for j in 0..4 {\nfor k in 0..4 { U: C[i, j] += "
        "A[i, k] * B[k, j] }\nI: C[i, j] = 0 } }",
        "tensorize i mm"},
       "I must be done before U begins on an element of C"},
      {{ANY,
        "input B: f32[4, 4]\noutput C: f32[4, 4]\noutput A: f32[4, 4]\n"
        "for i in 0..4 { for j in 0..4 { I: A[i, j] = 0\n"
        "for k in 0..4 { U: A[i, j] += B[i, k] * B[k, (j + k) % 4] } } }",
        "tensorize i mm"},
       "U goes through B in another order than the semantics through y"},
      {{ANY,
        "strict\ninput A: f32[4, 4]\ninput B: f32[4, 4]\noutput C: f32[4, 4]\n"
        "for i in 0..4 { for j in 0..4 { I: C[i, j] = 0\n"
        "for k in 0..4 { U: C[i, j] += A[i, k] * B[k, j] } } }",
        "tensorize i mm"},
       "the order of U's updates may not be changed"},
      {{CLIP,
        "output y: f32[6, 10]\n"
        "for i in 1..6 { for j in 0..10 { S: y[i, j] = clip(y[i, j], 0, 6) } }",
        "tensorize j clip6"},
       "x shares elements of y with the result"},
      {{CLIP,
        "input x: f32[6, 10]\noutput y: f32[6, 10]\n"
        "for i in 0..6 { for j in 0..10 { S: y[i, j] = clip(x[i, j], 0, 5) } }",
        "tensorize j clip6"},
       "S computes something else than the semantics"},
      {{CLIP,
        "input x: f32[6, 10]\noutput y: f32[6, 10]\n"
        "for i in 0..6 { for j in 0..10 { S: y[i, j] = clip(x[i, -j + 9], 0, "
        "6) } }",
        "tensorize j clip6"},
       "runs backwards in x"},
      {{CLIP,
        "input x: f32[6, 10]\noutput y: f32[6, 10]\n"
        "for i in 0..6 { for j in 0..10 { S: y[i, j] = clip(x[i, j], 0, 6)\n"
        "sync } }",
        "tensorize i clip6"},
       "there is a barrier in it"},
  };
  for (uint32_t k = 0; k < sizeof cases / sizeof *cases; k++)
    refused(&cases[k].use, cases[k].reason);
}

/* A loop of calls is a loop like any other. */
Test(tensorize, loops_around_a_call) {
  use u = {ANY, MM(12, 12, 7),
           "i0, j0, i1, j1 = tile [i, j] [4, 4]; tensorize i1 mm;"
           "reorder [j0, i0]; a, b = split i0 [-1, 2];"
           "parallel j0; assert legal; assert instances(mm) == 9"};
  cg_job job = scheduled(&u);
  cg_build_options build = {
      .sanitize = true, .optimize = "-O0", .time_limit = 200, .threads = 2};
  cr_assert(cg_build_and_run_all(&job, 1, &build, 1), "%s", faults());
  compare(&u, &job);
}

/* Calls that pass values to each other keep their order. */
Test(tensorize, calls_depend_on_each_other) {
  use u = {CLIP,
           "input x: f32[10]\noutput y: f32[6, 10]\n"
           "for j in 0..10 { S: y[0, j] = x[j] }\n"
           "for i in 1..6 { for k in 0..10 { T: y[i, k] = clip(y[i - 1, k], 0, "
           "6) } }",
           "tensorize k clip6; parallel i"};
  refused(&u, "flow dependence through y");
}

/* An instruction may write its result in any order: no two elements of it may
 * be one of the array. */
Test(tensorize, elements_of_a_result_share_no_places) {
#define TILE                                                                   \
  "(target t)(instr tm (operands (a ((r c) ()) f32) (b ((r c) ()) f32)) "      \
  "(result ((r c) ()) f32) (semantics (compute mul (pair a b))) (emit "        \
  "\"tm({r}, {c}, {a}, {a.stride.0}, {a.stride.1}, {b}, {b.stride.0}, "        \
  "{b.stride.1}, {result}, {result.stride.0}, {result.stride.1});\"))"
  static const struct {
    const char *place;
    bool shared;
  } cases[] = {
      {"4 * i + j", false}, {"i + 4 * j", false},      {"8 * i + 2 * j", false},
      {"5 * i + j", false}, {"2 * i + 10 * j", false}, {"i + j", true},
      {"2 * i + j", true},  {"3 * i + j", true},       {"2 * i + 2 * j", true},
      {"i + 3 * j", true},  {"2 * j", true},           {"5 * i", true},
  };
  for (uint32_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    use u = {TILE,
             bs_arena_printf(&arena,
                             "input A: f32[4, 4]\ninput B: f32[4, 4]\n"
                             "output C: f32[40]\nfor i in 0..4 { for j in 0..4 "
                             "{ S: C[%s] = A[i, j] * B[i, j] } }",
                             cases[k].place),
             "tensorize i tm"};
    if (cases[k].shared) {
      refused(&u, "elements of the result share places");
    } else {
      po_program *p = read_loops(&u);
      cr_expect(apply(&p, u.script), "%s: %s", cases[k].place, faults());
    }
  }
}
