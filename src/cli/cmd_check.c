/* SPDX-License-Identifier: MIT */
/* cmd_check.c - `glen check A.glen B.glen`: do two programs compute the same?
 *
 * The prover is asked first.  Of what it leaves open, both programs are run by
 * the reference interpreter on the same seeded inputs. */
#include "cli/commands.h"
#include "cli/cli_session.h"

#include <inttypes.h>

typedef struct pair {
  glen_program *a, *b;
} pair;

/* Does rounding, in either program, explain what differs? */
static bool
is_rounding(cl_session *session, const pair *p, const glen_tensors *inputs,
            const glen_tensors *a, const glen_tensors *b,
            glen_comparison *out) {
  glen_context *glen = session->glen;
  glen_tensors *bound_a = glen_rounding_bounds(glen, p->a, inputs);
  glen_tensors *bound_b =
      bound_a ? glen_rounding_bounds(glen, p->b, inputs) : NULL;
  bool equal =
      bound_b && glen_tensors_compare_within(a, b, session->options->tolerance,
                                             bound_a, bound_b, out);
  glen_tensors_free(bound_b);
  glen_tensors_free(bound_a);
  return equal;
}

/* 1 equal, 0 different, -1 failed. */
static int
compare_on(cl_session *session, const pair *p, uint64_t seed,
           glen_comparison *out) {
  glen_context *glen = session->glen;
  glen_tensors *inputs = glen_inputs_new(glen, p->a, seed);
  glen_tensors *a = inputs ? glen_interpret(glen, p->a, inputs) : NULL;
  glen_tensors *b = a ? glen_interpret(glen, p->b, inputs) : NULL;
  int equal = -1;
  if (b)
    equal = glen_tensors_compare(a, b, session->options->tolerance, out) ||
            is_rounding(session, p, inputs, a, b, out);
  glen_tensors_free(b);
  glen_tensors_free(a);
  glen_tensors_free(inputs);
  return equal;
}

static void
print_json_refuted(const char *name, uint64_t seed, const glen_comparison *c) {
  printf("{\"schema\":1,\"answer\":\"refuted\",\"seed\":%" PRIu64
         ",\"output\":",
         seed);
  cl_print_json_text(name);
  printf(",\"index\":%" PRId64 ",\"a\":", c->index);
  cl_print_json_number(c->a);
  fputs(",\"b\":", stdout);
  cl_print_json_number(c->b);
  printf(",\"differing\":%" PRId64 "}\n", c->differing);
}

static void
print_refuted(const cl_options *o, const pair *p, uint64_t seed,
              const glen_comparison *c) {
  const char *name = glen_output_name(p->a, c->output);
  if (o->json)
    print_json_refuted(name, seed, c);
  else
    printf("refuted: with inputs of seed %" PRIu64 ", element %" PRId64
           " of %s is %.9g and %.9g (%" PRId64 " %s)\n",
           seed, c->index, name, c->a, c->b,
           CL_COUNTED_AS(c->differing, "element differs", "elements differ"));
}

static void
print_tested(const cl_options *o, double worst) {
  if (o->json) {
    printf("{\"schema\":1,\"answer\":\"tested\",\"samples\":%" PRIu64
           ",\"max_abs_difference\":",
           o->samples);
    cl_print_json_number(worst);
    puts("}");
  } else
    printf("tested: equal on %" PRIu64
           " seeded inputs (largest difference %.3g)\n",
           o->samples, worst);
}

static int
test(cl_session *session, const pair *p) {
  const cl_options *o = session->options;
  double worst = 0;
  for (uint64_t k = 0; k < o->samples; k++) {
    glen_comparison c;
    int equal = compare_on(session, p, o->seed + k, &c);
    if (equal < 0)
      return cl_failed(session);
    if (!equal) {
      print_refuted(o, p, o->seed + k, &c);
      return GLEN_REFUTED;
    }
    if (c.max_abs > worst)
      worst = c.max_abs;
  }
  print_tested(o, worst);
  return GLEN_OK;
}

static int
check(cl_session *session, const pair *p) {
  const cl_options *o = session->options;
  glen_equality proof;
  if (!glen_programs_prove(session->glen, p->a, p->b, &proof))
    return cl_failed(session);
  if (!proof.proved && !proof.refuted && !proof.open)
    return test(session, p);
  fputs(o->json ? proof.json : proof.text, stdout);
  if (proof.refuted)
    return GLEN_REFUTED;
  return proof.proved || proof.checked ? GLEN_OK : GLEN_LIMIT;
}

int
cl_check(const cl_options *options) {
  cl_session session;
  pair p = {0};
  if (!cl_open(&session, options))
    return GLEN_INTERNAL;
  int code = cl_load_pair(&session, cl_target(&session), &p.a, &p.b);
  if (!code)
    code = glen_programs_agree(session.glen, p.a, p.b) ? check(&session, &p)
                                                       : cl_failed(&session);
  return cl_close(&session, code);
}
