/* SPDX-License-Identifier: MIT */
/* Targets: files, diagnostics, instructions, calls, templates, detection. */
#include "glenside/target/machine.h"
#include "fixture.h"
#include "glenside/target/target.h"
#include "glenside/target/tuned.h"
#include "targets/max_pool.h"
#include "targets/systolic_array.h"
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

TestSuite(target, .init = start_listing, .fini = fixture_stop);

#ifndef GLEN_SOURCE_DIR
#define GLEN_SOURCE_DIR "."
#endif

static gs_target *
parse(const char *text) {
  return gs_target_parse(&ctx,
                         bs_source_add(&diags, "t.target", text, strlen(text)));
}

static void
refuses(const char *text, const char *expected) {
  cr_expect_null(parse(text), "%s", text);
  cr_expect_str_eq(codes(), expected, "%s\n%s", text, faults());
}

static const char *
print(const gs_target *t) {
  bs_text out;
  bs_text_init(&out, &heap);
  gs_target_print(t, ctx.values, &out);
  return bs_text_str(&out);
}

static gs_target *
shipped(const char *name) {
  char path[4096];
  snprintf(path, sizeof path, "%s/targets/%s.target", GLEN_SOURCE_DIR, name);
  gs_target *t = gs_target_parse_file(&ctx, path);
  cr_assert(t, "%s", faults());
  return t;
}

static const gs_mac *
find_mac(const gs_target *t, const char *name) {
  for (uint32_t k = 0; k < t->macs.len; k++)
    if (!strcmp(t->macs.data[k]->name, name))
      return t->macs.data[k];
  return NULL;
}

/* --- machines ------------------------------------------------------------- */

Test(target, numbers) {
  gs_target *t = parse("(target m (cores 8) (frequency-ghz 2.5)"
                       " (vector-bytes 64) (vector-registers 32)"
                       " (march \"native\") (memory (bytes-per-cycle 3))"
                       " (host (flops-per-cycle 64) (scalar-ops-per-cycle 3))"
                       " (cache 2 (bytes 1000000) (ways 4))"
                       " (cache 1 (bytes 48000) (line 128)"
                       "          (bytes-per-cycle 96.5)))");
  cr_assert(t, "%s", faults());
  cr_expect_str_eq(t->name, "m");
  cr_expect_eq(t->cores, 8);
  cr_expect_eq(t->frequency_ghz, 2.5);
  cr_expect_eq(t->vector_bytes, 64);
  cr_expect_eq(t->vector_registers, 32);
  cr_expect_str_eq(t->march, "native");
  cr_expect_eq(t->memory_bytes_per_cycle, 3);
  cr_expect_eq(t->flops_per_cycle, 64);
  cr_expect_eq(t->scalar_ops_per_cycle, 3);
  cr_assert_eq(t->caches.len, 2);
  cr_expect_eq(t->caches.data[0].level, 1);
  cr_expect_eq(t->caches.data[0].line, 128);
  cr_expect_eq(t->caches.data[0].bytes_per_cycle, 96.5);
  cr_expect_eq(t->caches.data[1].bytes, 1000000);
  cr_expect_eq(t->caches.data[1].ways, 4);
}

Test(target, what_is_not_said_is_as_in_the_default) {
  gs_target *t = parse("(target m (cores 3))"), *d = gs_target_default(&ctx);
  cr_assert(t);
  cr_expect_eq(t->cores, 3);
  cr_expect_eq(t->vector_bytes, d->vector_bytes);
  cr_expect_eq(t->caches.len, d->caches.len);
  cr_expect_null(t->march);
}

Test(target, later_replaces_earlier) {
  gs_target *t = parse("(target m (cores 3) (cores 4) (set q 1) (set q 2)"
                       " (default q 3) (default p 4) (set p $q)"
                       " (cache 1 (bytes 1000)) (cache 1 (bytes 2000)))");
  cr_assert(t, "%s", faults());
  cr_expect_eq(t->cores, 4);
  cr_assert_eq(t->caches.len, 1);
  cr_expect_eq(t->caches.data[0].bytes, 2000);
  cr_assert_eq(t->settings.len, 2);
  cr_expect_eq(bs_as_int(ctx.values, t->settings.data[0].value), 2);
  cr_expect_eq(bs_as_int(ctx.values, t->settings.data[1].value), 2);
}

Test(target, wrong_machines) {
  refuses("", "missing-part");
  refuses("(instr", "unclosed-paren");
  refuses("(target)", "missing-part");
  refuses("(target 3)", "missing-part");
  refuses("(target a) (target b)", "duplicate-name");
  refuses("(target m (coers 3))", "unknown-item");
  cr_expect(strstr(faults(), "did you mean 'cores'?"));
  refuses("(target m 3)", "not-a-form");
  refuses("(target m (cores))", "wrong-arity");
  refuses("(target m (cores 0))", "bad-value");
  refuses("(target m (cores 2.5))", "bad-value");
  refuses("(target m (cores two))", "bad-value");
  refuses("(target m (vector-bytes 48))", "bad-value");
  refuses("(target m (frequency-ghz inf))", "bad-value");
  refuses("(target m (cache (bytes 3)))", "bad-value");
  refuses("(target m (cache 9 (bytes 3)))", "bad-value");
  refuses("(target m (cache 1))", "missing-part");
  refuses("(target m (cache 1 (size 3)))", "unknown-item");
  refuses("(target m (cache 1 (bytes 64) (bytes 64)))", "duplicate-name");
  refuses("(target m (memory pad (bytes 64) (row 16) (row 16)))",
          "duplicate-name");
  refuses("(target m (memory (bytes 3)))", "unknown-item");
  refuses("(target m (march native))", "bad-value");
  refuses("(target m (set q))", "wrong-arity");
  refuses("(target m (set q $p))", "unknown-param");
  refuses("(target m (include \"no-such-file\"))", "no-file");
  refuses("(target m (prelude-file \"no-such-file\"))", "no-file");
  refuses("(targte m)", "unknown-item");
  refuses("(target m (cores 0) (wags 2))", "bad-value unknown-item");
}

/* --- instructions --------------------------------------------------------- */

#define HEAD    "(target m) (instr f (params n) "
#define OPERAND "(operands (a ((n) (k)) f32)) "
#define RESULT  "(result ((n) ()) f32) "
#define MEANING "(semantics (compute reduceSum a)) "
#define EMIT    "(emit \"f({n}, {k}, {a}, {result});\")"

Test(target, an_instruction) {
  gs_target *t = parse(HEAD OPERAND RESULT MEANING
                       "(where (<= n 16)) (cost (cycles (+ n k)) (bytes 8)) "
                       "(layout a (transpose a (list 1 0)))" EMIT ")");
  cr_assert(t, "%s", faults());
  const gs_instr *f = gs_find_instr(t, "f");
  cr_assert(f);
  cr_expect_eq(f->n_params, 1);
  cr_expect_eq(f->n_operands, 1);
  cr_expect_eq(f->scope.vars.len, 3);
  cr_expect_eq(f->operands[0].slot, 1);
  cr_expect_eq(f->operands[0].access, 1);
  cr_expect_eq(f->operands[0].rank, 2);
  cr_expect_eq(f->n_costs, 2);
  cr_expect(f->operands[0].layout != NULL);
  cr_expect_null(gs_find_instr(t, "g"));
}

Test(target, wrong_instructions) {
  refuses("(target m) (instr)", "missing-part");
  refuses("(target m) (instr windows)", "bad-name");
  refuses("(target m) (instr f)",
          "missing-part missing-part missing-part missing-part");
  refuses(HEAD OPERAND RESULT MEANING EMIT ") (instr f)", "duplicate-name");
  refuses(HEAD OPERAND RESULT MEANING EMIT "(emitt 1))", "unknown-item");
  refuses(HEAD OPERAND RESULT RESULT MEANING EMIT ")", "duplicate-name");
  refuses(HEAD OPERAND RESULT MEANING "(emit f))", "bad-value");
  refuses(HEAD OPERAND RESULT MEANING "(emit \"{m}\"))", "bad-emit");
  refuses(HEAD OPERAND RESULT MEANING "(emit \"{a.stride.2}\"))", "bad-emit");
  refuses(HEAD OPERAND RESULT MEANING "(emit \"{n.stride.0}\"))", "bad-emit");
  refuses(HEAD "(operands (n ((n) ()) f32))" RESULT MEANING EMIT ")",
          "duplicate-name");
  refuses(HEAD "(operands (relu ((n) ()) f32))" RESULT MEANING EMIT ")",
          "bad-name");
  refuses(HEAD "(operands (a ((n) ()) f31))" RESULT MEANING EMIT ")",
          "unknown-dtype");
  refuses(HEAD "(operands (a (n) f32))" RESULT MEANING EMIT ")", "bad-value");
  refuses(HEAD "(operands (a (((* 2 j)) (j)) f32))" RESULT MEANING EMIT ")",
          "unknown-variable");
  refuses(HEAD OPERAND "(result ((j) ()) f32)" MEANING EMIT ")",
          "unknown-variable");
  refuses(HEAD OPERAND RESULT "(semantics (compute reduceSum b))" EMIT ")",
          "unknown-name");
  refuses(HEAD OPERAND RESULT MEANING "(where (+ n 1))" EMIT ")",
          "sort-mismatch");
  refuses(HEAD OPERAND RESULT MEANING "(cost (cycles (dim a 0)))" EMIT ")",
          "sort-mismatch");
  refuses(HEAD OPERAND RESULT MEANING "(layout b (flatten b))" EMIT ")",
          "unknown-name");
  refuses(HEAD OPERAND RESULT MEANING "(layout a (compute relu a))" EMIT ")",
          "bad-layout");
  refuses(HEAD OPERAND RESULT MEANING "(layout a (squeeze a 0))" EMIT ")",
          "bad-layout");
}

Test(target, what_does_not_follow_from_a_call) {
  refuses("(target m) (instr f (params n) (operands (a ((k) ()) f32))"
          " (result ((k) ()) f32) (semantics (compute relu a))"
          " (emit \"f({k}, {n}, {a}, {result});\"))",
          "undetermined");
  refuses(
      "(target m) (instr f (operands (a ((k) ()) f32) (b ((k) ()) f32))"
      " (result ((k) ()) f32) (semantics (compute relu a)) (emit \"f();\"))",
      "undetermined");
}

Test(target, semantics_must_have_the_declared_type) {
  refuses(HEAD OPERAND "(result ((k) ()) f32)" MEANING EMIT ")",
          "bad-semantics");
  cr_expect(strstr(faults(), "tried with n = "), "%s", faults());
  refuses(HEAD OPERAND RESULT "(semantics (compute relu a))" EMIT ")",
          "bad-semantics");
  refuses(HEAD "(operands (a ((n) (k)) i8))" RESULT MEANING EMIT ")",
          "bad-semantics");
  refuses(HEAD OPERAND RESULT
          "(semantics (compute reduceSum (transpose a (list 1 0 2))))" EMIT ")",
          "bad-semantics");
}

Test(target, conditions_steer_the_sample) {
  gs_target *t =
      parse(HEAD "(operands (a ((n) (k)) f32)) (result ((n 3) ()) f32)"
                 "(where (and (= n 96) (= (mod k 7) 0) (> k 100)))"
                 "(semantics (compute reduceSum (windows a (shape (- k 2))"
                 "  (stride 1))))" EMIT ")");
  cr_assert(t, "%s", faults());
  cr_expect_eq(diags.warnings, 0, "%s", faults());
  t = parse(HEAD OPERAND RESULT MEANING "(where (= (* n n) 12345))" EMIT ")");
  cr_assert(t);
  cr_expect_eq(diags.warnings, 1);
}

/* --- calls ---------------------------------------------------------------- */

static bs_value
call(const char *text) {
  bs_sexps s = {0};
  return bs_sx_value(&heap, ctx.values, &s, read_form(&s, text));
}

static const char *
bind(const gs_instr *f, const char *attr, const gs_type *a0,
     const gs_type *a1) {
  static gs_fault fault;
  const gs_type *kids[] = {a0, a1};
  uint32_t slots[GS_MAX_INSTR_VARS];
  gs_type result;
  bs_text out;
  if (!gs_instr_bind(ctx.values, f, call(attr), kids, a1 ? 2 : 1, slots,
                     &result, &fault))
    return fault.code;
  bs_text_init(&out, &heap);
  gs_put_type(&out, &result);
  bs_putf(&out, " %g", gs_instr_cost(f, ctx.values, slots, "cycles", -1));
  return bs_text_str(&out);
}

Test(target, binding_a_call) {
  const gs_instr *f = gs_find_instr(shipped("systolic"), "systolicArray");
  gs_type a0 = {1, 2, GS_F32, {3, 4}}, a1 = {0, 2, GS_F32, {4, 5}};
  cr_assert(f);
  cr_expect_str_eq(bind(f, "(systolicArray 4 5)", &a0, &a1),
                   "((3, 5), ()) f32 12");
  cr_expect_str_eq(bind(f, "(systolicArray 4 6)", &a0, &a1), "type-mismatch");
  cr_expect_str_eq(bind(f, "(systolicArray 4)", &a0, &a1), "wrong-arity");
  cr_expect_str_eq(bind(f, "(systolicArray 4 x)", &a0, &a1), "bad-attribute");
  cr_expect_str_eq(bind(f, "(systolicArray 4 5)", &a0, NULL), "wrong-arity");
  cr_expect_str_eq(bind(f, "(systolicArray 4 5)", &a1, &a0), "type-mismatch");
  a1.dtype = GS_F64;
  cr_expect_str_eq(bind(f, "(systolicArray 4 5)", &a0, &a1), "type-mismatch");
}

Test(target, fixed_arrays) {
  const gs_instr *f = gs_find_instr(shipped("systolic16"), "systolicArray");
  gs_type a0 = {1, 2, GS_F32, {3, 16}}, a1 = {0, 2, GS_F32, {16, 16}};
  cr_expect_str_eq(bind(f, "(systolicArray 16 16)", &a0, &a1),
                   "((3, 16), ()) f32 35");
  a1.dim[1] = 8;
  cr_expect_str_eq(bind(f, "(systolicArray 16 8)", &a0, &a1),
                   "refused-by-where");
  gs_target *t = shipped("systolic64");
  bs_value quantum = BS_NIL;
  for (uint32_t k = 0; k < t->settings.len; k++)
    if (!strcmp(t->settings.data[k].name, "split-quantum"))
      quantum = t->settings.data[k].value;
  cr_expect_eq(bs_as_int(ctx.values, quantum), 64);
}

Test(target, expanding_a_call) {
  gs_target *t = shipped("systolic");
  const gs_instr *f = gs_find_instr(t, "systolicArrayI8");
  gs_program *p = gs_program_new(&ctx, t);
  gs_type a = {2, 2, GS_I8, {3, 4}}, b = {2, 2, GS_I8, {4, 5}}, out;
  gs_term operands[2] = {gs_add_tensor(p, "a", &a, BS_NOWHERE),
                         gs_add_tensor(p, "b", &b, BS_NOWHERE)};
  gs_fault fault;
  for (int64_t k = 0; k < 2; k++) {
    bs_value split = bs_int(ctx.values, 1 - k);
    operands[k] = gs_add(p, GS_ACCESS, bs_list(ctx.values, &split, 1),
                         &operands[k], 1, BS_NOWHERE, &fault);
  }
  gs_term made =
      gs_instr_expand(f, p, call("(systolicArrayI8 4 5)"), operands, &fault);
  cr_assert(gs_term_ok(made), "%s", fault.message);
  gs_type_at(p, made, &out);
  cr_expect_eq(out.dtype, GS_I32);
  cr_expect_eq(out.dim[0], 3);
  cr_expect_eq(out.dim[1], 5);
  cr_expect_eq(gs_at(p, made)->op, GS_COMPUTE);
  cr_expect_not(gs_term_ok(
      gs_instr_expand(f, p, call("(systolicArrayI8 5 4)"), operands, &fault)));
}

Test(target, costs) {
  gs_target *t =
      parse(HEAD OPERAND RESULT MEANING "(cost (cycles (/ (* n k) 2.0))"
                                        " (bytes (/ n (- k 5))))" EMIT ")");
  cr_assert(t, "%s", faults());
  const gs_instr *f = gs_find_instr(t, "f");
  uint32_t slots[3] = {bs_int(ctx.values, 3).i, 0, bs_int(ctx.values, 5).i};
  cr_expect_eq(gs_instr_cost(f, ctx.values, slots, "cycles", -1), 7.5);
  cr_expect_eq(gs_instr_cost(f, ctx.values, slots, "bytes", -1), -1);
  cr_expect_eq(gs_instr_cost(f, ctx.values, slots, "other", 9), 9);
}

Test(target, templates) {
  gs_target *t =
      parse("(target m) (instr f (params n) (operands (a ((n) (k)) f32))"
            " (result ((n) ()) f32) (semantics (compute reduceSum a))"
            " (emit \"{ f({n},{k},{a}, {a.stride.1}); int x[] = {0}; \""
            "       \"{result}[{result.stride.0}] += {a.dim.0}; }\"))");
  cr_assert(t, "%s", faults());
  const gs_instr *f = gs_find_instr(t, "f");
  const char *at = f->emit;
  gs_emit_piece piece;
  bs_text out;
  bs_text_init(&out, &heap);
  while (gs_emit_next(f, &at, &piece))
    if (piece.kind == GS_EMIT_TEXT)
      bs_putn(&out, piece.text, piece.len);
    else if (piece.kind == GS_EMIT_VALUE)
      bs_putf(&out, "<%s>", f->scope.vars.data[piece.slot].name);
    else
      bs_putf(&out, "<%d %u %u>", (int)piece.kind, piece.operand, piece.dim);
  cr_expect_str_eq(bs_text_str(&out),
                   "{ f(<n>,<k>,<2 0 0>, <3 0 1>); int x[] = {0}; \n"
                   "<2 1 0>[<3 1 0>] += <4 0 0>; }");
}

Test(target, templates_speak_of_the_layout) {
#define TILED                                                                  \
  HEAD OPERAND RESULT MEANING                                                  \
      "(where (= (mod k 4) 0))"                                                \
      "(layout a (transpose (reshape (access a 2) (shape n (/ k 4) 4)"         \
      " (shape)) (list 1 0 2)))"
  gs_target *t = parse(TILED "(emit \"f({a}, {a.stride.2}, {a.dim.0});\"))");
  cr_assert(t, "%s", faults());
  cr_expect_eq(gs_find_instr(t, "f")->operands[0].layout_rank, 3);
  refuses(TILED "(emit \"f({a.stride.3});\"))", "bad-emit");
}

/* --- text and files ------------------------------------------------------- */

Test(target, what_is_printed_reads_back) {
  static const char *const names[] = {"cpu", "systolic", "systolic16",
                                      "systolic64", "pool"};
  for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
    const char *once = print(shipped(names[k]));
    gs_target *again = parse(once);
    cr_assert(again, "%s\n%s", faults(), once);
    cr_expect_str_eq(print(again), once);
  }
  gs_target *layout = parse(HEAD OPERAND RESULT MEANING
                            "(layout a (transpose a (list 1 0)))" EMIT ")");
  const char *once = print(layout);
  cr_expect_str_eq(print(parse(once)), once);
  cr_expect_eq(diags.warnings, 0, "%s", faults());
}

static void
write_file(const char *directory, const char *name, const char *text) {
  char path[512];
  snprintf(path, sizeof path, "%s/%s", directory, name);
  FILE *f = fopen(path, "w");
  cr_assert(f);
  fputs(text, f);
  fclose(f);
}

static const char *
in_directory(const char *directory, const char *name) {
  static char path[512];
  snprintf(path, sizeof path, "%s/%s", directory, name);
  return path;
}

Test(target, includes) {
  char dir[] = "/tmp/glen-target-XXXXXX";
  cr_assert(mkdtemp(dir));
  write_file(dir, "a", "(target a (include \"b\") (include \"c\"))");
  write_file(dir, "b",
             "(target b (cores 7) (include \"c\")"
             " (prelude-file \"p.h\"))");
  write_file(dir, "c", "(target c (cores 9) (set q 1) (prelude-file \"p.h\"))");
  write_file(dir, "p.h", "int p;\n");
  write_file(dir, "loop", "(target l (include \"pool\"))");
  write_file(dir, "pool", "(include \"loop\")");
  gs_target *t = gs_target_parse_file(&ctx, in_directory(dir, "a"));
  cr_assert(t, "%s", faults());
  cr_expect_str_eq(t->name, "a");
  cr_expect_eq(t->cores, 9);
  cr_expect_eq(t->preludes.len, 1);
  cr_expect_eq(t->files.len, 4);
  cr_expect_null(gs_target_parse_file(&ctx, in_directory(dir, "loop")));
  cr_expect_str_eq(codes(), "include-cycle");
  for (const char *const *f =
           (const char *const[]){"a", "b", "c", "p.h", "loop", "pool", NULL};
       *f; f++)
    unlink(in_directory(dir, *f));
  rmdir(dir);
}

Test(target, missing_file) {
  cr_expect_null(gs_target_parse_file(&ctx, "/no/such/file.target"));
  cr_expect_str_eq(codes(), "no-file");
}

/* --- detection ------------------------------------------------------------ */

static void
make_directories(const char *path) {
  char command[600];
  snprintf(command, sizeof command, "mkdir -p %s", path);
  cr_assert_eq(system(command), 0);
}

static void
write_cache(const char *root, int index, const char *level, const char *type,
            const char *size) {
  char dir[512];
  snprintf(dir, sizeof dir, "%s/sys/devices/system/cpu/cpu0/cache/index%d",
           root, index);
  make_directories(dir);
  write_file(dir, "level", level);
  write_file(dir, "type", type);
  write_file(dir, "size", size);
  write_file(dir, "coherency_line_size", "64\n");
  write_file(dir, "ways_of_associativity", "12\n");
}

Test(target, detection_reads_the_system) {
  char root[] = "/tmp/glen-detect-XXXXXX", path[64], command[64];
  cr_assert(mkdtemp(root));
  snprintf(path, sizeof path, "%s/proc", root);
  make_directories(path);
  write_file(path, "cpuinfo",
             "processor\t: 0\nmodel name\t: X\ncpu MHz\t\t: 2449.998\n"
             "flags\t\t: fpu sse2 avx avx2 fma avx512f\nbugs\t:\n");
  write_cache(root, 0, "1\n", "Data\n", "48K\n");
  write_cache(root, 1, "1\n", "Instruction\n", "32K\n");
  write_cache(root, 2, "2\n", "Unified\n", "2M\n");
  gs_target *t = gs_target_detect_in(&ctx, root);
  cr_expect_eq(t->vector_bytes, 64);
  cr_expect_eq(t->vector_registers, 32);
  cr_expect_eq(t->flops_per_cycle, 64);
  cr_expect_eq(t->frequency_ghz, 2.4);
  cr_expect(t->cores >= 1);
  cr_assert_eq(t->caches.len, 2);
  cr_expect_eq(t->caches.data[0].bytes, 48 * 1024);
  cr_expect_eq(t->caches.data[0].ways, 12);
  cr_expect_eq(t->caches.data[1].bytes, 2 << 20);
  cr_expect_str_eq(print(parse(print(t))), print(t));
  cr_expect_eq(t->caches.data[0].bytes_per_cycle, 128);
  write_file(path, "cpuinfo",
             "vendor_id\t: AuthenticAMD\ncpu family\t: 25\n"
             "flags\t\t: fpu sse2 avx avx2 fma avx512f\n");
  t = gs_target_detect_in(&ctx, root); /* vectors executed as two halves */
  cr_expect_eq(t->vector_bytes, 64);
  cr_expect_eq(t->flops_per_cycle, 32);
  cr_expect_eq(t->caches.data[0].bytes_per_cycle, 64);
  cr_expect_not(gs_stores_through_caches(t));
  write_file(path, "cpuinfo",
             "vendor_id\t: GenuineIntel\nflags\t\t: fpu sse2 avx\n");
  t = gs_target_detect_in(&ctx, root); /* slow stores past the caches */
  cr_expect(gs_stores_through_caches(t));
  cr_expect_str_eq(print(parse(print(t))), print(t));
  cr_expect_null(find_mac(t, "tdpbssd"));
  write_file(path, "cpuinfo", "flags\t\t: fpu sse2 avx512f amx_int8\n");
  cr_expect_null(find_mac(gs_target_detect_in(&ctx, root), "tdpbssd"));
  write_file(path, "cpuinfo", "flags\t\t: fpu sse2 amx_tile amx_int8\n");
  t = gs_target_detect_in(&ctx, root);
  cr_expect_not_null(find_mac(t, "tdpbssd"));
  cr_expect_null(find_mac(t, "tdpbf16ps"));
  snprintf(command, sizeof command, "rm -r %s", root);
  cr_assert_eq(system(command), 0);
}

static const gs_mac *
parse_mac(const char *shape, const char *x, const char *load_x) {
  return find_mac(
      parse(bs_arena_printf(
          ctx.arena,
          "(target t) (mac dot (shape %s) (x %s) (y i8) (sum i32) "
          "(accumulators 4) (zero \"\") (load-x \"%s\") (load-y \"\") "
          "(accumulate \"\") (store \"\"))",
          shape, x, load_x)),
      "dot");
}

Test(target, rows_of_x_lie_anywhere_for_one_row_or_where_loads_name_a_stride) {
  cr_expect(gs_mac_takes_rows(parse_mac("1 16 4", "i8", "f({from})")));
  cr_expect(gs_mac_takes_rows(parse_mac("16 16 64", "i8", "f({stride})")));
  cr_expect_not(gs_mac_takes_rows(parse_mac("16 16 64", "i8", "f({from})")));
  cr_expect_not(gs_mac_takes_rows(
      parse_mac("16 16 64", "i8 (interleave 4)", "f({stride})")));
}

Test(target, stores_past_the_caches_are_as_fast_as_reading_by_default) {
  cr_expect_not(gs_stores_through_caches(NULL));
  cr_expect_not(gs_stores_through_caches(
      parse("(target m (memory (bytes-per-cycle 1)))")));
  cr_expect_not(gs_stores_through_caches(parse(
      "(target m (memory (bytes-per-cycle 4) (stored-bytes-per-cycle 4)))")));
  cr_expect(gs_stores_through_caches(
      parse("(target m (memory (stored-bytes-per-cycle 3.9)))")));
  refuses("(target m (memory (stored-bytes-per-cycle -1)))", "bad-value");
}

Test(target, detection_of_nothing_is_the_default) {
  gs_target *t = gs_target_detect_in(&ctx, "/no/such/root");
  cr_expect_eq(t->vector_bytes, gs_target_default(&ctx)->vector_bytes);
  cr_expect_eq(t->caches.len, gs_target_default(&ctx)->caches.len);
  gs_target *real = gs_target_detect(&ctx);
  cr_expect(real->vector_bytes >= 4 && real->caches.len >= 1);
}

/* --- the C models of the shipped accelerators ----------------------------- */

static void
try_array(long rows, long cols, long batch) {
  enum { PAD = 3 };
  long a0_i = rows + PAD, a1_k = 2 * cols + PAD, out_i = cols + PAD;
  float *a0 = bs_alloc(&heap, (size_t)(batch * a0_i) * sizeof *a0);
  float *a1 = bs_alloc(&heap, (size_t)(rows * a1_k) * sizeof *a1);
  float *out = bs_alloc(&heap, (size_t)(batch * out_i) * sizeof *out);
  for (long k = 0; k < batch * a0_i; k++)
    a0[k] = (float)(k * 7 % 11 - 5);
  for (long k = 0; k < rows * a1_k; k++)
    a1[k] = (float)(k * 5 % 13 - 6);
  for (long k = 0; k < batch * out_i; k++)
    out[k] = -99;
  glen_systolic(rows, cols, batch, out, out_i, 1, a0, a0_i, 1, a1, a1_k, 2);
  for (long i = 0; i < batch; i++) {
    for (long j = 0; j < cols; j++) {
      float sum = 0;
      for (long k = 0; k < rows; k++)
        sum += a0[i * a0_i + k] * a1[k * a1_k + 2 * j];
      cr_assert_eq(out[i * out_i + j], sum, "%ld x %ld", rows, cols);
    }
    for (long j = cols; j < out_i; j++)
      cr_assert_eq(out[i * out_i + j], -99);
  }
}

Test(target, model_of_the_systolic_array) {
  try_array(1, 1, 1);
  try_array(16, 16, 5);
  try_array(64, 64, 3);
  try_array(65, 63, 2);
  try_array(130, 200, 2);
}

Test(target, model_of_the_systolic_array_on_bytes) {
  int8_t a0[2][3] = {{127, 127, -128}, {1, 2, 3}};
  int8_t a1[3][2] = {{127, 1}, {127, 1}, {-128, 1}};
  int32_t out[2][2];
  glen_systolic_i8(3, 2, 2, &out[0][0], 2, 1, &a0[0][0], 3, 1, &a1[0][0], 2, 1);
  cr_expect_eq(out[0][0], 127 * 127 * 2 + 128 * 128);
  cr_expect_eq(out[0][1], 126);
  cr_expect_eq(out[1][0], 127 + 254 - 384);
  cr_expect_eq(out[1][1], 6);
}

Test(target, model_of_the_pooling_unit) {
  float a[2][4] = {{1, 5, 2, 3}, {-1, -2, 0, 9}}, out[2][2];
  glen_max_pool2(2, 2, &out[0][0], 2, 1, &a[0][0], 4, 1);
  cr_expect_eq(out[0][0], 5);
  cr_expect_eq(out[0][1], 3);
  cr_expect_eq(out[1][0], -1);
  cr_expect_eq(out[1][1], 9);
}

/* ---- numbers that are no target's ---- */

static const struct {
  const char *name;
  double value;
  const char *unit, *reason;
} tuned[] = {
#define X(name, value, unit, reason) {#name, value, unit, reason},
    GS_TUNED_INTEGERS(X) GS_TUNED_REALS(X)
#undef X
};

Test(target, tuned_numbers_have_a_unit_and_a_reason_once) {
  for (size_t k = 0; k < sizeof tuned / sizeof *tuned; k++) {
    cr_expect_gt(tuned[k].value, 0, "%s", tuned[k].name);
    cr_expect(*tuned[k].unit && strlen(tuned[k].reason) > 10, "%s",
              tuned[k].name);
    for (size_t j = 0; j < k; j++)
      cr_expect(strcmp(tuned[j].unit, tuned[k].unit) ||
                    strcmp(tuned[j].reason, tuned[k].reason),
                "%s says what %s says", tuned[k].name, tuned[j].name);
  }
}
