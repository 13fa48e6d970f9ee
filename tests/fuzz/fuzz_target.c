/* SPDX-License-Identifier: MIT */
/* The parser of targets on any bytes: a target, or diagnostics.
 *
 * A target is printed; what was printed must parse and print the same.  Every
 * instruction is bound to operands of small sizes and expanded.  Then all of
 * it is done once more with half of the memory. */
#include "fuzz.h"
#include "glenside/target/target.h"

/* Files are not read: a text that could name one is passed over. */
static bool
names_a_file(const char *bytes, size_t size) {
  return memmem(bytes, size, "include", 7) || memmem(bytes, size, "-file", 5);
}

static gs_target *
parse(const gs_context *ctx, const char *text, size_t size) {
  uint32_t before = ctx->diags->errors;
  uint32_t source = bs_source_add(ctx->diags, "f", text, size);
  gs_target *t = source ? gs_target_parse(ctx, source) : NULL;
  require((t != NULL) == (ctx->diags->errors == before));
  return t;
}

static void
check_text(const gs_context *ctx, const gs_target *t) {
  bs_text first, second;
  bs_text_init(&first, ctx->heap);
  bs_text_init(&second, ctx->heap);
  gs_target_print(t, ctx->values, &first);
  const gs_target *again = parse(ctx, first.data, first.len);
  require(again != NULL);
  gs_target_print(again, ctx->values, &second);
  require(!strcmp(bs_text_str(&first), bs_text_str(&second)));
}

/* A call whose parameters and dimensions are all `size`. */
static void
check_call(const gs_context *ctx, const gs_target *t, const gs_instr *f,
           int64_t size) {
  gs_program *p = gs_program_new(ctx, t);
  gs_term *operands = BS_NEWS(ctx->arena, gs_term, f->n_operands + 1);
  bs_value items[GS_MAX_INSTR_VARS + 1], n = bs_int(ctx->values, size);
  gs_fault fault;
  items[0] = bs_sym(ctx->values, f->name);
  for (uint32_t k = 0; k < f->n_params; k++)
    items[k + 1] = n;
  for (uint32_t k = 0; k < f->n_operands; k++) {
    const gs_operand *o = &f->operands[k];
    gs_type type = {.access = o->rank, .rank = o->rank, .dtype = o->dtype};
    bs_value split = bs_int(ctx->values, o->access);
    for (uint32_t d = 0; d < o->rank; d++)
      type.dim[d] = size;
    gs_term tensor = gs_add_tensor(p, o->name, &type, BS_NOWHERE);
    if (!gs_term_ok(tensor))
      return;
    operands[k] = gs_add(p, GS_ACCESS, bs_list(ctx->values, &split, 1), &tensor,
                         1, BS_NOWHERE, &fault);
  }
  gs_instr_expand(f, p, bs_list(ctx->values, items, f->n_params + 1), operands,
                  &fault);
}

static void
read_input(void *argument) {
  const input *in = argument;
  bs_arena arena;
  bs_diags diags;
  bs_text out;
  bs_arena_init(&arena, in->heap);
  bs_diags_init(&diags, in->heap);
  gs_context ctx = {in->heap, &arena, bs_values_new(in->heap), &diags};
  gs_target *t = parse(&ctx, in->bytes, in->size);
  if (t)
    check_text(&ctx, t);
  for (uint32_t k = 0; t && k < t->instrs.len; k++)
    for (int64_t size = 1; size <= 64; size *= 8)
      check_call(&ctx, t, t->instrs.data[k], size);
  bs_text_init(&out, in->heap);
  for (uint32_t k = 0; k < diags.list.len; k++)
    bs_render(&diags, &diags.list.data[k], false, &out);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  if (names_a_file((const char *)bytes, size))
    return 0;
  read_twice(read_input, bytes, size, (size_t)1 << 30);
  return 0;
}
