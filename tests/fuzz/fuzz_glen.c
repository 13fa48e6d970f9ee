/* SPDX-License-Identifier: MIT */
/* The parser of programs on any bytes: a program, or diagnostics.
 *
 * A program is printed, with and without types; what was printed must parse
 * and print the same.  Each term is printed on a line.  Then all of it is done
 * once more with half of the memory.  Calls are read with a small target. */
#include "common.h"
#include "glenside/program/program.h"

static common of_all;

static gs_program *
parse(const gs_context *ctx, const gs_target *target, const char *text,
      size_t size) {
  uint32_t before = ctx->diags->errors;
  gs_program *p =
      gs_parse(ctx, target, bs_source_add(ctx->diags, "f", text, size));
  require((p != NULL) == (ctx->diags->errors == before));
  return p;
}

static void
check_types(const gs_program *p) {
  for (uint32_t i = 0; i < p->nodes.len; i++) {
    gs_type t;
    gs_type_at(p, (gs_term){i}, &t);
    require(t.access <= t.rank && t.rank <= GS_MAX_RANK);
    for (uint32_t k = 0; k < t.rank; k++)
      require(t.dim[k] >= 1 && t.dim[k] <= GS_MAX_ELEMENTS);
    require(gs_elements(&t) >= 1 && gs_elements(&t) <= GS_MAX_ELEMENTS);
  }
}

static void
check_program(const gs_context *ctx, const gs_program *p) {
  bs_text first, second, typed;
  bs_text_init(&first, ctx->heap);
  bs_text_init(&second, ctx->heap);
  bs_text_init(&typed, ctx->heap);
  check_types(p);
  gs_print(p, false, &first);
  gs_program *q = parse(ctx, p->target, first.data, first.len);
  require(q != NULL);
  gs_print(q, false, &second);
  require(!strcmp(bs_text_str(&first), bs_text_str(&second)));
  gs_print(p, true, &typed);
  q = parse(ctx, p->target, typed.data, typed.len);
  require(q != NULL);
  bs_text_clear(&second);
  gs_print(q, false, &second);
  require(!strcmp(bs_text_str(&first), bs_text_str(&second)));
  for (uint32_t i = 0; i < p->nodes.len && i < 100; i++)
    gs_print_term(p, (gs_term){i}, &second);
}

static void
read_input(void *argument) {
  const input *in = argument;
  bs_arena arena;
  bs_diags diags;
  gs_context ctx = context_over(&of_all, in->heap, &arena, &diags);
  gs_program *p = parse(&ctx, of_all.target, in->bytes, in->size);
  if (p) {
    check_program(&ctx, p);
    return;
  }
  bs_text out;
  bs_text_init(&out, in->heap);
  require(diags.list.len > 0);
  for (uint32_t k = 0; k < diags.list.len; k++)
    bs_render(&diags, &diags.list.data[k], false, &out);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  renew(&of_all);
  read_twice_below(&of_all.heap, read_input, bytes, size, (size_t)1 << 30);
  return 0;
}
