/* SPDX-License-Identifier: MIT */
/* show.c - a search for layouts, as a schedule script with comments.
 *
 * The comments are the trace; the commands copy what each statement reads into
 * the layout that was chosen, so that the whole text is a script that may be
 * run on the program. */
#include "poly/loops/access.h"
#include "poly/datalayout/datalayout.h"

static void
put_candidate(po_layout_model *m, const po_layout_candidate *c, bs_text *out) {
  po_layout one = {.steps = {c->step}, .n_steps = 1};
  bs_put(out, "#   ");
  po_layout_put_steps(&one, 0, out);
  bs_putf(out, " %s: %.12g%s\n", m->arrays.data[c->array].name, c->cost,
          c->kept ? ", order kept" : "");
}

static void
put_layout(po_layout_model *m, const po_layout_array *a, const po_layout *l,
           bs_text *out) {
  bs_putf(out, "# %s: ", a->name);
  po_layout_put_steps(l, 0, out);
  bs_put(out, ", new array [");
  for (uint32_t d = 0; d < l->rank; d++)
    bs_putf(out, "%s%lld", d ? ", " : "", (long long)l->dim[d]);
  bs_put(out, "]\n#   use     ");
  po_layout_put_map(m, a, l, out);
  bs_put(out, "\n#   address ");
  po_layout_put_address(m, a, l, out);
  bs_put(out, "\n");
}

void
po_layout_put_trace(po_layout_model *m, const po_layout_search *s,
                    bs_text *out) {
  bs_putf(out, "# cost %s, as it is: %.12g\n", po_layout_cost_names[s->cost],
          s->start);
  for (uint32_t k = 0; k < s->rounds.len; k++) {
    const po_layout_round *r = &s->rounds.data[k];
    bs_putf(out, "# round %u\n", k + 1);
    for (uint32_t j = 0; j < r->candidates.len; j++)
      put_candidate(m, &r->candidates.data[j], out);
    if (r->chosen == r->candidates.len) {
      bs_putf(out, "# stop: nothing is below %.12g\n", s->best);
      continue;
    }
    bs_put(out, "# chosen:\n");
    put_candidate(m, &r->candidates.data[r->chosen], out);
  }
  for (uint32_t k = 0; k < m->arrays.len; k++)
    if (s->layouts[k].n_steps)
      put_layout(m, &m->arrays.data[k], &s->layouts[k], out);
}

void
po_layout_put_script(po_layout_model *m, const po_program *p,
                     const po_layout_search *s, bs_text *out) {
  for (uint32_t k = 0; k < m->arrays.len; k++) {
    const po_layout_array *a = &m->arrays.data[k];
    if (!s->layouts[k].n_steps)
      continue;
    if (a->own) {
      bs_putf(out, "transform_layout %s \"", a->name);
      po_layout_put_map(m, a, &s->layouts[k], out);
      bs_put(out, "\"\n");
      continue;
    }
    for (uint32_t j = 0; j < p->stmts.len; j++) {
      if (!po_stmt_reads(&p->stmts.data[j], a->program))
        continue;
      bs_putf(out, "pack %s %s \"", p->stmts.data[j].name, a->name);
      po_layout_put_map(m, a, &s->layouts[k], out);
      bs_put(out, "\" global\n");
    }
  }
}
