/* SPDX-License-Identifier: MIT */
/* target_print.c - a target as text that reads back.
 *
 * Includes, `$NAME`s and prelude files are resolved when a target is read, so
 * what is printed stands alone. */
#include "glenside/target/target_parse.h"
#include <string.h>

static void
put_number(bs_text *out, const target_number *n, const void *from) {
  const void *field = (const char *)from + n->offset;
  double real;
  bs_putf(out, "(%s ", n->name);
  if (n->real) {
    memcpy(&real, field, sizeof real);
    bs_put_real(out, real);
  } else
    bs_putf(out, "%lld", (long long)*(const int64_t *)field);
  bs_putc(out, ')');
}

static void
put_group(bs_text *out, const char *group, const void *from) {
  for (size_t k = 0; k < target_number_count; k++)
    if (target_numbers[k].group && !strcmp(target_numbers[k].group, group)) {
      bs_putc(out, ' ');
      put_number(out, &target_numbers[k], from);
    }
}

static void
put_machine(const gs_target *t, bs_text *out) {
  static const char *const groups[] = {"memory", "host"};
  for (size_t k = 0; k < target_number_count; k++)
    if (!target_numbers[k].group) {
      bs_put(out, "\n  ");
      put_number(out, &target_numbers[k], t);
    }
  for (uint32_t k = 0; k < t->caches.len; k++) {
    bs_putf(out, "\n  (cache %d", t->caches.data[k].level);
    put_group(out, "cache", &t->caches.data[k]);
    bs_putc(out, ')');
  }
  for (uint32_t k = 0; k < t->memories.len; k++) {
    bs_putf(out, "\n  (memory %s", t->memories.data[k].name);
    put_group(out, "memory NAME", &t->memories.data[k]);
    bs_putc(out, ')');
  }
  for (size_t k = 0; k < sizeof groups / sizeof *groups; k++) {
    bs_putf(out, "\n  (%s", groups[k]);
    put_group(out, groups[k], t);
    bs_putc(out, ')');
  }
}

static void
put_dims(bs_text *out, const bs_values *values, const gs_instr *instr,
         const gs_operand *o, uint32_t lo, uint32_t hi) {
  bs_putc(out, '(');
  for (uint32_t d = lo; d < hi; d++) {
    if (d > lo)
      bs_putc(out, ' ');
    gs_put_expr(out, values, &instr->scope, o->dims[d]);
  }
  bs_putc(out, ')');
}

static void
put_operand_type(bs_text *out, const gs_target *t, const bs_values *values,
                 const gs_instr *instr, const gs_operand *o) {
  bs_putc(out, '(');
  put_dims(out, values, instr, o, 0, o->access);
  bs_putc(out, ' ');
  put_dims(out, values, instr, o, o->access, o->rank);
  bs_putf(out, ") %s", gs_dtype_table[o->dtype].name);
  if (o->memory)
    bs_putf(out, " (in %s)", gs_memory_name(t, o->memory));
}

static void
put_operands(bs_text *out, const gs_target *t, const bs_values *values,
             const gs_instr *instr) {
  bs_put(out, "\n  (operands");
  for (uint32_t k = 0; k < instr->n_operands; k++) {
    bs_putf(out, " (%s ", instr->operands[k].name);
    put_operand_type(out, t, values, instr, &instr->operands[k]);
    bs_putc(out, ')');
  }
  bs_put(out, ")\n  (result ");
  put_operand_type(out, t, values, instr, &instr->result);
  if (instr->onto)
    bs_putf(out, " (onto %s)", instr->operands[instr->onto - 1].name);
  bs_putc(out, ')');
}

static void
put_layouts(bs_text *out, const bs_values *values, const gs_instr *instr) {
  for (uint32_t k = 0; k < instr->n_operands; k++) {
    if (!instr->operands[k].layout)
      continue;
    bs_putf(out, "\n  (layout %s ", instr->operands[k].name);
    gs_put_skeleton(out, values, &instr->scope, instr->operands[k].layout);
    bs_putc(out, ')');
  }
}

static void
put_costs(bs_text *out, const bs_values *values, const gs_instr *instr) {
  if (!instr->n_costs)
    return;
  bs_put(out, "\n  (cost");
  for (uint32_t k = 0; k < instr->n_costs; k++) {
    bs_putf(out, " (%s ", instr->costs[k].name);
    gs_put_expr(out, values, &instr->scope, instr->costs[k].value);
    bs_putc(out, ')');
  }
  bs_putc(out, ')');
}

static void
put_instr(bs_text *out, const gs_target *t, const bs_values *values,
          const gs_instr *instr) {
  bs_putf(out, "\n(instr %s", instr->name);
  if (instr->intent) {
    bs_put(out, "\n  ");
    gs_put_quoted(out, instr->intent);
  }
  bs_put(out, "\n  (params");
  for (uint32_t k = 0; k < instr->n_params; k++) {
    const gs_var *param = &instr->scope.vars.data[k];
    bs_putf(out, " %s%s", param->name,
            param->sort == GS_SORT_REAL ? ":number" : "");
  }
  bs_putc(out, ')');
  put_operands(out, t, values, instr);
  bs_put(out, "\n  (semantics ");
  gs_put_skeleton(out, values, &instr->scope, instr->semantics);
  bs_putc(out, ')');
  if (instr->where) {
    bs_put(out, "\n  (where ");
    gs_put_expr(out, values, &instr->scope, instr->where);
    bs_putc(out, ')');
  }
  put_layouts(out, values, instr);
  put_costs(out, values, instr);
  if (instr->queue)
    bs_putf(out, "\n  (queue %s)", instr->queue);
  bs_put(out, "\n  (emit ");
  gs_put_quoted(out, instr->emit);
  bs_put(out, "))\n");
}

static void
put_texts(const gs_target *t, bs_text *out) {
  if (t->march) {
    bs_put(out, "\n  (march ");
    gs_put_quoted(out, t->march);
    bs_putc(out, ')');
  }
  for (uint32_t k = 0; k < t->preludes.len; k++) {
    bs_put(out, "\n  (prelude ");
    gs_put_quoted(out, t->preludes.data[k]);
    bs_putc(out, ')');
  }
}

/* A setting as data reads back: lists are written as they are. */
static void
put_settings(const gs_target *t, const bs_values *values, bs_text *out) {
  for (uint32_t k = 0; k < t->settings.len; k++) {
    bs_value v = t->settings.data[k].value;
    const char *name = bs_as_sym(values, v); /* "" when it is none */
    bs_putf(out, "\n  (set %s ", t->settings.data[k].name);
    if (name[0] == '$')
      gs_put_quoted(out, name);
    else
      bs_put_value(out, values, v);
    bs_putc(out, ')');
  }
}

void
gs_target_print(const gs_target *t, const bs_values *values, bs_text *out) {
  bs_putf(out, "(target %s", t->name);
  put_machine(t, out);
  put_settings(t, values, out);
  put_texts(t, out);
  bs_put(out, ")\n");
  for (uint32_t k = 0; k < t->instrs.len; k++)
    put_instr(out, t, values, t->instrs.data[k]);
  for (uint32_t k = 0; k < t->macs.len; k++)
    target_print_mac(t->macs.data[k], out);
}
