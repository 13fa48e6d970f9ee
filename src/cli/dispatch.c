/* dispatch.c - the program as loops: once, or for each variant of --dispatch.
 *
 * What is chosen by rules is the same for all of them; how it is lowered and
 * scheduled depends on the vectors. */
#include "cli/session.h"

#include <string.h>

static glen_loops *
lower_for(cl_session *session, const glen_program *program,
          const glen_target *target, const char **unscheduled, bool prints) {
  glen_context *glen = session->glen;
  const char *printed = "";
  glen_loops *loops =
      glen_lower(glen, program, target, session->options->strict_fp);
  if (loops && unscheduled)
    *unscheduled = glen_loops_text(glen, loops);
  bool ok = loops && cl_schedule_loops(session, loops, &printed);
  if (prints)
    fputs(printed, stderr);
  if (!ok)
    glen_loops_free(loops);
  return ok ? loops : NULL;
}

static bool
add_variant(cl_session *session, const glen_program *program,
            const glen_target *target, glen_loops *loops, const char *name) {
  glen_target *t = glen_target_variant(session->glen, target, name);
  glen_loops *variant = t ? lower_for(session, program, t, NULL, false) : NULL;
  bool ok = variant && glen_dispatch(session->glen, loops, name, variant);
  if (!ok)
    glen_loops_free(variant);
  return ok;
}

static bool
add_variants(cl_session *session, const glen_program *program,
             const glen_target *target, glen_loops *loops) {
  char name[32];
  for (const char *at = session->options->dispatch; *at;) {
    size_t n = strcspn(at, ",");
    snprintf(name, sizeof name, "%.*s", n < sizeof name ? (int)n : 31, at);
    if (!add_variant(session, program, target, loops, name))
      return false;
    at += n + (at[n] == ',');
  }
  return true;
}

glen_loops *
cl_lower(cl_session *session, const glen_program *program,
         const glen_target *target, const char **unscheduled) {
  const cl_options *o = session->options;
  if (!o->dispatch)
    return lower_for(session, program, target, unscheduled, true);
  if (!*o->dispatch) {
    fputs("glen: --dispatch: the list is empty\n", stderr);
    return NULL;
  }
  if (o->tune) {
    fputs("glen: --tune measures for this processor: --dispatch does not go "
          "with it\n",
          stderr);
    return NULL;
  }
  glen_target *base = glen_target_variant(session->glen, target, "base");
  glen_loops *loops =
      base ? lower_for(session, program, base, unscheduled, true) : NULL;
  if (loops && !add_variants(session, program, target, loops)) {
    glen_loops_free(loops);
    return NULL;
  }
  return loops;
}
