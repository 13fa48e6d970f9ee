/* SPDX-License-Identifier: MIT */
/* api_map.c - which part of a program went to which instruction, and what kept
 * the instructions that were not used.
 *
 * A term of the extracted program belongs to the nearest term above it, or to
 * itself, whose class one of the input's terms is in: so the input's terms
 * share out what was made of them. */
#include "api/api_explain.h"
#include "api/mapping.h"
#include "extract/stranded.h"
#include "glenside/call/over.h"
#include "glenside/text/text_print.h"
#include "rules/explain/near.h"

#include <string.h>

enum { MOST_RULES = 16, MOST_MISSES = 3, MOST_LINES = 200, MOST_DEPTH = 20 };

/* ---- who belongs to whom ---- */

static void
find_classes(api_mapping *m) {
  const rl_run *run = &m->result->run;
  const eg_graph *g = run->graph;
  bs_heap *heap = &m->ctx->heap;
  for (eg_class c = eg_first_class(g); c.i != UINT32_MAX;
       c = eg_next_class(g, c))
    m->n_classes = c.i + 1;
  m->of_class =
      bs_alloc(heap, (m->n_classes + (size_t)1) * sizeof *m->of_class);
  for (uint32_t c = 0; c <= m->n_classes; c++)
    m->of_class[c] = GS_NO_TERM;
  m->from_class =
      bs_alloc(heap, (m->from->nodes.len + (size_t)1) * sizeof *m->from_class);
  m->to_class =
      bs_alloc(heap, (m->to->nodes.len + (size_t)1) * sizeof *m->to_class);
  rl_classes_of(run, m->from, m->from_class);
  rl_classes_of(run, m->to, m->to_class);
  for (uint32_t k = 0; k < m->from->nodes.len; k++)
    if (m->from_class[k].i < m->n_classes)
      m->of_class[m->from_class[k].i] = (gs_term){k};
  m->present = bs_calloc(heap, m->from->nodes.len + (size_t)1, 1);
  for (uint32_t k = 0; k < m->to->nodes.len; k++)
    if (m->to_class[k].i < m->n_classes &&
        gs_term_ok(m->of_class[m->to_class[k].i]))
      m->present[m->of_class[m->to_class[k].i].i] = 1;
}

/* Parents stand behind their children, so from the end each term knows its
 * owner before its children ask. */
static void
find_owners(api_mapping *m) {
  uint32_t n = m->to->nodes.len;
  m->owner = bs_alloc(&m->ctx->heap, (n + (size_t)1) * sizeof *m->owner);
  memset(m->owner, 0xff, (n + (size_t)1) * sizeof *m->owner);
  for (uint32_t k = n; k-- > 0;) {
    const gs_node *node = &m->to->nodes.data[k];
    eg_class c = m->to_class[k];
    if (c.i < m->n_classes && gs_term_ok(m->of_class[c.i]))
      m->owner[k] = m->of_class[c.i].i;
    for (uint32_t j = 0; j < node->n_kids; j++)
      if (m->owner[node->kids[j].i] == UINT32_MAX)
        m->owner[node->kids[j].i] = m->owner[k];
  }
}

/* "systolicArray 16 16", "compute relu"; NULL for views and arrays. */
static const char *
work_head(api_mapping *m, const gs_node *n) {
  const bs_values *values = m->ctx->gs.values;
  bs_text text;
  if (n->op != GS_CALL && n->op != GS_COMPUTE && n->op != GS_MATERIALIZE &&
      n->op != GS_SCAN)
    return NULL;
  bs_text_init(&text, &m->ctx->heap);
  bs_put(&text, print_head(values, n->op, n->attr));
  if (n->op != GS_MATERIALIZE && n->op != GS_SCAN)
    print_attrs(values, NULL, n->op, n->attr, &text);
  return api_string(m->ctx, &text);
}

static void
note_share(api_mapping *m, uint32_t owner, const char *head, bool call) {
  for (uint32_t k = 0; k < m->shares.len; k++) {
    api_share *s = &m->shares.data[k];
    if (s->owner == owner && !strcmp(s->head, head)) {
      s->times++;
      return;
    }
  }
  bs_push(&m->ctx->heap, &m->shares, (api_share){owner, head, 1, call});
}

static void
share_out(api_mapping *m) {
  uint8_t *live = bs_calloc(&m->ctx->heap, m->to->nodes.len + (size_t)1, 1);
  gs_mark_live(m->to, live);
  for (uint32_t k = 0; k < m->to->nodes.len; k++) {
    const gs_node *n = &m->to->nodes.data[k];
    const char *head = live[k] ? work_head(m, n) : NULL;
    if (head)
      note_share(m, m->owner[k], head, n->op == GS_CALL);
  }
  bs_free(&m->ctx->heap, live);
}

void
api_mapping_find(api_mapping *m) {
  find_classes(m);
  find_owners(m);
  share_out(m);
}

void
api_mapping_done(api_mapping *m) {
  bs_heap *heap = &m->ctx->heap;
  bs_free(heap, m->from_class);
  bs_free(heap, m->to_class);
  bs_free(heap, m->of_class);
  bs_free(heap, m->owner);
  bs_free(heap, m->present);
  bs_vec_done(heap, &m->shares);
}

/* ---- the picture ---- */

typedef struct line {
  uint32_t term, depth;
} line;

void
api_mapping_put_head(const api_mapping *m, gs_term t, bs_text *out) {
  const bs_values *values = m->ctx->gs.values;
  const gs_node *n = gs_at(m->from, t);
  if (n->op == GS_TENSOR || n->op == GS_CONST) {
    bs_put_value(out, values, bs_item(values, n->attr, 0));
    return;
  }
  bs_put(out, print_head(values, n->op, n->attr));
  if (n->op != GS_SCAN) /* a step is long */
    print_attrs(values, NULL, n->op, n->attr, out);
}

/* What was made of a term. */
static void
put_share(api_mapping *m, gs_term t, bs_text *out) {
  bool any = false;
  for (int calls = 1; calls >= 0; calls--)
    for (uint32_t k = 0; k < m->shares.len; k++) {
      const api_share *s = &m->shares.data[k];
      if (s->owner != t.i || s->call != calls)
        continue;
      bs_put(out, any ? ", " : "");
      if (s->times > 1)
        bs_putf(out, "%u x ", s->times);
      bs_put(out, s->head);
      any = true;
    }
  const gs_node *n = gs_at(m->from, t);
  if (!any && (n->op == GS_COMPUTE || n->op == GS_CALL))
    bs_put(out, m->present[t.i] ? "free" : "part of the line above");
}

/* The lines of the picture: a term where it is met first. */
static uint32_t
list_lines(api_mapping *m, line *lines) {
  bs_heap *heap = &m->ctx->heap;
  BS_VEC(line) todo = {0};
  uint8_t *seen = bs_calloc(heap, m->from->nodes.len + (size_t)1, 1);
  uint32_t n = 0;
  for (uint32_t k = m->from->outputs.len; k-- > 0;)
    bs_push(heap, &todo, (line){m->from->outputs.data[k].term.i, 0});
  while (todo.len && n < MOST_LINES) {
    line at = bs_pop(&todo);
    const gs_node *node = &m->from->nodes.data[at.term];
    if (seen[at.term])
      continue;
    seen[at.term] = 1;
    lines[n++] = at;
    uint32_t depth = at.depth < MOST_DEPTH ? at.depth + 1 : MOST_DEPTH;
    for (uint32_t j = node->n_kids; j-- > 0;)
      bs_push(heap, &todo, (line){node->kids[j].i, depth});
  }
  bs_vec_done(heap, &todo);
  bs_free(heap, seen);
  return n;
}

static void
put_picture(api_mapping *m, bs_text *out) {
  bs_heap *heap = &m->ctx->heap;
  line *lines = bs_alloc(heap, MOST_LINES * sizeof *lines);
  uint32_t n = list_lines(m, lines);
  bs_text *left = bs_calloc(heap, n + (size_t)1, sizeof *left);
  size_t wide = 0;
  for (uint32_t k = 0; k < n; k++) {
    gs_type type;
    gs_type_at(m->from, (gs_term){lines[k].term}, &type);
    bs_text_init(&left[k], heap);
    bs_putf(&left[k], "%*s", (int)(2 * lines[k].depth), "");
    api_mapping_put_head(m, (gs_term){lines[k].term}, &left[k]);
    bs_put(&left[k], "  ");
    gs_put_type(&left[k], &type);
    wide = left[k].len > wide ? left[k].len : wide;
  }
  for (uint32_t k = 0; k < n; k++) {
    bs_text made;
    bs_text_init(&made, heap);
    put_share(m, (gs_term){lines[k].term}, &made);
    bs_put(out, bs_text_str(&left[k]));
    if (made.len)
      bs_putf(out, "%*s  | %s", (int)(wide - left[k].len), "",
              bs_text_str(&made));
    bs_putc(out, '\n');
    bs_text_done(&made);
    bs_text_done(&left[k]);
  }
  if (n == MOST_LINES)
    bs_put(out, "...\n");
  bs_free(heap, left);
  bs_free(heap, lines);
}

/* ---- instructions ---- */

/* How often a call of the program runs the instruction. */
static double
calls_of(const api_mapping *m, const gs_node *n, const char *name) {
  const bs_values *values = m->ctx->gs.values;
  const char *called = bs_as_sym(values, bs_item(values, n->attr, 0));
  const gs_instr *instr =
      gs_find_instr(m->to->target ? m->to->target : m->result->target, called);
  gs_over over;
  gs_fault fault;
  if (!instr || !gs_over_read(values, instr, n->attr, &over, &fault))
    return !strcmp(called, name);
  double first = gs_over_sums(&over), all = gs_over_calls(&over);
  double begun = over.into ? first : all; /* by the instruction itself */
  double gone_on = over.into && !strcmp(over.into, name) ? all - first : 0;
  return gone_on + (strcmp(called, name) ? 0 : begun);
}

static double
count_calls(const api_mapping *m, const char *name) {
  double calls = 0;
  for (uint32_t k = 0; k < m->to->nodes.len; k++) {
    const gs_node *n = &m->to->nodes.data[k];
    if (n->op == GS_CALL)
      calls += calls_of(m, n, name);
  }
  return calls;
}

static void
json_near(api_mapping *m, const rl_near *near, bs_json *j) {
  bs_text place;
  bs_text_init(&place, &m->ctx->heap);
  bs_put_place(&m->ctx->diags, near->span, &place);
  bs_json_object(j, NULL);
  bs_json_string(j, "rule", near->rule->name);
  bs_json_bool(j, "applies", near->applies);
  bs_json_string(j, "at", near->text);
  bs_json_string(j, "place", bs_text_str(&place));
  bs_json_int(j, "matched", near->matched);
  bs_json_int(j, "of", near->total);
  if (near->expected) {
    bs_json_string(j, "expected", near->expected);
    bs_json_string(j, "found", near->found);
  }
  bs_json_array(j, "needs");
  for (uint32_t k = 0; k < near->n_needs; k++) {
    bs_json_object(j, NULL);
    bs_json_string(j, "wanted", near->needs[k].wanted);
    bs_json_string(j, "have", near->needs[k].have);
    if (near->needs[k].hint)
      bs_json_string(j, "hint", near->needs[k].hint);
    bs_json_end(j);
  }
  bs_json_end(j);
  bs_json_end(j);
  bs_text_done(&place);
}

/* Why an instruction, or a rule, was not used. */
static void
tell_rules(api_mapping *m, const char *name, bs_text *out, bs_json *j) {
  const rl_rule *rules[MOST_RULES];
  const rl_run *run = &m->result->run;
  uint32_t n = rl_rules_for(run->rules, name, rules, MOST_RULES);
  for (uint32_t k = 0; k < n; k++) {
    rl_nearness near;
    api_fate fate;
    rl_nearest(&m->ctx->gs, run, rules[k], MOST_MISSES, &near);
    api_fate_of(m->result, rules[k], &near, &fate);
    if (n > 1 || strcmp(rules[k]->name, name))
      bs_putf(out, "  rule %s\n", rules[k]->name);
    api_put_fate(m->result, &fate, out);
    for (uint32_t i = 0; i < near.n; i++) {
      if (near.list[i].applies || !near.applying)
        api_put_near(m->ctx, &near.list[i], out);
      json_near(m, &near.list[i], j);
    }
    m->fate = fate;
  }
  if (!n)
    bs_put(out, "  no rule leads to it\n");
}

/* Whether it fits, but what calls of it take or give has no way to go. */
static bool
tell_stranded(api_mapping *m, const char *name, bs_text *out) {
  const gs_target *t = m->result->target;
  const gs_instr *instr = t ? gs_find_instr(t, name) : NULL;
  const gs_operand *o =
      instr ? ex_stranded_operand(t, m->result->gs.values, m->result->run.graph,
                                  m->result->stranded, instr)
            : NULL;
  if (!o)
    return false;
  bool in = o != &instr->result;
  bs_putf(out,
          "  it fits, but no instruction moves '%s' %s %s as it is, nor does "
          "another call %s it there\n",
          o->name, in ? "to" : "from", gs_memory_name(t, o->memory),
          in ? "leave" : "take");
  m->fate.word = "stranded";
  return true;
}

static void
tell_instr(api_mapping *m, const char *name, bs_text *out, bs_json *j) {
  int64_t calls = (int64_t)count_calls(m, name);
  bs_json_object(j, NULL);
  bs_json_string(j, "name", name);
  bs_json_int(j, "calls", calls);
  bs_putf(out, "\n%s: ", name);
  if (calls)
    bs_putf(out, "used %lld %s\n", BS_COUNTED((long long)calls, "time"));
  else
    bs_put(out, "not used\n");
  bs_json_array(j, "nearest");
  m->fate = (api_fate){0};
  if (!calls && !tell_stranded(m, name, out))
    tell_rules(m, name, out, j);
  bs_json_end(j);
  if (m->fate.word)
    bs_json_string(j, "fate", m->fate.word);
  bs_json_end(j);
  m->out->unused += !calls;
}

static void
json_shares(api_mapping *m, bs_json *j) {
  bs_json_array(j, "parts");
  for (uint32_t k = 0; k < m->shares.len; k++) {
    const api_share *s = &m->shares.data[k];
    bs_text text;
    bs_text_init(&text, &m->ctx->heap);
    if (s->owner != UINT32_MAX)
      api_mapping_put_head(m, (gs_term){s->owner}, &text);
    bs_json_object(j, NULL);
    bs_json_string(j, "of", bs_text_str(&text));
    bs_json_string(j, "work", s->head);
    bs_json_bool(j, "call", s->call);
    bs_json_int(j, "times", s->times);
    bs_json_end(j);
    bs_text_done(&text);
  }
  bs_json_end(j);
}

/* What is asked about is a rule, not an instruction. */
static void
tell_rule(api_mapping *m, const char *name, bs_text *out, bs_json *j) {
  bs_json_object(j, NULL);
  bs_json_string(j, "name", name);
  bs_json_array(j, "nearest");
  m->fate = (api_fate){0};
  bs_putf(out, "\n%s:\n", name);
  tell_rules(m, name, out, j);
  bs_json_end(j);
  bs_json_string(j, "fate", m->fate.word ? m->fate.word : "");
  bs_json_end(j);
  m->out->unused += !m->fate.chosen;
}

static bool
knows(const api_mapping *m, const char *name) {
  const rl_rule *rule;
  return gs_find_instr(m->result->target, name) ||
         rl_rules_for(m->result->run.rules, name, &rule, 1);
}

static void
tell_all(api_mapping *m) {
  const gs_target *t = m->result->target;
  bs_text text, json;
  bs_json j;
  bs_text_init(&text, &m->ctx->heap);
  bs_text_init(&json, &m->ctx->heap);
  bs_json_init(&j, &json, 2);
  bs_json_object(&j, NULL);
  bs_json_int(&j, "schema", 1);
  if (!m->instr)
    put_picture(m, &text);
  json_shares(m, &j);
  bs_json_array(&j, "instructions");
  if (m->instr)
    (gs_find_instr(t, m->instr) ? tell_instr : tell_rule)(m, m->instr, &text,
                                                          &j);
  for (uint32_t k = 0; !m->instr && k < t->instrs.len; k++)
    if (!t->instrs.data[k]->moves)
      tell_instr(m, t->instrs.data[k]->name, &text, &j);
  bs_json_end(&j);
  bs_json_end(&j);
  bs_putc(&json, '\n');
  m->out->text = api_string(m->ctx, &text);
  m->out->text += m->instr && m->out->text[0] == '\n';
  m->out->json = api_string(m->ctx, &json);
}

bool
glen_map(glen_context *ctx, const glen_result *result, const char *instr,
         glen_mapped *out) {
  api_mapping m = {.ctx = ctx,
                   .result = result,
                   .instr = instr,
                   .from = result->input,
                   .to = result->program.program,
                   .out = out};
  *out = (glen_mapped){.text = "", .json = ""};
  API_ENTER(ctx, false);
  if (instr && !knows(&m, instr)) {
    bs_error(&ctx->diags, BS_NOWHERE, "unknown-instruction",
             "neither the target nor the rules have %s", instr);
    return false;
  }
  api_mapping_find(&m);
  tell_all(&m);
  api_mapping_done(&m);
  out->known = true;
  return true;
}
