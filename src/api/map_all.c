/* SPDX-License-Identifier: MIT */
/* map_all.c - the calls that each computation of a program may become. */
#include "api/api_explain.h"
#include "glenside/text/text_print.h"
#include "rules/rule/rule_apply.h"

enum { MOST_FITS = 256 };

typedef struct listing {
  glen_context *ctx;
  const glen_result *result;
  eg_class *of; /* by term of the input */
  rl_fit *fits;
  bs_text text;
  bs_json *json;
} listing;

static void
put_head(const listing *l, gs_op op, bs_value attr, bs_text *out) {
  const bs_values *values = l->ctx->gs.values;
  bs_put(out, print_head(values, op, attr));
  print_attrs(values, NULL, op, attr, out);
}

static void
put_fit(listing *l, const rl_rule *rule, const rl_fit *fit) {
  bs_text call;
  bs_text_init(&call, &l->ctx->heap);
  put_head(l, GS_CALL, fit->attr, &call);
  for (uint32_t k = 0; k < fit->n_also; k++) {
    bs_put(&call, ", ");
    put_head(l, GS_CALL, fit->also[k], &call);
  }
  bs_putf(&l->text, "  %12.6g  %s\n", fit->cycles, bs_text_str(&call));
  bs_json_object(l->json, NULL);
  bs_json_string(l->json, "rule", rule->name);
  bs_json_real(l->json, "cycles", fit->cycles);
  bs_json_string(l->json, "call", bs_text_str(&call));
  bs_json_end(l->json);
  bs_text_done(&call);
}

static void
put_fits(listing *l, eg_class c) {
  const rl_run *run = &l->result->run;
  for (uint32_t k = 0; k < run->n_rules; k++) {
    uint32_t n = rl_list_fits(run, k, c, l->fits, MOST_FITS);
    for (uint32_t i = 0; i < n; i++)
      put_fit(l, rl_at(run->rules, k), &l->fits[i]);
    if (n == MOST_FITS)
      bs_putf(&l->text, "  ... and more by %s\n", rl_at(run->rules, k)->name);
  }
}

static void
put_term(listing *l, gs_term t) {
  const gs_node *n = gs_at(l->result->input, t);
  bs_text head;
  gs_type type;
  gs_type_at(l->result->input, t, &type);
  bs_text_init(&head, &l->ctx->heap);
  put_head(l, n->op, n->attr, &head);
  bs_put(&head, "  ");
  gs_put_type(&head, &type);
  bs_putf(&l->text, "%s\n", bs_text_str(&head));
  bs_json_object(l->json, NULL);
  bs_json_string(l->json, "of", bs_text_str(&head));
  bs_json_array(l->json, "calls");
  put_fits(l, l->of[t.i]);
  bs_json_end(l->json);
  bs_json_end(l->json);
  bs_text_done(&head);
}

static void
put_terms(listing *l) {
  const gs_program *p = l->result->input;
  uint8_t *live = bs_calloc(&l->ctx->heap, p->nodes.len + (size_t)1, 1);
  gs_mark_live(p, live);
  for (uint32_t k = 0; k < p->nodes.len; k++)
    if (live[k] && p->nodes.data[k].op == GS_COMPUTE &&
        l->of[k].i != UINT32_MAX)
      put_term(l, (gs_term){k});
  bs_free(&l->ctx->heap, live);
}

static void
put_listing(listing *l, bs_text *json) {
  bs_json j;
  bs_json_init(&j, json, 2);
  l->json = &j;
  bs_json_object(&j, NULL);
  bs_json_int(&j, "schema", 1);
  bs_json_array(&j, "terms");
  put_terms(l);
  bs_json_end(&j);
  bs_json_end(&j);
  bs_putc(json, '\n');
}

bool
glen_map_all(glen_context *ctx, const glen_result *result, glen_mapped *out) {
  listing l = {.ctx = ctx, .result = result};
  *out = (glen_mapped){.text = "", .json = ""};
  API_ENTER(ctx, false);
  bs_heap *heap = &ctx->heap;
  bs_text json;
  l.of = bs_alloc(heap, (result->input->nodes.len + (size_t)1) * sizeof *l.of);
  l.fits = bs_alloc(heap, MOST_FITS * sizeof *l.fits);
  rl_classes_of(&result->run, result->input, l.of);
  bs_text_init(&l.text, heap);
  bs_text_init(&json, heap);
  put_listing(&l, &json);
  *out = (glen_mapped){.text = api_string(ctx, &l.text),
                       .json = api_string(ctx, &json),
                       .known = true};
  bs_free(heap, l.fits);
  bs_free(heap, l.of);
  return true;
}
