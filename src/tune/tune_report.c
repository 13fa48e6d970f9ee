/* SPDX-License-Identifier: MIT */
/* tune_report.c - what a search found, as a table and as JSON. */
#include "tune/tune.h"
#include <assert.h>
#include <inttypes.h>

const char *const tu_status_names[TU_STATUSES] = {"new", "ok", "slow", "failed",
                                                  "mismatch"};

static void
put_candidate(const tu_search *s, uint32_t k, bs_text *out) {
  assert(k < s->list.len);
  const tu_candidate *c = &s->list.data[k];
  double best = s->list.data[s->best].seconds;
  bs_putf(out, "%s ", k == s->best ? "*" : " ");
  if (c->status == TU_OK)
    bs_putf(out, "%10.3e s %7.2f", c->seconds,
            best > 0 ? c->seconds / best : 1.0);
  else
    bs_putf(out, "%12s %7s", tu_status_names[c->status], "");
  bs_putf(out, " %12.0f  %s\n", c->strategy.cost, c->strategy.name);
  if (c->message)
    bs_putf(out, "    %s\n", c->message);
}

void
tu_put_report(const tu_search *s, bs_text *out) {
  uint32_t cheapest = 0;
  for (uint32_t k = 1; k < s->list.len; k++)
    if (s->list.data[k].strategy.cost < s->list.data[cheapest].strategy.cost)
      cheapest = k;
  bs_putf(out, "  %12s %7s %12s  strategy\n", "time", "ratio", "predicted");
  for (uint32_t k = 0; k < s->list.len; k++)
    put_candidate(s, k, out);
  bs_putf(out, "chosen: %s; the cost model would choose: %s\n",
          s->list.data[s->best].strategy.name,
          s->list.data[cheapest].strategy.name);
  if (s->resumed)
    bs_putf(out, "%" PRIu32 " known from %s\n", s->resumed, s->options->file);
  if (s->stopped)
    bs_put(out, "stopped: the best so far was taken\n");
}

static void
json_candidate(const tu_candidate *c, bs_json *j) {
  bs_json_object(j, NULL);
  bs_json_string(j, "name", c->strategy.name);
  bs_json_string(j, "status", tu_status_names[c->status]);
  if (c->status == TU_OK)
    bs_json_real(j, "seconds", c->seconds);
  else
    bs_json_null(j, "seconds");
  bs_json_int(j, "rounds", c->rounds);
  bs_json_real(j, "cost", c->strategy.cost);
  bs_json_string(j, "code", c->code);
  if (c->message)
    bs_json_string(j, "message", c->message);
  bs_json_string(j, "script", c->strategy.script);
  bs_json_end(j);
}

void
tu_json_report(const tu_search *s, bs_text *out) {
  bs_json j;
  bs_json_init(&j, out, 1);
  bs_json_object(&j, NULL);
  bs_json_int(&j, "schema", 1);
  bs_json_string(&j, "key", s->key);
  bs_json_string(&j, "compiler", s->compiler);
  bs_json_string(&j, "chosen", s->list.data[s->best].strategy.name);
  bs_json_bool(&j, "stopped", s->stopped);
  bs_json_int(&j, "resumed", s->resumed);
  bs_json_array(&j, "candidates");
  for (uint32_t k = 0; k < s->list.len; k++)
    json_candidate(&s->list.data[k], &j);
  bs_json_end(&j);
  bs_json_end(&j);
  bs_putc(out, '\n');
}
