/* SPDX-License-Identifier: MIT */
/* test_shrink.c - which smaller sizes a copy of two terms has. */
#include "fixture.h"
#include "prove/session/shrink.h"

#define SIDES(l, r) "(let l " l ")(let r " r ")(output l)(output r)"
#define W           "(access (transpose b (list 1 0)) 1)"
#define PRODUCT(n, m, o)                                                       \
  "(tensor a (shape " n " " m ") f32)(tensor b (shape " m " " o ") f32)"
#define AB "(compute dotProd (cartProd (access a 1) " W "))"

static const struct {
  const char *text;
  int64_t most;
  const char *sizes; /* of the copy's inputs, and of its first side */
} rows[] = {
    {PRODUCT("1024", "1024", "1024") SIDES(AB, AB), 200000,
     "(16 16)f32 (16 16)f32 (16 16)f32"},
    {PRODUCT("1024", "1024", "1024") SIDES(AB, AB), 3000,
     "(2 2)f32 (2 2)f32 (2 2)f32"},
    {PRODUCT("512", "768", "512")
         SIDES(AB, "(concat (compute dotProd (cartProd (access (slice a 0 0 "
                   "128) 1) " W ")) (compute dotProd (cartProd (access (slice "
                   "a 0 128 512) 1) " W ")) 0)"),
     200000, "(8 12)f32 (12 8)f32 (8 8)f32"},
    {PRODUCT("97", "101", "103") SIDES(AB, AB), 200000,
     "(97 101)f32 (101 4)f32 (97 4)f32"},
    {PRODUCT("97", "101", "103") SIDES(AB, AB), 20, "none"},
    {PRODUCT("35", "70", "21") SIDES(AB, AB), 100000,
     "(35 35)f32 (35 21)f32 (35 21)f32"},
    {"(tensor x (shape 1 64 56 56) f32)(tensor w (shape 64 64 3 3) f32)" SIDES(
         "(transpose (squeeze (compute dotProd (cartProd (windows (access x 1) "
         "(shape 64 3 3) (stride 1 1 1)) (access w 1))) 1) (list 0 3 1 2))",
         "(transpose (reshape (compute dotProd (cartProd (flatten (windows "
         "(access x 1) (shape 64 3 3) (stride 1 1 1))) (flatten (access w "
         "1)))) (shape 1 54 54 64) (shape)) (list 0 3 1 2))"),
     200000, "(1 2 7 7)f32 (2 2 3 3)f32 (1 2 5 5)f32"},
    {"(tensor x (shape 256 512 512) f32)" SIDES(
         "(compute reduceMax (windows (access x 1) (shape 4 4) (stride 4 4)))",
         "(compute reduceMax (windows (access (compute reduceMax (windows "
         "(access x 1) (shape 2 2) (stride 2 2))) 1) (shape 2 2) (stride 2 "
         "2)))"),
     200000, "(4 8 8)f32 (4 2 2)f32"},
    {"(tensor x (shape 2048 4096) f32)(tensor v (shape 4096) f32)" SIDES(
         "(compute add (pair x (broadcast (insertAxis v 0) (shape 2048 "
         "4096))))",
         "(compute add (pair (broadcast (insertAxis v 0) (shape 2048 4096)) "
         "x))"),
     200000, "(32 64)f32 (64)f32 (32 64)f32"},
    {"(tensor x (shape 600 1000) i8)" SIDES(
         "(slice (pad x zero 1 24 0) 1 24 1024)",
         "(reverse (reverse (concat (slice x 0 0 200) (slice x 0 200 600) 0) "
         "0) 0)"),
     5000, "none"},
    {"(tensor x (shape 4096 30) f32)" SIDES(
         "(reshape x (shape 128 960) (shape))",
         "(reshape (reshape x (shape 122880) (shape)) (shape 128 960) "
         "(shape))"),
     5000, "(2 30)f32 (4 15)f32"},
    {"(tensor x (shape 4096 4) f32)(const c (shape 4) f32 1 2 3 4)" SIDES(
         "(compute add (pair x (broadcast (insertAxis c 0) (shape 4096 4))))",
         "(compute add (pair (broadcast (insertAxis c 0) (shape 4096 4)) x))"),
     5000, "(64 4)f32 (64 4)f32"},
    {"(tensor x (shape 7 5) f32)" SIDES("x", "(transpose (transpose x (list 1 "
                                             "0)) (list 1 0))"),
     1, "none"},
};

static void
put_shape(bs_text *out, const gs_program *q, gs_term t) {
  gs_type type;
  gs_type_at(q, t, &type);
  bs_put(out, out->len ? " (" : "(");
  for (uint32_t d = 0; d < type.rank; d++)
    bs_putf(out, d ? " %lld" : "%lld", (long long)type.dim[d]);
  bs_putf(out, ")%s", gs_dtype_table[type.dtype].name);
}

static const char *
shrunk(const char *text, int64_t most) {
  gs_program *p = program_over(NULL, text);
  pv_pair pair = {p->outputs.data[0].term, p->outputs.data[1].term}, small;
  gs_program *q = pv_shrink(&ctx, p, &pair, 1, most, &small);
  gs_type left, right;
  bs_text out;
  if (!q)
    return "none";
  bs_text_init(&out, &heap);
  for (uint32_t k = 0; k < q->inputs.len; k++)
    put_shape(&out, q, q->inputs.data[k].term);
  put_shape(&out, q, small.left);
  gs_type_at(q, small.left, &left);
  gs_type_at(q, small.right, &right);
  cr_expect(gs_type_equal(&left, &right), "%s", text);
  return bs_text_str(&out);
}

Test(shrink, sizes_of_copies, .init = fixture_start, .fini = fixture_stop) {
  for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
    const char *is = shrunk(rows[k].text, rows[k].most);
    cr_expect_str_eq(is, rows[k].sizes, "%zu: %s", k, is);
  }
}

/* Constants keep the first elements along each dimension. */
Test(shrink, data_of_constants, .init = fixture_start, .fini = fixture_stop) {
  enum { ROWS = 400, COLUMNS = 6 };
  bs_text text;
  pv_pair small;
  bs_text_init(&text, &heap);
  bs_putf(&text, "(tensor x (shape %d %d) f32)(const c (shape %d %d) f32", ROWS,
          COLUMNS, ROWS, COLUMNS);
  for (int k = 0; k < ROWS * COLUMNS; k++)
    bs_putf(&text, " %d", k + 1);
  bs_put(&text,
         ")" SIDES("(compute add (pair x c))", "(compute add (pair c x))"));
  gs_program *p = program_over(NULL, bs_text_str(&text));
  pv_pair pair = {p->outputs.data[0].term, p->outputs.data[1].term};
  gs_program *q = pv_shrink(&ctx, p, &pair, 1, 1000, &small);
  cr_assert(q);
  const gs_constant *c = gs_find_constant(q, "c");
  cr_assert_eq(c->type.rank, 2);
  cr_assert_lt(c->type.dim[0] * c->type.dim[1], ROWS * COLUMNS);
  gs_tensor data = gs_tensor_of(c);
  for (int64_t i = 0; i < c->type.dim[0]; i++)
    for (int64_t j = 0; j < c->type.dim[1]; j++)
      cr_expect_eq(gs_tensor_get(&data, i * c->type.dim[1] + j),
                   (double)(i * COLUMNS + j + 1));
  bs_text_done(&text);
}
