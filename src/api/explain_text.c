/* SPDX-License-Identifier: MIT */
/* explain_text.c - chains written out.
 *
 * A step shows the two sides of its rule with numbers and names filled in; what
 * a variable stands for is written once below them, and terms that the program
 * names are called so.  JSON has every term in full. */
#include "api/api_explain.h"
#include "glenside/text/text_print.h"
#include <assert.h>

#include <string.h>

enum { LONG_TEXT = 300, SHORT_TEXT = 64, SHOWN_HEADS = 4, FRONTIER = 3 };

typedef struct writer {
  const api_explained *e;
  bs_heap *heap;
  const gs_program *p;
  bs_text *out;
  const char **names; /* by term: what the program or a rule calls it */
  const char **given; /* by term: as `names`, of the program alone */
  char **made;        /* by term, while one is written */
  uint8_t *wanted;
  uint8_t *bound; /* by term: a variable of the rule stands for it */
  bool sides;     /* what is written shows the pattern of a rule */
} writer;

/* ---- terms ---- */

static bool
is_leaf(const gs_program *p, gs_term t) {
  return !gs_at(p, t)->n_kids;
}

/* Inside the sides of a rule only what its variables stand for is named, so
 * that one sees what the pattern looked at. */
static const char *
name_of(const writer *w, uint32_t t) {
  if (w->sides && !w->bound[t] && w->p->nodes.data[t].n_kids)
    return NULL;
  return w->names[t];
}

/* Marks what is written out below a term. */
static void
mark(writer *w, gs_term root, uint32_t *first) {
  memset(w->wanted, 0, w->p->nodes.len);
  w->wanted[root.i] = 1;
  *first = root.i;
  for (uint32_t k = root.i + 1; k-- > 0;) {
    const gs_node *n = &w->p->nodes.data[k];
    if (!w->wanted[k])
      continue;
    *first = k;
    for (uint32_t j = 0; j < n->n_kids && (k == root.i || !name_of(w, k)); j++)
      w->wanted[n->kids[j].i] = 1;
  }
}

static void
make_one(writer *w, gs_term t, bool root) {
  const gs_node *n = gs_at(w->p, t);
  const char **kids = bs_alloc(w->heap, (n->n_kids + (size_t)1) * sizeof *kids);
  bs_text text;
  bs_text_init(&text, w->heap);
  for (uint32_t j = 0; j < n->n_kids; j++)
    kids[j] = w->made[n->kids[j].i];
  if (!root && name_of(w, t.i))
    bs_put(&text, name_of(w, t.i));
  else
    gs_print_node(&w->p->ctx, n->op, n->attr, kids, n->n_kids, &text);
  if (text.len > LONG_TEXT && !root) {
    bs_text_clear(&text);
    bs_putf(&text, "(%s ...)", print_head(w->p->ctx.values, n->op, n->attr));
  }
  w->made[t.i] = bs_alloc(w->heap, text.len + 1);
  memcpy(w->made[t.i], bs_text_str(&text), text.len + 1);
  bs_text_done(&text);
  bs_free(w->heap, kids);
}

/* One line, with names for what has one. */
static void
put_term(writer *w, gs_term t, size_t limit) {
  uint32_t first;
  mark(w, t, &first);
  for (uint32_t k = first; k <= t.i; k++)
    if (w->wanted[k])
      make_one(w, (gs_term){k}, k == t.i);
  size_t len = strlen(w->made[t.i]);
  bs_putn(w->out, w->made[t.i], len < limit ? len : limit);
  if (len > limit)
    bs_put(w->out, " ...");
  for (uint32_t k = first; k <= t.i; k++)
    if (w->wanted[k])
      bs_free(w->heap, w->made[k]);
}

static void
put_type(writer *w, gs_term t) {
  gs_type type;
  gs_type_at(w->p, t, &type);
  gs_put_type(w->out, &type);
}

/* What the first program calls its terms. */
static void
name_terms(writer *w) {
  const gs_program *a = w->e->a;
  gs_program *p = w->e->x->program;
  gs_term *map = bs_alloc(w->heap, (a->nodes.len + (size_t)1) * sizeof *map);
  for (uint32_t k = 0; k < a->nodes.len; k++) {
    const gs_node *n = &a->nodes.data[k];
    map[k] = n->op == GS_CONST ? GS_NO_TERM : gs_add_like(p, n, map);
  }
  w->p = p;
  size_t n = p->nodes.len + (size_t)1;
  w->names = bs_calloc(w->heap, n, sizeof *w->names);
  w->given = bs_calloc(w->heap, n, sizeof *w->given);
  w->made = bs_calloc(w->heap, n, sizeof *w->made);
  w->wanted = bs_calloc(w->heap, n, 1);
  w->bound = bs_calloc(w->heap, n, 1);
  for (uint32_t k = 0; k < a->lets.len; k++) {
    gs_term t = map[a->lets.data[k].term.i];
    if (gs_term_ok(t))
      w->names[t.i] = w->given[t.i] = a->lets.data[k].name;
  }
  for (uint32_t k = 0; k < p->inputs.len; k++) {
    gs_term t = p->inputs.data[k].term;
    w->names[t.i] = w->given[t.i] = p->inputs.data[k].name;
  }
  bs_free(w->heap, map);
}

/* ---- steps ---- */

static const char *
variable(writer *w, const rl_link *l, uint32_t slot) {
  assert(slot < l->rule->scope.vars.len);
  const char *name = l->rule->scope.vars.data[slot].name;
  return bs_arena_printf(w->e->ctx->gs.arena, "?%s", name);
}

/* No author can write the name of such a variable. */
static bool
is_hidden(const rl_link *l, uint32_t slot) {
  return slot >= l->rule->scope.vars.len ||
         l->rule->scope.vars.data[slot].name[0] == '(' ||
         l->rule->scope.vars.data[slot].name[0] == '_' ||
         l->slots[slot] == UINT32_MAX;
}

/* A variable stands for itself in the sides, unless it is a name anyway. */
static void
name_slots(writer *w, const rl_link *l, bool set) {
  for (uint32_t s = 0; l->rule && s < l->n_slots; s++) {
    if (is_hidden(l, s) || !l->is_term[s])
      continue;
    gs_term t = {l->slots[s]};
    w->bound[t.i] = set;
    if (!is_leaf(w->p, t) && !w->given[t.i])
      w->names[t.i] = set ? variable(w, l, s) : NULL;
  }
}

static void
put_slots(writer *w, const rl_link *l) {
  for (uint32_t s = 0; l->rule && s < l->n_slots; s++) {
    if (is_hidden(l, s))
      continue;
    bs_putf(w->out, "       %s = ", variable(w, l, s));
    if (l->is_term[s]) {
      gs_term t = {l->slots[s]};
      if (w->given[t.i])
        bs_put(w->out, w->given[t.i]);
      else
        put_term(w, t, SHORT_TEXT);
    } else {
      bs_put_value(w->out, w->p->ctx.values, (bs_value){l->slots[s]});
    }
    bs_putc(w->out, '\n');
  }
}

static void
put_where(writer *w, const rl_link *l, const char *output) {
  gs_term at = l->whole;
  if (!l->n_path) {
    bs_putf(w->out, "     at the whole of %s\n", output);
    return;
  }
  bs_putf(w->out, "     in %s%s", output,
          l->n_path > SHOWN_HEADS ? ", ..." : "");
  for (uint32_t k = 0; k < l->n_path; k++) {
    const gs_node *n = gs_at(w->p, at);
    if (k + SHOWN_HEADS >= l->n_path) {
      const bs_values *values = w->p->ctx.values;
      bs_putf(w->out, ", %s", print_head(values, n->op, n->attr));
      if (n->op == GS_COMPUTE)
        bs_putf(w->out, " %s", bs_as_sym(values, bs_item(values, n->attr, 0)));
      if (n->n_kids > 1)
        bs_putf(w->out, " operand %u", l->path[k] + 1);
    }
    at = n->kids[l->path[k]];
  }
  bs_putc(w->out, '\n');
}

static size_t
width(const char *s) {
  size_t n = 0;
  for (; *s; s++)
    n += ((unsigned char)*s & 0xc0) != 0x80;
  return n;
}

/* The two sides one above the other, the types in one column. */
static void
put_sides(writer *w, const rl_link *l) {
  bs_text side[2], *out = w->out;
  gs_term term[2] = {l->before, l->after};
  size_t wide = 0;
  for (int k = 0; k < 2; k++) {
    bs_text_init(&side[k], w->heap);
    w->out = &side[k];
    uint32_t t = term[k].i;
    if (w->names[t] && !w->given[t])
      bs_put(&side[k], w->names[t]);
    else
      put_term(w, term[k], LONG_TEXT);
    size_t n = width(bs_text_str(&side[k]));
    wide = n > wide ? n : wide;
  }
  w->out = out;
  for (int k = 0; k < 2; k++) {
    bs_putf(out, "     %c %s%*s  ", k ? '+' : '-', bs_text_str(&side[k]),
            (int)(wide - width(bs_text_str(&side[k]))), "");
    put_type(w, term[k]);
    bs_putc(out, '\n');
    bs_text_done(&side[k]);
  }
}

/* The reverse of a rule that goes both ways is that rule, backwards. */
static const char *
rule_name(writer *w, const rl_link *l, bool *forward) {
  static const char reverse[] = "~rev";
  const char *name = l->rule ? l->rule->name : "(given)";
  size_t n = strlen(name), tail = sizeof reverse - 1;
  *forward = l->forward;
  if (n <= tail || strcmp(name + n - tail, reverse))
    return name;
  *forward = !l->forward;
  return bs_arena_printf(w->e->ctx->gs.arena, "%.*s", (int)(n - tail), name);
}

static void
put_link(writer *w, const rl_link *l, uint32_t number, const char *output) {
  bool forward;
  bs_putf(w->out, "%4u %s", number, rule_name(w, l, &forward));
  if (l->rule && l->rule->span.file) {
    bs_put(w->out, " (");
    bs_put_place(&w->e->ctx->diags, l->rule->span, w->out);
    bs_putc(w->out, ')');
  }
  bs_put(w->out, forward ? ", left to right\n" : ", right to left\n");
  put_where(w, l, output);
  name_slots(w, l, true);
  w->sides = true;
  put_sides(w, l);
  w->sides = false;
  name_slots(w, l, false);
  put_slots(w, l);
  for (uint32_t k = 0; k < l->n_lemmas; k++)
    bs_putf(w->out, "       needs lemma %u\n", l->first_lemma + k + 1);
}

/* Which rules make up what is not shown, in order of first use. */
static void
put_rest(writer *w, const rl_chain *c, uint32_t from) {
  bs_putf(w->out, "     ... and %u more %s:\n",
          BS_COUNTED(c->n - from, "step"));
  for (uint32_t k = from; k < c->n; k++) {
    uint32_t times = 0, first = from;
    while (c->links[first].rule != c->links[k].rule)
      first++;
    for (uint32_t i = k; first == k && i < c->n; i++)
      times += c->links[i].rule == c->links[k].rule;
    if (times && c->links[k].rule)
      bs_putf(w->out, "%8u %s\n", times, c->links[k].rule->name);
  }
}

static void
put_chain(writer *w, const rl_chain *c, const char *name) {
  uint32_t n = c->n < w->e->shown ? c->n : w->e->shown;
  for (uint32_t k = 0; k < n; k++)
    put_link(w, &c->links[k], k + 1, name);
  if (n < c->n)
    put_rest(w, c, n);
}

static void
put_lemma(writer *w, uint32_t k) {
  const rl_chain *c = &w->e->x->lemmas[k];
  const char *name = bs_arena_printf(w->e->ctx->gs.arena, "lemma %u", k + 1);
  bs_putf(w->out, "%s: ", name);
  put_term(w, c->from, LONG_TEXT);
  bs_put(w->out, " = ");
  put_term(w, c->to, LONG_TEXT);
  bs_putf(w->out, c->found ? ", %u %s\n" : ", for which no chain was found\n",
          BS_COUNTED(c->n, "step"));
  put_chain(w, c, name);
}

/* ---- how far it came ---- */

static const char *
why_not(const rl_explanation *x) {
  return x->why == EG_TOO_LONG
             ? "they are equal, but no chain within the limit "
               "of steps was found"
             : "the rules did not make them equal";
}

/* What kept an instruction that the second program calls. */
static void
put_misses(writer *w, gs_term t) {
  const gs_node *n = gs_at(w->e->b, t);
  const rl_rule *rule;
  rl_nearness near;
  if (n->op != GS_CALL)
    return;
  const char *name = print_head(w->p->ctx.values, n->op, n->attr);
  if (!rl_rules_for(w->e->rules, name, &rule, 1))
    return;
  rl_nearest(&w->e->ctx->gs, w->e->run, rule, 1, &near);
  for (uint32_t k = 0; k < near.n; k++)
    api_put_near(w->e->ctx, &near.list[k], w->out);
}

static void
put_failure(writer *w, const char *output) {
  const api_explained *e = w->e;
  gs_term frontier[FRONTIER];
  uint32_t n, total = e->b->nodes.len;
  bs_putf(w->out, "%s: %s\n", output, why_not(e->x));
  if (e->x->why == EG_TOO_LONG)
    return;
  uint32_t reached = api_reached(e->run, e->a, e->b, frontier, FRONTIER, &n);
  bs_putf(w->out, "  %u of %u %s of the second program were reached\n", reached,
          BS_COUNTED(total, "term"));
  for (uint32_t k = 0; k < n; k++) {
    bs_put(w->out, "  not reached, though its operands were: ");
    gs_print_term(e->b, frontier[k], w->out);
    bs_putc(w->out, '\n');
    put_misses(w, frontier[k]);
  }
}

static void
put_run(writer *w) {
  const eg_graph *g = w->e->run->graph;
  uint32_t iterations;
  eg_stop stop = w->e->run->stop;
  eg_runner_iterations(w->e->run->runner, &iterations);
  bs_putf(w->out, "run: %s, %u %s, %u %s, %u %s\n",
          stop == EG_STOP_CLIENT ? "stopped when they met"
          : w->e->run->finished  ? "strategy ended"
                                 : eg_stop_name(stop),
          BS_COUNTED(iterations, "iteration"),
          BS_COUNTED(eg_count_nodes(g), "e-node"),
          BS_COUNTED_AS(eg_count_classes(g), "e-class", "e-classes"));
}

static void
done(writer *w) {
  bs_free(w->heap, w->names);
  bs_free(w->heap, w->given);
  bs_free(w->heap, w->made);
  bs_free(w->heap, w->wanted);
  bs_free(w->heap, w->bound);
}

void
api_put_explained(const api_explained *e, bs_text *out) {
  writer w = {.e = e, .heap = &e->ctx->heap, .out = out};
  name_terms(&w);
  for (uint32_t k = 0; k < e->x->n_chains; k++) {
    const char *name = e->a->outputs.data[k].name;
    const rl_chain *c = &e->x->chains[k];
    if (!c->found) {
      put_failure(&w, name);
      continue;
    }
    bs_putf(out, "%s: equal, %u %s\n", name, BS_COUNTED(c->n, "step"));
    put_chain(&w, c, name);
  }
  for (uint32_t k = 0; e->equal && k < e->x->n_lemmas; k++)
    put_lemma(&w, k);
  if (e->equal)
    bs_putf(out, "check: %s\n",
            e->wrong ? e->wrong : "every step replayed by its rule");
  put_run(&w);
  done(&w);
}

/* ---- JSON ---- */

static void
json_term(writer *w, bs_json *j, const char *key, gs_term t) {
  bs_text text;
  bs_text_init(&text, w->heap);
  gs_print_term(w->p, t, &text);
  bs_json_string(j, key, bs_text_str(&text));
  bs_text_done(&text);
}

static void
json_slots(writer *w, bs_json *j, const rl_link *l) {
  bs_json_object(j, "bindings");
  for (uint32_t s = 0; l->rule && s < l->n_slots; s++) {
    if (is_hidden(l, s))
      continue;
    if (l->is_term[s]) {
      json_term(w, j, variable(w, l, s), (gs_term){l->slots[s]});
      continue;
    }
    bs_text text;
    bs_text_init(&text, w->heap);
    bs_put_value(&text, w->p->ctx.values, (bs_value){l->slots[s]});
    bs_json_string(j, variable(w, l, s), bs_text_str(&text));
    bs_text_done(&text);
  }
  bs_json_end(j);
}

static void
json_place(writer *w, bs_json *j, const rl_link *l) {
  const bs_diags *d = &w->e->ctx->diags;
  uint32_t line, column;
  if (!l->rule || !l->rule->span.file) {
    bs_json_null(j, "file");
    return;
  }
  bs_position(d, l->rule->span, &line, &column);
  bs_json_string(j, "file", d->sources.data[l->rule->span.file - 1].path);
  bs_json_int(j, "line", line);
}

static void
json_link(writer *w, bs_json *j, const rl_link *l) {
  bs_text *out = w->out, type;
  bs_json_object(j, NULL);
  bool forward;
  bs_json_string(j, "rule", rule_name(w, l, &forward));
  json_place(w, j, l);
  bs_json_string(j, "direction", forward ? "left-to-right" : "right-to-left");
  bs_json_array(j, "path");
  for (uint32_t k = 0; k < l->n_path; k++)
    bs_json_int(j, NULL, l->path[k]);
  bs_json_end(j);
  json_term(w, j, "before", l->before);
  json_term(w, j, "after", l->after);
  bs_text_init(&type, w->heap);
  w->out = &type;
  put_type(w, l->before);
  w->out = out;
  bs_json_string(j, "type", bs_text_str(&type));
  bs_text_done(&type);
  json_slots(w, j, l);
  bs_json_array(j, "lemmas");
  for (uint32_t k = 0; k < l->n_lemmas; k++)
    bs_json_int(j, NULL, l->first_lemma + k + 1);
  bs_json_end(j);
  if (!w->e->json_steps)
    json_term(w, j, "term", l->next);
  bs_json_end(j);
}

static void
json_chain(writer *w, bs_json *j, const rl_chain *c, const char *name) {
  bs_json_object(j, NULL);
  if (name)
    bs_json_string(j, "output", name);
  bs_json_bool(j, "equal", c->found);
  if (c->found) {
    json_term(w, j, "from", c->from);
    json_term(w, j, "to", c->to);
  }
  uint32_t most = w->e->json_steps ? w->e->json_steps : UINT32_MAX;
  bs_json_array(j, "steps");
  for (uint32_t k = 0; k < c->n && k < most; k++)
    json_link(w, j, &c->links[k]);
  bs_json_end(j);
  if (c->n > most)
    bs_json_int(j, "left_out", c->n - most);
  bs_json_end(j);
}

static void
json_failure(const api_explained *e, writer *w, bs_json *j) {
  gs_term frontier[FRONTIER];
  uint32_t n;
  bs_json_string(j, "reason", why_not(e->x));
  uint32_t reached = api_reached(e->run, e->a, e->b, frontier, FRONTIER, &n);
  bs_json_int(j, "reached", reached);
  bs_json_int(j, "terms", e->b->nodes.len);
  bs_json_array(j, "not_reached");
  w->p = e->b;
  for (uint32_t k = 0; k < n; k++)
    json_term(w, j, NULL, frontier[k]);
  w->p = e->x->program;
  bs_json_end(j);
}

void
api_json_explained(const api_explained *e, bs_text *out) {
  writer w = {.e = e, .heap = &e->ctx->heap, .out = out};
  bs_json j;
  uint32_t iterations, limit = e->json_steps ? e->json_steps : UINT32_MAX;
  name_terms(&w);
  eg_runner_iterations(e->run->runner, &iterations);
  bs_json_init(&j, out, 2);
  bs_json_object(&j, NULL);
  bs_json_int(&j, "schema", 1);
  bs_json_string(&j, "answer", e->equal ? "explained" : "not explained");
  bs_json_array(&j, "outputs");
  for (uint32_t k = 0; k < e->x->n_chains; k++)
    json_chain(&w, &j, &e->x->chains[k], e->a->outputs.data[k].name);
  bs_json_end(&j);
  bs_json_array(&j, "lemmas");
  for (uint32_t k = 0; k < e->x->n_lemmas && k < limit; k++)
    json_chain(&w, &j, &e->x->lemmas[k], NULL);
  bs_json_end(&j);
  if (e->equal)
    bs_json_bool(&j, "checked", !e->wrong);
  else
    json_failure(e, &w, &j);
  bs_json_object(&j, "run");
  bs_json_string(&j, "stop", eg_stop_name(e->run->stop));
  bs_json_int(&j, "iterations", iterations);
  bs_json_int(&j, "nodes", eg_count_nodes(e->run->graph));
  bs_json_int(&j, "classes", eg_count_classes(e->run->graph));
  bs_json_end(&j);
  bs_json_end(&j);
  bs_putc(out, '\n');
  done(&w);
}
