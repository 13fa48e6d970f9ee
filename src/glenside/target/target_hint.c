/* SPDX-License-Identifier: MIT */
/* target_hint.c - what is to be written instead of what a target file cannot
 * have: hints for those who write one for the first time. */
#include "glenside/target/target_parse.h"
#include "glenside/type/elsewhere.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* What a unit stands for, as a factor of what targets count in. */
static const struct {
  const char *unit;
  double factor;
} units[] = {
    {"b", 1},           {"k", 1024},     {"kb", 1024},        {"kib", 1024},
    {"m", 1048576},     {"mb", 1048576}, {"mib", 1048576},    {"g", 1073741824},
    {"gb", 1073741824}, {"ghz", 1},      {"gib", 1073741824}, {"mhz", 0.001},
    {"khz", 1e-6},      {"hz", 1e-9},    {"cycles", 1},
};

void
target_hint_unit(const target_parser *p, uint32_t node) {
  if (target_at(p, node)->kind != BS_SX_SYM)
    return;
  char *unit;
  double number = strtod(target_sym(p, node), &unit);
  if (unit == target_sym(p, node))
    return;
  for (size_t k = 0; k < sizeof units / sizeof *units; k++)
    if (!strcasecmp(units[k].unit, unit)) {
      bs_hint(p->ctx->diags, "numbers are written without a unit: write %.15g",
              number * units[k].factor);
      return;
    }
  bs_hint(p->ctx->diags, "numbers are written without a unit");
}

void
target_hint_dtype(const target_parser *p, uint32_t node) {
  if (target_at(p, node)->kind == BS_SX_SYM &&
      gs_hint_elsewhere(p->ctx->diags, GS_AS_DTYPE, target_sym(p, node)))
    return;
  bs_hint(p->ctx->diags,
          "a type is written ((S...) (C...)) DTYPE, such as ((16) ()) f32");
}

/* What a part of an instruction looks like. */
static const struct {
  const char *part, *example;
} parts[] = {
    {"operands", "(operands (a ((n) ()) f32))"},
    {"result", "(result ((n) ()) f32)"},
    {"semantics", "(semantics (compute relu a))"},
    {"cost", "(cost (cycles 16))"},
    {"emit", "(emit \"relu({n}, {a}, {result});\")"},
};

void
target_hint_part(const target_parser *p, const char *part) {
  for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
    if (!strcmp(parts[k].part, part))
      bs_hint(p->ctx->diags, "such as %s", parts[k].example);
}

bool
target_bad_name(const target_parser *p, uint32_t node) {
  assert(target_at(p, node)->kind == BS_SX_SYM);
  const char *name = target_sym(p, node);
  bs_error(p->ctx->diags, target_at(p, node)->span, "bad-name",
           "'%s' is not a name: letters, digits, _ and -", name);
  if (*name == '?')
    bs_hint(p->ctx->diags, "names are written without a mark here: %s",
            name + 1);
  return false;
}

/* What does not begin with a list is something else altogether: told once. */
bool
target_is_target(const target_parser *p) {
  uint32_t first = p->sexps->roots.len ? p->sexps->roots.data[0] : 0;
  if (!p->sexps->roots.len || target_at(p, first)->kind == BS_SX_LIST)
    return true;
  bs_error(p->ctx->diags, target_at(p, first)->span, "not-a-form",
           "a target file consists of lists, such as (target NAME ...)");
  bs_hint(p->ctx->diags, "(target NAME (include \"cpu.target\") (cores 4))");
  return false;
}
