/* SPDX-License-Identifier: MIT */
/* naming.c - see naming.h. */
#include "rules/explain/naming.h"
#include <assert.h>

#include "glenside/type/op.h"
#include "glenside/type/type.h"
#include "rules/rule/saturate.h"

static void
put_node(const void *ctx, bs_text *out, uint32_t op, bs_value attr) {
  assert(op < GS_OP_COUNT);
  const gs_context *gs = ctx;
  bs_put(out, gs_op_table[op].name);
  uint32_t n = bs_kind_of(gs->values, attr) == BS_KIND_LIST
                   ? bs_len(gs->values, attr)
                   : 0;
  /* An array is told by its name alone; its type is the class's. */
  if (op == GS_TENSOR || op == GS_CONST)
    n = n ? 1 : 0;
  for (uint32_t k = 0; k < n; k++) {
    bs_putc(out, ' ');
    bs_put_value(out, gs->values, bs_item(gs->values, attr, k));
  }
}

static void
put_class(const void *ctx, bs_text *out, const eg_graph *g, eg_class c) {
  const gs_context *gs = ctx;
  gs_type type;
  gs_type_read(gs->values, rl_facts_of(g, c)->type, &type);
  gs_put_type(out, &type);
}

void
rl_naming(const gs_context *ctx, eg_naming *out) {
  *out = (eg_naming){.ctx = ctx, .put_node = put_node, .put_class = put_class};
}
