/* SPDX-License-Identifier: MIT */
/* test_form.c - (test NAME ...) read into options and clauses.
 *
 * Options are keywords with a value, clauses are lists; both come from tables
 * and may stand in any order.  Patterns and terms are parsed when the test
 * runs, since they name what stands in its program. */
#include "rules/rule/rule_internal.h"
#include <assert.h>
#include <string.h>

typedef struct reader {
  rl_rules *rules;
  const rl_file *file;
  rl_test test;
  BS_VEC(rl_clause) clauses;
} reader;

static const bs_sx *
at(const reader *r, uint32_t node) {
  return rl_sx(r->file, node);
}

static uint32_t
item(const reader *r, uint32_t list, uint32_t index) {
  return bs_sx_item(&r->file->sx, list, index);
}

static const char *
symbol(const reader *r, uint32_t node) {
  return node ? rl_symbol(r->rules, r->file, node) : NULL;
}

static bool
bad(const reader *r, uint32_t node, const char *usage) {
  bs_error(r->rules->ctx.diags, at(r, node)->span, "bad-test",
           "this is not a clause of a test");
  bs_hint(r->rules->ctx.diags, "write %s", usage);
  return false;
}

/* --- clauses -------------------------------------------------------------- */

/* :where, :matches and :in behind a pattern */
static bool
pattern_options(const reader *r, uint32_t x, rl_clause *c, const char *usage) {
  for (uint32_t value; x; x = at(r, value)->next) {
    const char *key = symbol(r, x);
    value = at(r, x)->next;
    if (!key || !value)
      return bad(r, x, usage);
    if (!strcmp(key, ":where"))
      c->where = value;
    else if (!strcmp(key, ":matches") &&
             rl_integer(r->rules, r->file, value, &c->matches) &&
             c->matches >= 0)
      continue;
    else if (!strcmp(key, ":in") && symbol(r, value))
      c->in = symbol(r, value);
    else
      return bad(r, x, usage);
  }
  return true;
}

static bool
read_pattern(const reader *r, uint32_t node, rl_clause *c, const char *usage) {
  c->term = item(r, node, 1);
  if (!c->term)
    return bad(r, node, usage);
  return pattern_options(r, at(r, c->term)->next, c, usage);
}

static bool
read_terms(const reader *r, uint32_t node, rl_clause *c, const char *usage) {
  c->term = item(r, node, 1);
  return at(r, node)->count >= 3 || bad(r, node, usage);
}

static const char *const stop_words[] = {
    [EG_STOP_SATURATED] = "saturated", [EG_STOP_ITERATIONS] = "iterations",
    [EG_STOP_NODES] = "nodes",         [EG_STOP_BYTES] = "bytes",
    [EG_STOP_TIME] = "time",
};
#define STOP_WORDS (sizeof stop_words / sizeof stop_words[0])

const char *
rl_stop_word(eg_stop stop) {
  return stop < STOP_WORDS ? stop_words[stop] : eg_stop_name(stop);
}

static bool
read_stops(const reader *r, uint32_t node, rl_clause *c, const char *usage) {
  c->word = symbol(r, item(r, node, 1));
  for (size_t k = 0; c->word && k < STOP_WORDS; k++)
    if (!strcmp(stop_words[k], c->word))
      return at(r, node)->count == 2 || bad(r, node, usage);
  return bad(r, node, usage);
}

static bool
read_cost(const reader *r, uint32_t node, rl_clause *c, const char *usage) {
  static const char *const words[] = {"<=", "<", ">=", ">", "="};
  uint32_t number = item(r, node, 2);
  bool known = false;
  c->word = symbol(r, item(r, node, 1));
  for (size_t k = 0; c->word && k < sizeof words / sizeof words[0]; k++)
    known |= !strcmp(words[k], c->word);
  if (!known || at(r, node)->count != 3 ||
      (at(r, number)->kind != BS_SX_INT && at(r, number)->kind != BS_SX_REAL))
    return bad(r, node, usage);
  c->number = bs_as_real(r->rules->ctx.values, at(r, number)->value);
  return true;
}

static bool
read_refused(const reader *r, uint32_t node, rl_clause *c, const char *usage) {
  uint32_t word = item(r, node, 1);
  c->word = word ? rl_string(r->rules, r->file, word) : NULL;
  return (c->word && at(r, node)->count == 2) || bad(r, node, usage);
}

static const struct {
  const char *name;
  rl_clause_kind kind;
  bool (*read)(const reader *, uint32_t, rl_clause *, const char *usage);
  const char *usage;
} clause_table[] = {
    {"finds", RL_FINDS, read_pattern,
     "(finds PATTERN [:where COND] [:matches N] [:in NAME])"},
    {"never", RL_NEVER, read_pattern,
     "(never PATTERN [:where COND] [:in NAME])"},
    {"equal", RL_EQUAL, read_terms, "(equal TERM TERM)"},
    {"distinct", RL_DISTINCT, read_terms, "(distinct TERM TERM)"},
    {"stops", RL_STOPS, read_stops,
     "(stops saturated), or iterations, nodes, bytes, time"},
    {"cost", RL_COST, read_cost, "(cost <= 1000)"},
    {"refused", RL_REFUSED, read_refused, "(refused \"unsound-rule\")"},
};
#define CLAUSES (sizeof clause_table / sizeof clause_table[0])

static bool
unknown_clause(const reader *r, uint32_t node, const char *head) {
  const char *names[CLAUSES + 1] = {"program"};
  for (size_t k = 0; k < CLAUSES; k++)
    names[k + 1] = clause_table[k].name;
  bs_error(r->rules->ctx.diags, at(r, node)->span, "unknown-clause",
           "a test has no clause '%s'", head ? head : "()");
  bs_hint_names(r->rules->ctx.diags, head ? head : "", names, CLAUSES + 1);
  return false;
}

static bool
read_clause(reader *r, uint32_t node) {
  const char *head = bs_sx_head(&r->file->sx, r->rules->ctx.values, node);
  if (head && !strcmp(head, "program")) {
    r->test.program = node;
    return true;
  }
  for (size_t k = 0; head && k < CLAUSES; k++) {
    if (strcmp(clause_table[k].name, head))
      continue;
    rl_clause c = {.kind = clause_table[k].kind,
                   .span = at(r, node)->span,
                   .node = node,
                   .matches = -1};
    bool ok = clause_table[k].read(r, node, &c, clause_table[k].usage);
    bs_push(r->rules->ctx.heap, &r->clauses, c);
    return ok;
  }
  return unknown_clause(r, node, head);
}

/* --- options -------------------------------------------------------------- */

static bool
option_rules(reader *r, uint32_t value) {
  r->test.rules = value;
  if (at(r, value)->kind != BS_SX_LIST)
    return bad(r, value, ":rules (NAME ...)");
  for (uint32_t x = bs_sx_first(&r->file->sx, value); x; x = at(r, x)->next)
    if (!symbol(r, x))
      return bad(r, x, ":rules (NAME ...)");
  return true;
}

/* ((name value) ...) */
static bool
check_pairs(const reader *r, uint32_t value, const char *usage) {
  if (at(r, value)->kind != BS_SX_LIST)
    return bad(r, value, usage);
  for (uint32_t x = bs_sx_first(&r->file->sx, value); x; x = at(r, x)->next)
    if (!bs_sx_head(&r->file->sx, r->rules->ctx.values, x) ||
        at(r, x)->count != 2)
      return bad(r, x, usage);
  return true;
}

static bool
option_limits(reader *r, uint32_t value) {
  static const char usage[] =
      ":limits ((iterations 30) (nodes 10000) (seconds 5))";
  static const char *const names[] = {"iterations", "nodes", "seconds",
                                      "bytes"};
  r->test.limits = value;
  if (!check_pairs(r, value, usage))
    return false;
  for (uint32_t x = bs_sx_first(&r->file->sx, value); x; x = at(r, x)->next) {
    const char *name = symbol(r, x + 1);
    bs_sx_kind kind = at(r, item(r, x, 1))->kind;
    bool known = kind == BS_SX_INT || kind == BS_SX_REAL, found = false;
    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++)
      found |= !strcmp(names[k], name);
    if (!known || !found)
      return bad(r, x, usage);
  }
  return true;
}

static bool
option_params(reader *r, uint32_t value) {
  r->test.params = value;
  return check_pairs(r, value, ":params ((NAME VALUE) ...)");
}

static bool
option_target(reader *r, uint32_t value) {
  r->test.target = rl_string(r->rules, r->file, value);
  return r->test.target || bad(r, value, ":target \"FILE\"");
}

static bool
option_strategy(reader *r, uint32_t value) {
  r->test.strategy = symbol(r, value);
  return r->test.strategy || bad(r, value, ":strategy NAME");
}

static const struct {
  const char *name;
  bool (*read)(reader *, uint32_t value);
} option_table[] = {
    {":rules", option_rules},       {":limits", option_limits},
    {":params", option_params},     {":target", option_target},
    {":strategy", option_strategy},
};
#define OPTIONS (sizeof option_table / sizeof option_table[0])

/* Takes the option at *node and moves on to its value. */
static bool
read_option(reader *r, uint32_t *node) {
  const char *names[OPTIONS], *name = symbol(r, *node);
  uint32_t value = at(r, *node)->next;
  bool known = false;
  for (size_t k = 0; k < OPTIONS; k++) {
    names[k] = option_table[k].name;
    if (!name || strcmp(name, option_table[k].name))
      continue;
    known = true;
    if (!value)
      continue;
    *node = value;
    return option_table[k].read(r, value);
  }
  bs_error(r->rules->ctx.diags, at(r, *node)->span, "bad-test",
           "an option of a test with its value, or a clause, is expected");
  if (name && !known)
    rl_suggest(r->rules, name, names, OPTIONS);
  if (name && name[0] == ':' && value)
    *node = value;
  return false;
}

/* --- tests ---------------------------------------------------------------- */

static bool
check_name(const reader *r, uint32_t node) {
  const gs_context *ctx = &r->rules->ctx;
  const char *name = symbol(r, item(r, node, 1));
  if (!name || name[0] == ':' || name[0] == '?')
    return bs_error(ctx->diags, at(r, node)->span, "bad-form",
                    "the name of a test is expected after 'test'");
  for (uint32_t k = 0; k < r->rules->tests.len; k++) {
    const rl_test *t = &r->rules->tests.data[k];
    if (strcmp(t->name, name))
      continue;
    bs_error(ctx->diags, at(r, item(r, node, 1))->span, "duplicate-name",
             "there is a test named '%s' already", name);
    bs_note(ctx->diags, t->span, "the first one is here");
    return false;
  }
  return true;
}

static bool
check_whole(const reader *r, uint32_t node) {
  const gs_context *ctx = &r->rules->ctx;
  bool ok = true;
  if (!r->test.program) {
    ok = bs_error(ctx->diags, at(r, node)->span, "bad-test",
                  "the test has no program");
    bs_hint(ctx->diags, "(program (tensor ..) (let ..) (output ..))");
  }
  if (!r->clauses.len)
    ok = bs_error(ctx->diags, at(r, node)->span, "bad-test",
                  "the test asserts nothing");
  return ok;
}

bool
rl_read_test(rl_rules *rules, uint32_t file, uint32_t node) {
  assert(file < rules->forms.files.len &&
         node < rules->forms.files.data[file].sx.nodes.len);
  reader r = {.rules = rules, .file = &rules->forms.files.data[file]};
  bool ok = true;
  if (!check_name(&r, node))
    return false;
  uint32_t name = item(&r, node, 1);
  r.test.name = symbol(&r, name);
  r.test.span = at(&r, name)->span;
  r.test.file = file;
  r.test.node = node;
  for (uint32_t x = at(&r, name)->next; x; x = at(&r, x)->next)
    ok &= at(&r, x)->kind == BS_SX_LIST ? read_clause(&r, x)
                                        : read_option(&r, &x);
  ok = ok && check_whole(&r, node);
  r.test.n_clauses = r.clauses.len;
  r.test.clauses = bs_arena_copy(rules->ctx.arena, r.clauses.data,
                                 r.clauses.len * sizeof(rl_clause));
  bs_vec_done(rules->ctx.heap, &r.clauses);
  if (ok)
    bs_push(rules->ctx.heap, &rules->tests, r.test);
  return ok;
}
