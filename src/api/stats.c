/* SPDX-License-Identifier: MIT */
/* stats.c - what each rule and each iteration did to an e-graph.
 *
 * Rules that matched stand in the order of the nodes they made, then of their
 * matches; those that were never applied are listed behind.  Only `seconds`
 * differ from run to run.
 */
#include "api/api.h"

#include <stdlib.h>
#include <string.h>

typedef struct line {
  uint32_t rule;
  const eg_rule_stats *stats;
  bool led;
  uint32_t steps; /* of the rule, from the input to the result */
} line;

typedef struct table {
  const glen_result *result;
  line *lines; /* of the rules that matched, in order */
  uint32_t n;
  uint32_t *never; /* applied, by index */
  uint32_t n_never;
} table;

static int
by_work(const void *a, const void *b) {
  const line *x = a, *y = b;
  const uint64_t keys[][2] = {{x->stats->nodes, y->stats->nodes},
                              {x->stats->unions, y->stats->unions},
                              {x->stats->matches, y->stats->matches}};
  for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++)
    if (keys[k][0] != keys[k][1])
      return keys[k][0] > keys[k][1] ? -1 : 1;
  return x->rule < y->rule ? -1 : 1;
}

static bool
led_there(const glen_result *r, const rl_rule *rule) {
  for (uint32_t k = 0; k < r->n_used_rules; k++)
    if (r->used_rules[k] == rule)
      return true;
  return false;
}

static const rl_rule *
rule_at(const glen_result *r, uint32_t k) {
  return rl_at(r->run.rules, k);
}

static void
make_table(const glen_result *r, table *t) {
  const eg_rule_stats *stats = eg_runner_stats(r->run.runner);
  uint32_t n = r->run.n_rules;
  bs_heap *heap = &r->ctx->heap;
  *t = (table){.result = r};
  t->lines = bs_calloc(heap, n + (size_t)1, sizeof *t->lines);
  t->never = bs_calloc(heap, n + (size_t)1, sizeof *t->never);
  for (uint32_t k = 0; k < n; k++) {
    if (stats[k].matches)
      t->lines[t->n++] = (line){k, &stats[k], led_there(r, rule_at(r, k)),
                                r->steps_of ? r->steps_of[k] : 0};
    if (!stats[k].applied)
      t->never[t->n_never++] = k;
  }
  qsort(t->lines, t->n, sizeof *t->lines, by_work);
}

static void
table_done(table *t) {
  bs_free(&t->result->ctx->heap, t->lines);
  bs_free(&t->result->ctx->heap, t->never);
}

/* ---- text ---- */

static void
put_rule(const table *t, const line *l, bool seconds, bs_text *out) {
  const eg_rule_stats *s = l->stats;
  bs_putf(out, ";   %-32s %8llu %9llu %9llu %9llu %9llu %9llu %6llu  %-3s",
          rule_at(t->result, l->rule)->name, (unsigned long long)s->searches,
          (unsigned long long)s->matches, (unsigned long long)s->applied,
          (unsigned long long)s->refused, (unsigned long long)s->nodes,
          (unsigned long long)s->unions, (unsigned long long)s->banned,
          l->led ? "led" : "");
  if (l->steps)
    bs_putf(out, " %7u", l->steps);
  else if (seconds)
    bs_put(out, "        ");
  if (seconds)
    bs_putf(out, " %9.4f %9.4f", s->search_s, s->apply_s);
  while (out->len && out->data[out->len - 1] == ' ')
    out->data[--out->len] = '\0';
  bs_putc(out, '\n');
}

static void
put_never(const table *t, bs_text *out) {
  enum { WIDTH = 78 };
  size_t column = WIDTH;
  if (!t->n_never)
    return;
  bs_putf(out, "; never fired: %u %s", BS_COUNTED(t->n_never, "rule"));
  for (uint32_t k = 0; k < t->n_never; k++) {
    const char *name = rule_at(t->result, t->never[k])->name;
    size_t width = strlen(name) + 1;
    if (column + width > WIDTH) {
      bs_put(out, "\n;  ");
      column = 3;
    }
    bs_putf(out, " %s", name);
    column += width;
  }
  bs_putc(out, '\n');
}

static void
put_iterations(const glen_result *r, bool seconds, bs_text *out) {
  uint32_t n;
  const eg_iteration *its = eg_runner_iterations(r->run.runner, &n);
  bs_putf(out, "; growth by iteration\n;   %9s %10s %10s %10s %10s %10s%s\n",
          "iteration", "e-nodes", "e-classes", "matches", "applied", "unions",
          seconds ? "    search     apply   rebuild" : "");
  for (uint32_t k = 0; k < n; k++) {
    bs_putf(out, ";   %9u %10u %10u %10llu %10llu %10u", its[k].index + 1,
            its[k].nodes, its[k].classes, (unsigned long long)its[k].matches,
            (unsigned long long)its[k].applied, its[k].unions);
    if (seconds)
      bs_putf(out, " %9.4f %9.4f %9.4f", its[k].search_s, its[k].apply_s,
              its[k].rebuild_s);
    bs_putc(out, '\n');
  }
}

void
api_put_stats(const glen_result *r, bool seconds, bs_text *out) {
  table t;
  make_table(r, &t);
  bs_putf(out, "; by rule\n;   %-32s %8s %9s %9s %9s %9s %9s %6s  %-3s %7s%s\n",
          "rule", "searches", "matches", "applied", "refused", "e-nodes",
          "unions", "banned", "led", "steps",
          seconds ? "    search     apply" : "");
  for (uint32_t k = 0; k < t.n; k++)
    put_rule(&t, &t.lines[k], seconds, out);
  put_never(&t, out);
  put_iterations(r, seconds, out);
  table_done(&t);
}

/* ---- JSON ---- */

static void
json_rule(const table *t, const line *l, bool seconds, bs_json *j) {
  const eg_rule_stats *s = l->stats;
  bs_json_object(j, NULL);
  bs_json_string(j, "rule", rule_at(t->result, l->rule)->name);
  bs_json_int(j, "searches", (int64_t)s->searches);
  bs_json_int(j, "matches", (int64_t)s->matches);
  bs_json_int(j, "applied", (int64_t)s->applied);
  bs_json_int(j, "refused", (int64_t)s->refused);
  bs_json_int(j, "nodes", (int64_t)s->nodes);
  bs_json_int(j, "unions", (int64_t)s->unions);
  bs_json_int(j, "banned", (int64_t)s->banned);
  bs_json_bool(j, "led", l->led);
  if (t->result->steps_of)
    bs_json_int(j, "steps", l->steps);
  if (seconds) {
    bs_json_real(j, "search_s", s->search_s);
    bs_json_real(j, "apply_s", s->apply_s);
  }
  bs_json_end(j);
}

static void
json_iteration(const eg_iteration *it, bool seconds, bs_json *j) {
  bs_json_object(j, NULL);
  bs_json_int(j, "iteration", it->index + 1);
  bs_json_int(j, "nodes", it->nodes);
  bs_json_int(j, "classes", it->classes);
  bs_json_int(j, "matches", (int64_t)it->matches);
  bs_json_int(j, "applied", (int64_t)it->applied);
  bs_json_int(j, "unions", it->unions);
  if (seconds) {
    bs_json_real(j, "search_s", it->search_s);
    bs_json_real(j, "apply_s", it->apply_s);
    bs_json_real(j, "rebuild_s", it->rebuild_s);
  }
  bs_json_end(j);
}

void
api_json_stats(const glen_result *r, bool seconds, bs_json *j) {
  table t;
  uint32_t n;
  const eg_iteration *its = eg_runner_iterations(r->run.runner, &n);
  make_table(r, &t);
  bs_json_object(j, "stats");
  bs_json_array(j, "rules");
  for (uint32_t k = 0; k < t.n; k++)
    json_rule(&t, &t.lines[k], seconds, j);
  bs_json_end(j);
  bs_json_array(j, "never_fired");
  for (uint32_t k = 0; k < t.n_never; k++)
    bs_json_string(j, NULL, rule_at(r, t.never[k])->name);
  bs_json_end(j);
  bs_json_array(j, "by_iteration");
  for (uint32_t k = 0; k < n; k++)
    json_iteration(&its[k], seconds, j);
  bs_json_end(j);
  bs_json_end(j);
  table_done(&t);
}
