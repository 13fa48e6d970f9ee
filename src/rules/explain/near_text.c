/* SPDX-License-Identifier: MIT */
/* near_text.c - conditions that fail, in words: the condition in infix, the
 * values of what it asks about, and what could be done about a size.
 *
 * Expressions nest no deeper than GS_MAX_NESTING, so they may be walked by
 * recursion. */
#include "rules/explain/near_text.h"
#include <string.h>

typedef struct teller {
  const gs_context *ctx;
  const gs_scope *scope;
  const gs_env *env;
  bs_text *out;
  uint32_t told;
  const char *seen[8];
} teller;

static const struct {
  const char *name, *sign;
  int binds; /* more: tighter */
} infix[] = {
    {"=", "=", 1}, {"!=", "!=", 1}, {"<", "<", 1},   {"<=", "<=", 1},
    {">", ">", 1}, {">=", ">=", 1}, {"+", "+", 2},   {"-", "-", 2},
    {"*", "*", 3}, {"/", "/", 3},   {"mod", "%", 3},
};

static int
infix_of(const gs_expr *e) {
  if (e->kind != GS_X_CALL || e->n_args < 2)
    return -1;
  const char *name = gs_function_name(e->function);
  for (size_t k = 0; k < sizeof infix / sizeof infix[0]; k++)
    if (!strcmp(infix[k].name, name))
      return (int)k;
  return -1;
}

static void
put(teller *t, const gs_expr *e, int around) {
  int k = infix_of(e);
  if (k < 0) {
    gs_put_expr(t->out, t->ctx->values, t->scope, e);
    return;
  }
  bool inner = infix[k].binds <= around;
  if (inner)
    bs_putc(t->out, '(');
  for (uint32_t i = 0; i < e->n_args; i++) {
    if (i)
      bs_putf(t->out, " %s ", infix[k].sign);
    put(t, e->args[i], i ? infix[k].binds : infix[k].binds - 1);
  }
  if (inner)
    bs_putc(t->out, ')');
}

static const char *
taken(teller *t, bs_text *text) {
  const char *s = bs_arena_strdup(t->ctx->arena, bs_text_str(text));
  bs_text_done(text);
  t->out = NULL;
  return s;
}

static const char *
text_of(teller *t, const gs_expr *e) {
  bs_text text;
  bs_text_init(&text, t->ctx->heap);
  t->out = &text;
  put(t, e, 0);
  return taken(t, &text);
}

/* --- values --------------------------------------------------------------- */

static bool
asks_class(const gs_expr *e) {
  for (uint32_t k = 0; k < e->n_args; k++)
    if (e->args[k]->kind == GS_X_VAR && e->args[k]->sort == GS_SORT_CLASS)
      return true;
  return false;
}

static bool
is_told(teller *t, const char *what) {
  uint32_t most = sizeof t->seen / sizeof t->seen[0];
  for (uint32_t k = 0; k < t->told; k++)
    if (!strcmp(t->seen[k], what))
      return true;
  if (t->told == most)
    return true;
  t->seen[t->told++] = what;
  return false;
}

static void
tell_value(teller *t, bs_text *out, const gs_expr *e) {
  bs_value v;
  const char *what = text_of(t, e);
  if (is_told(t, what))
    return;
  bs_putf(out, "%s%s is ", out->len ? ", " : "", what);
  if (gs_expr_eval(e, t->env, &v))
    bs_put_value(out, t->ctx->values, v);
  else
    bs_put(out, "undefined");
}

/* The variables that stand for values, and the facts of terms. */
static void
tell_values(teller *t, bs_text *out, const gs_expr *e) {
  bool leaf = (e->kind == GS_X_VAR && e->sort != GS_SORT_CLASS) ||
              (e->kind == GS_X_CALL && asks_class(e) && infix_of(e) < 0);
  if (leaf) {
    tell_value(t, out, e);
    return;
  }
  for (uint32_t k = 0; k < e->n_args; k++)
    tell_values(t, out, e->args[k]);
}

/* --- hints ---------------------------------------------------------------- */

static bool
whole(const teller *t, const gs_expr *e, int64_t *out) {
  bs_value v;
  if (!gs_expr_eval(e, t->env, &v) ||
      bs_kind_of(t->ctx->values, v) != BS_KIND_INT)
    return false;
  *out = bs_as_int(t->ctx->values, v);
  return true;
}

static const char *
hint_multiple(const teller *t, const char *what, int64_t have, int64_t of) {
  if (of < 2 || have < 1)
    return NULL;
  int64_t rest = have % of;
  if (!rest || have > INT64_MAX - of)
    return NULL;
  if (have < of)
    return bs_arena_printf(t->ctx->arena, "pad %s from %lld to %lld", what,
                           (long long)have, (long long)of);
  return bs_arena_printf(
      t->ctx->arena, "pad %s from %lld to %lld, or split off the last %lld",
      what, (long long)have, (long long)(have + of - rest), (long long)rest);
}

static const char *
hint_most(const teller *t, const char *what, int64_t have, int64_t most) {
  if (most < 1 || have <= most)
    return NULL;
  return bs_arena_printf(t->ctx->arena, "split %s = %lld into parts of %s%lld",
                         what, (long long)have, have % most ? "at most " : "",
                         (long long)most);
}

static const char *
hint_exact(const teller *t, const char *what, int64_t have, int64_t wanted) {
  if (have < 1 || wanted < 1)
    return NULL;
  if (have < wanted)
    return hint_multiple(t, what, have, wanted);
  if (have % wanted == 0)
    return hint_most(t, what, have, wanted);
  int64_t up = have + wanted - have % wanted;
  return bs_arena_printf(
      t->ctx->arena, "pad %s from %lld to %lld and split it into parts of %lld",
      what, (long long)have, (long long)up, (long long)wanted);
}

static bool
is_called(const gs_expr *e, const char *name) {
  return e->kind == GS_X_CALL && e->n_args == 2 &&
         !strcmp(gs_function_name(e->function), name);
}

/* "x % n = 0", x one expression and n another. */
static const char *
hint_modulo(teller *t, const gs_expr *a, const gs_expr *b) {
  int64_t zero, x, n;
  if (!is_called(a, "mod") || !whole(t, b, &zero) || zero ||
      !whole(t, a->args[0], &x) || !whole(t, a->args[1], &n))
    return NULL;
  return hint_multiple(t, text_of(t, a->args[0]), x, n);
}

static const char *
hint_compare(teller *t, const char *sign, const gs_expr *a, const gs_expr *b) {
  int64_t x, y;
  bool fixed = b->kind == GS_X_LITERAL;
  if (!whole(t, a, &x) || !whole(t, b, &y) || a->kind == GS_X_LITERAL)
    return NULL;
  if (!strcmp(sign, "="))
    return fixed ? hint_exact(t, text_of(t, a), x, y) : NULL;
  if (!strcmp(sign, "<="))
    return hint_most(t, text_of(t, a), x, y);
  if (!strcmp(sign, "<"))
    return hint_most(t, text_of(t, a), x, y - 1);
  if (!strcmp(sign, ">=") && x < y)
    return hint_multiple(t, text_of(t, a), x, y);
  return NULL;
}

static const char *
mirrored(const char *sign) {
  static const char *const signs[][2] = {
      {"=", "="}, {"<=", ">="}, {"<", ">"}, {">=", "<="}, {">", "<"}};
  for (size_t k = 0; k < sizeof signs / sizeof signs[0]; k++)
    if (!strcmp(signs[k][0], sign))
      return signs[k][1];
  return "";
}

/* Only sizes can be changed. */
static bool
asks_rank(const gs_expr *e) {
  const char *name =
      e->kind == GS_X_CALL ? gs_function_name(e->function) : "size";
  bool found = strstr(name, "rank") || !strcmp(name, "len");
  for (uint32_t k = 0; k < e->n_args && !found; k++)
    found = asks_rank(e->args[k]);
  return found;
}

static const char *
hint_for(teller *t, const gs_expr *e) {
  int64_t n, x;
  if (asks_rank(e))
    return NULL;
  if (is_called(e, "divides") && whole(t, e->args[0], &n) &&
      whole(t, e->args[1], &x))
    return hint_multiple(t, text_of(t, e->args[1]), x, n);
  int k = infix_of(e);
  if (k < 0 || e->n_args != 2)
    return NULL;
  const gs_expr *a = e->args[0], *b = e->args[1];
  const char *sign = infix[k].name, *hint = NULL;
  if (!strcmp(sign, "="))
    hint = hint_modulo(t, a, b);
  if (!hint && !strcmp(sign, "="))
    hint = hint_modulo(t, b, a);
  if (!hint && *sign == '<' && infix_of(a) >= 0)
    hint = rl_hint_sizes(t->ctx, t->scope, t->env, e);
  if (!hint)
    hint = hint_compare(t, sign, a, b);
  return hint ? hint : hint_compare(t, mirrored(sign), b, a);
}

/* ---- memories ---- */

/* The condition in the words of the rule derived from the instruction. */
static const char *
text_of_room(const teller *t, const gs_instr *instr, const gs_expr *e) {
  gs_scope scope = instr->scope;
  teller own = {.ctx = t->ctx, .scope = &scope};
  scope.question_marks = true;
  return text_of(&own, e);
}

/* What the call needs of a memory, where that is what is asked. */
static const char *
room_text(teller *t, const gs_instr *instr, const gs_expr *e,
          const char *wanted) {
  int64_t bytes;
  for (uint32_t k = 0; instr && k < instr->n_rooms; k++) {
    const gs_room *r = &instr->rooms[k];
    if (strcmp(text_of_room(t, instr, r->fits), wanted) != 0 ||
        !whole(t, e->args[0], &bytes))
      continue;
    return bs_arena_printf(
        t->ctx->arena, "%lld bytes of %s'%s'%s%s, which has %lld",
        (long long)bytes, r->what ? "a bank of " : "", r->memory,
        r->what ? " for " : "", r->what ? r->what : "", (long long)r->most);
  }
  return NULL;
}

bool
rl_tell_need(const gs_context *ctx, const gs_scope *scope,
             const gs_instr *instr, const gs_env *env, const rl_step *s,
             rl_need *out) {
  teller t = {.ctx = ctx, .scope = scope, .env = env};
  bs_text have;
  if (!s->expr)
    return false;
  *out = (rl_need){.span = s->expr->span, .wanted = text_of(&t, s->expr)};
  const char *room = room_text(&t, instr, s->expr, out->wanted);
  out->wanted = room ? room : out->wanted;
  if (s->kind != RL_TEST)
    out->wanted = bs_arena_printf(ctx->arena, "%s to be defined", out->wanted);
  bs_text_init(&have, ctx->heap);
  tell_values(&t, &have, s->expr);
  out->have = taken(&t, &have);
  if (s->kind == RL_TEST)
    out->hint = hint_for(&t, s->expr);
  return true;
}
