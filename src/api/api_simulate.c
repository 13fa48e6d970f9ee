/* SPDX-License-Identifier: MIT */
/* api_simulate.c - loops on the machine that their target describes. */
#include "api/api.h"
#include "poly/simulate/simulate.h"

static double
share(const po_simulation *s, double cycles) {
  return s->cycles > 0 ? 100 * cycles / s->cycles : 0;
}

static void
put_text(const po_simulation *s, bs_text *out) {
  bs_putf(out, "%-24s %12.0f cycles\n", "in all", s->cycles);
  for (uint32_t k = 0; k < s->n_queues; k++)
    bs_putf(out, "queue %-18s %12.0f cycles, busy %.1f %%\n", s->queue[k].name,
            s->queue[k].busy, share(s, s->queue[k].busy));
  for (uint32_t k = 0; k < s->instrs.len; k++) {
    const po_instr_time *i = &s->instrs.data[k];
    bs_putf(out, "%-24s %12.0f cycles, %.0f %s", i->name, i->cycles,
            BS_COUNTED(i->calls, "call"));
    if (i->bytes > 0)
      bs_putf(out, ", %.0f bytes", i->bytes);
    bs_putc(out, '\n');
  }
}

static void
put_instrs(const po_simulation *s, bs_json *j) {
  bs_json_array(j, "instructions");
  for (uint32_t k = 0; k < s->instrs.len; k++) {
    const po_instr_time *i = &s->instrs.data[k];
    bs_json_object(j, NULL);
    bs_json_string(j, "instruction", i->name);
    bs_json_string(j, "queue", i->queue);
    bs_json_real(j, "calls", i->calls);
    bs_json_real(j, "cycles", i->cycles);
    bs_json_real(j, "bytes", i->bytes);
    bs_json_end(j);
  }
  bs_json_end(j);
}

static void
put_json(const po_simulation *s, bs_text *out) {
  bs_json j;
  bs_json_init(&j, out, 0);
  bs_json_object(&j, NULL);
  bs_json_real(&j, "cycles", s->cycles);
  bs_json_array(&j, "queues");
  for (uint32_t k = 0; k < s->n_queues; k++) {
    bs_json_object(&j, NULL);
    bs_json_string(&j, "queue", s->queue[k].name);
    bs_json_real(&j, "busy", s->queue[k].busy);
    bs_json_real(&j, "percent", share(s, s->queue[k].busy));
    bs_json_end(&j);
  }
  bs_json_end(&j);
  put_instrs(s, &j);
  bs_json_end(&j);
}

static glen_tensors *
new_outputs(glen_context *ctx, const gs_program *p) {
  glen_tensors *t = BS_NEW(&ctx->arena, glen_tensors);
  *t = (glen_tensors){.ctx = ctx,
                      .program = p,
                      .heap = p->ctx.heap,
                      .outputs = true,
                      .n = p->outputs.len};
  t->data = BS_NEWS(&ctx->arena, gs_tensor, t->n + 1);
  for (uint32_t k = 0; k < t->n; k++) {
    gs_type type;
    gs_type_at(p, p->outputs.data[k].term, &type);
    gs_tensor_init(t->heap, &t->data[k], &type);
  }
  return t;
}

bool
glen_simulate(glen_context *ctx, const glen_loops *loops,
              const glen_tensors *inputs, bool trace, glen_simulation *out) {
  *out = (glen_simulation){.text = "", .json = "{}", .trace = ""};
  API_ENTER_STAGE(ctx, "the simulator", 1, false);
  const po_program *p = loops->loops;
  po_simulation s;
  bs_text text, json, told;
  bs_text_init(&text, &ctx->heap);
  bs_text_init(&json, &ctx->heap);
  bs_text_init(&told, &ctx->heap);
  out->outputs = new_outputs(ctx, p->source);
  bool ok = po_simulate(p, inputs->data, out->outputs->data, &s,
                        trace ? &told : NULL);
  put_text(&s, &text);
  put_json(&s, &json);
  out->cycles = s.cycles;
  out->text = api_string(ctx, &text);
  out->json = api_string(ctx, &json);
  out->trace = api_string(ctx, &told);
  po_simulation_done(p, &s);
  if (!ok)
    api_blame_limit(&frame);
  return ok;
}
