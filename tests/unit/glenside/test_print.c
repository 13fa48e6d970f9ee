/* SPDX-License-Identifier: MIT */
/* Printing: what is printed parses to the same program and prints the same. */
#include "lang.h"
#include "base/file.h"

TestSuite(print, .init = start, .fini = fixture_stop);

/* Equal terms of two programs have equal operators, attributes and children;
 * `same` maps the one's terms to the other's. */
static void
check_equal(const gs_program *p, const gs_program *q) {
  uint32_t *same = bs_alloc(&heap, (p->nodes.len + 1) * sizeof *same);
  uint8_t *live = bs_alloc(&heap, p->nodes.len + 1);
  gs_mark_live(p, live);
  for (uint32_t i = 0; i < p->nodes.len; i++) {
    const gs_node *node = &p->nodes.data[i];
    if (!live[i])
      continue;
    same[i] = UINT32_MAX;
    for (uint32_t j = 0; j < q->nodes.len && same[i] == UINT32_MAX; j++) {
      const gs_node *other = &q->nodes.data[j];
      bool equal = node->op == other->op && node->n_kids == other->n_kids &&
                   bs_same(node->attr, other->attr) &&
                   bs_same(node->type, other->type);
      for (uint32_t k = 0; equal && k < node->n_kids; k++)
        equal = same[node->kids[k].i] == other->kids[k].i;
      if (equal)
        same[i] = j;
    }
    cr_assert_neq(same[i], UINT32_MAX);
  }
  cr_assert_eq(p->outputs.len, q->outputs.len);
  for (uint32_t k = 0; k < p->outputs.len; k++) {
    cr_assert_str_eq(p->outputs.data[k].name, q->outputs.data[k].name);
    cr_assert_eq(same[p->outputs.data[k].term.i], q->outputs.data[k].term.i);
  }
  cr_assert_eq(p->inputs.len, q->inputs.len);
  for (uint32_t k = 0; k < p->inputs.len; k++)
    cr_assert_str_eq(p->inputs.data[k].name, q->inputs.data[k].name);
  cr_assert_eq(p->constants.len, q->constants.len);
  for (uint32_t k = 0; k < p->constants.len; k++) {
    const gs_constant *a = &p->constants.data[k], *b = &q->constants.data[k];
    size_t bytes =
        (size_t)gs_elements(&a->type) * gs_dtype_table[a->type.dtype].bytes;
    cr_assert_str_eq(a->name, b->name);
    cr_assert_arr_eq(a->data, b->data, bytes);
  }
}

static void
check_round_trip(const gs_program *p) {
  const char *text = printed(p, false);
  gs_program *q = parse(text);
  cr_assert(q, "%s\n%s", text, faults());
  check_equal(p, q);
  cr_assert_str_eq(text, printed(q, false));
  gs_program *r = parse(printed(p, true));
  cr_assert(r, "%s", faults());
  cr_assert_str_eq(text, printed(r, false));
}

static void
check_width(const char *text) {
  for (const char *line = text; *line;) {
    size_t len = strcspn(line, "\n");
    cr_assert_leq(len, 80, "%.*s", (int)len, line);
    line += len + (line[len] == '\n');
  }
}

Test(print, layout) {
  gs_program *p = parse_well(
      "(tensor activations (shape 1 64 56 56) f32)\n"
      "(tensor weights (shape 64 64 3 3) f32)\n"
      "(let conv (transpose (squeeze (compute dotProd (cartProd (windows "
      "(access activations 1) (shape 64 3 3) (stride 1 1 1)) (access weights "
      "1))) 1) (list 0 3 1 2)))\n(output conv)");
  cr_assert_str_eq(printed(p, false),
                   "(tensor activations (shape 1 64 56 56) f32)\n"
                   "(tensor weights (shape 64 64 3 3) f32)\n"
                   "(let conv\n"
                   "  (transpose\n"
                   "    (squeeze\n"
                   "      (compute dotProd\n"
                   "        (cartProd\n"
                   "          (windows (access activations 1) (shape 64 3 3) "
                   "(stride 1 1 1))\n"
                   "          (access weights 1)))\n"
                   "      1)\n"
                   "    (list 0 3 1 2)))\n"
                   "(output conv)\n");
  check_round_trip(p);
}

Test(print, types) {
  gs_program *p = parse_well("(tensor a (shape 8 16) bf16)"
                             "(let y (compute reduceSum (access a 1)))"
                             "(output y)");
  cr_assert_str_eq(
      printed(p, true),
      "(tensor a (shape 8 16) bf16)\n"
      "(let y\n"
      "  (compute reduceSum                            ; ((8), ()) f32\n"
      "    (access a 1)))                              ; ((8), (16)) bf16\n"
      "(output y)\n");
}

Test(print, names) {
  gs_program *p =
      parse_well("(tensor t0 (shape 4) f32)"
                 "(let y (compute add (pair (compute relu (compute neg t0)) "
                 "(compute abs (compute neg t0)))))"
                 "(let z y) (let in t0) (let unused (compute exp z))"
                 "(output z) (output in)");
  cr_assert_str_eq(printed(p, false),
                   "(tensor t0 (shape 4) f32)\n"
                   "(let in t0)\n"
                   "(let t1 (compute neg t0))\n"
                   "(let y (compute add (pair (compute relu t1) (compute abs "
                   "t1))))\n"
                   "(let z y)\n"
                   "(let unused (compute exp y))\n"
                   "(output z)\n"
                   "(output in)\n");
  check_round_trip(p);
}

Test(print, chains_of_concats_are_one) {
  gs_program *p = parse_well("(tensor a (shape 1) f32) (tensor b (shape 2) f32)"
                             "(let x (concat a b a 0))"
                             "(let y (concat (concat a b 0) (concat b b 0) 0))"
                             "(output x) (output y)");
  cr_assert(strstr(printed(p, false), "(let x (concat a b a 0))\n"));
  cr_assert(
      strstr(printed(p, false), "(let y (concat (concat a b 0) b b 0))\n"));
  check_round_trip(p);
}

Test(print, constants_are_exact) {
  gs_program *p = parse_well(
      "(const a (shape 2 3) f32 0.1 -0.0 1e-45 3.4028235e38 16777216 0.3)"
      "(const b (shape 4) f64 0.1 1e300 5e-324 0.3333333333333333)"
      "(const c (shape 5) bf16 0.1 1 1e38 -0.0 0.3)"
      "(const d (shape 3) f32 inf -inf nan) (const e (shape 2) i8 -128 127)"
      "(const f (shape) i32 -2147483648)"
      "(const g (shape 2) i64 1407374883553284 -9007199254740992)"
      "(output a) (output b) (output c) (output d) (output e) (output f)"
      "(output g)");
  const char *text = printed(p, false);
  cr_assert(strstr(text, "(const a (shape 2 3) f32 0.1 -0.0 1e-45 "
                         "3.4028235e+38 16777216 0.3)"),
            "%s", text);
  cr_assert(strstr(text, "(const c (shape 5) bf16 0.1 1 1e+38 -0.0 0.3)"), "%s",
            text);
  cr_assert(strstr(text, "f32 inf -inf nan)"));
  check_round_trip(p);
}

Test(print, random_floats_read_back_equal) {
  uint64_t r = 7;
  gs_type f = {.access = 1, .rank = 1, .dtype = GS_F32, .dim = {5000}};
  gs_type d = {.access = 1, .rank = 1, .dtype = GS_F64, .dim = {5000}};
  gs_type b = {.access = 1, .rank = 1, .dtype = GS_BF16, .dim = {65536}};
  uint32_t *fs = bs_alloc(&heap, 5000 * 4);
  uint64_t *ds = bs_alloc(&heap, 5000 * 8);
  uint16_t *bs = bs_alloc(&heap, 65536 * 2);
  for (uint32_t k = 0; k < 5000; k++) {
    fs[k] = (uint32_t)next_random(&r);
    ds[k] = next_random(&r);
    if ((fs[k] & 0x7f800000) == 0x7f800000)
      fs[k] = k;
    if ((ds[k] >> 52 & 0x7ff) == 0x7ff)
      ds[k] = k;
  }
  for (uint32_t k = 0; k < 65536; k++)
    bs[k] = (uint16_t)((k & 0x7f80) == 0x7f80 && (k & 0x7f) ? 0 : k);
  gs_program *p = gs_program_new(&ctx, NULL);
  gs_add_output(p, "f", gs_add_constant(p, "f", &f, fs, BS_NOWHERE),
                BS_NOWHERE);
  gs_add_output(p, "d", gs_add_constant(p, "d", &d, ds, BS_NOWHERE),
                BS_NOWHERE);
  gs_add_output(p, "b", gs_add_constant(p, "b", &b, bs, BS_NOWHERE),
                BS_NOWHERE);
  check_round_trip(p);
  check_width(printed(p, false));
}

/* Sharing that would unfold to 2^60 terms. */
Test(print, shared_terms_do_not_unfold) {
  gs_program *p = gs_program_new(&ctx, NULL);
  gs_type type = {.access = 1, .rank = 1, .dtype = GS_F32, .dim = {4}};
  bs_value add = bs_sym(ctx.values, "add");
  gs_term t = gs_add_tensor(p, "a", &type, BS_NOWHERE);
  gs_fault fault;
  for (int k = 0; k < 60; k++) {
    gs_term two[2] = {t, t};
    gs_term pair = gs_add(p, GS_PAIR, BS_NIL, two, 2, BS_NOWHERE, &fault);
    t = gs_add(p, GS_COMPUTE, bs_list(ctx.values, &add, 1), &pair, 1,
               BS_NOWHERE, &fault);
  }
  gs_add_output(p, "sum", t, BS_NOWHERE);
  check_round_trip(p);
  cr_assert_lt(strlen(printed(p, false)), 5000);
  bs_text one;
  bs_text_init(&one, &heap);
  gs_print_term(p, gs_at(p, t)->kids[0], &one);
  cr_assert(!strchr(bs_text_str(&one), '\n'));
  cr_assert_lt(one.len, 30000);
}

Test(print, terms_and_nodes_on_one_line) {
  gs_program *p =
      parse_well("(tensor a (shape 4 9) f32)"
                 "(let x (compute (clip 0 6) a))"
                 "(let y (windows (access x 1) (shape 3) (stride 2)))"
                 "(let z (pair (compute exp y) (compute (scale 0.5) y)))"
                 "(output z)");
  bs_text out;
  bs_text_init(&out, &heap);
  gs_print_term(p, p->lets.data[2].term, &out);
  cr_assert_str_eq(bs_text_str(&out),
                   "(pair (compute exp y) (compute (scale 0.5) y))");
  bs_text_clear(&out);
  gs_print_term(p, p->inputs.data[0].term, &out);
  cr_assert_str_eq(bs_text_str(&out), "a");
  bs_text_clear(&out);
  const gs_node *node = gs_at(p, p->lets.data[1].term);
  gs_print_node(&ctx, node->op, node->attr, NULL, 1, &out);
  cr_assert_str_eq(bs_text_str(&out), "(windows ... (shape 3) (stride 2))");
  bs_text_clear(&out);
  node = gs_at(p, p->lets.data[0].term);
  const char *kid = "a";
  gs_print_node(&ctx, node->op, node->attr, &kid, 1, &out);
  cr_assert_str_eq(bs_text_str(&out), "(compute (clip 0 6) a)");
}

Test(print, examples) {
  const char *const *paths;
  uint32_t n;
  cr_assert(
      bs_dir_list(&diags, GLEN_SOURCE_DIR "/examples", ".glen", &paths, &n));
  for (uint32_t k = 0; k < n; k++) {
    gs_program *p = gs_parse_file(&ctx, NULL, paths[k]);
    cr_assert(p, "%s", faults());
    check_round_trip(p);
    check_width(printed(p, false));
  }
}

/* Random programs ---------------------------------------------------------- */

static bs_value
random_ints(uint64_t *r, uint32_t n, int64_t most) {
  int64_t items[GS_MAX_RANK];
  for (uint32_t k = 0; k < n && k < GS_MAX_RANK; k++)
    items[k] = random_below(r, most + 1);
  return bs_ints(ctx.values, items, n < GS_MAX_RANK ? n : GS_MAX_RANK);
}

static bs_value
random_permutation(uint64_t *r, uint32_t n) {
  int64_t items[GS_MAX_RANK];
  for (uint32_t k = 0; k < n; k++) {
    uint32_t j = (uint32_t)random_below(r, k + 1);
    items[k] = items[j];
    items[j] = k;
  }
  return bs_ints(ctx.values, items, n);
}

static bs_value
random_compute(uint64_t *r) {
  int op = (int)random_below(r, GS_COMPUTE_COUNT);
  const gs_compute_info *info = &gs_compute_table[op];
  bs_value items[3] = {bs_sym(ctx.values, info->name)};
  uint32_t n = (uint32_t)strlen(info->params);
  for (uint32_t k = 0; k < n; k++)
    items[k + 1] =
        info->params[k] == 't'
            ? bs_sym(ctx.values,
                     gs_dtype_table[random_below(r, GS_DTYPE_COUNT)].name)
            : bs_real(ctx.values, (double)(k + random_below(r, 9)) / 4);
  return n ? bs_list(ctx.values, items, n + 1) : items[0];
}

/* Attributes that often suit a term of the type. */
static bs_value
likely_attr(uint64_t *r, gs_op op, const gs_type *t) {
  static const char *const kinds[] = {"zero", "min", "edge"};
  bs_value items[6];
  uint32_t n = 0;
  for (const char *a = gs_op_table[op].attrs; *a; a++, n++)
    switch (*a) {
    case 'd':
    case 'n':
      items[n] = bs_int(ctx.values, random_below(r, t->rank + 2));
      break;
    case 'k':
      items[n] = bs_sym(ctx.values, kinds[random_below(r, 3)]);
      break;
    case 'o':
      items[n] = random_compute(r);
      break;
    case 'L':
      if (op == GS_TRANSPOSE)
        items[n] = random_permutation(r, t->rank);
      else if (op == GS_RESHAPE)
        items[n] = bs_ints(ctx.values, t->dim + (n ? t->access : 0),
                           n ? t->rank - t->access : t->access);
      else if (op == GS_BROADCAST)
        items[n] = bs_ints(ctx.values, t->dim, t->rank);
      else
        items[n] = random_ints(r, (uint32_t)(t->rank - t->access), 2);
      break;
    default:
      items[n] = bs_int(ctx.values, 1);
    }
  return bs_list(ctx.values, items, n);
}

static gs_program *
random_program(uint64_t seed) {
  static const char *const names[] = {"x", "t0", "t3", "long-name_1", "t1"};
  uint64_t r = seed;
  gs_program *p = gs_program_new(&ctx, NULL);
  gs_fault fault;
  for (int k = 0; k < 3; k++) {
    gs_type t = {.rank = (uint8_t)random_below(&r, 4),
                 .dtype = (gs_dtype)random_below(&r, 3)};
    t.access = t.rank;
    for (uint32_t d = 0; d < t.rank; d++)
      t.dim[d] = 1 + random_below(&r, 5);
    char name[2] = {(char)('a' + k), 0};
    gs_add_tensor(p, name, &t, BS_NOWHERE);
  }
  for (int tries = 0; tries < 400; tries++) {
    gs_op op = (gs_op)(GS_ACCESS + random_below(&r, GS_CALL - GS_ACCESS));
    gs_term kids[2] = {{(uint32_t)random_below(&r, p->nodes.len)},
                       {(uint32_t)random_below(&r, p->nodes.len)}};
    if (!random_below(&r, 3))
      kids[1] = kids[0];
    gs_type t;
    gs_type_at(p, kids[0], &t);
    if (gs_elements(&t) < 100000)
      gs_add(p, op, likely_attr(&r, op, &t), kids,
             (uint32_t)gs_op_table[op].kids, BS_NOWHERE, &fault);
  }
  for (int k = 0; k < 5; k++) {
    gs_term t = {(uint32_t)random_below(&r, p->nodes.len)};
    gs_add_output(p, names[k], t, BS_NOWHERE);
  }
  return p;
}

Test(print, random_programs) {
  for (uint64_t seed = 0; seed < 150; seed++) {
    gs_program *p = random_program(seed);
    check_round_trip(p);
    check_width(printed(p, false));
  }
}
