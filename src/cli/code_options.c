/* SPDX-License-Identifier: MIT */
/* code_options.c - what the command line says of lowering and of schedules, as
 * options of the library.
 *
 * A search by measuring is run from here, since it shows its progress and
 * writes files beside the output. */
#include "cli/cli_session.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_TILES = 8, NAME_SIZE = 32 };

typedef struct code {
  glen_code_options options; /* points into the arrays below */
  int64_t tiles[MOST_TILES];
  char names[GLEN_MAX_VARIANTS + 1][NAME_SIZE];
  const char *variants[GLEN_MAX_VARIANTS + 1];
} code;

/* Sizes separated by commas. */
static bool
read_sizes(const char *text, code *c) {
  glen_code_options *o = &c->options;
  for (; *text; o->n_tiles++) {
    char *end;
    long long size = strtoll(text, &end, 10);
    if (end == text || size < 1 || size > INT32_MAX ||
        o->n_tiles == MOST_TILES || (*end && *end != ',') ||
        (*end == ',' && !end[1]))
      return false;
    c->tiles[o->n_tiles] = size;
    text = end + (*end == ',');
  }
  return o->n_tiles > 0;
}

/* One name more than there can be is kept: it is refused as one too many. */
static void
read_variants(const char *list, code *c) {
  if (list && !strcmp(list, "none"))
    return;
  while (list && *list && c->options.n_variants <= GLEN_MAX_VARIANTS) {
    uint32_t k = c->options.n_variants++;
    size_t n = strcspn(list, ",");
    snprintf(c->names[k], NAME_SIZE, "%.*s",
             n < NAME_SIZE ? (int)n : NAME_SIZE - 1, list);
    c->variants[k] = c->names[k];
    list += n + (list[n] == ',');
  }
}

/* Loops in their text form say themselves how they run, and code for a device
 * has blocks and threads to choose instead, unless sizes of tiles are given. */
static glen_fusion
fusion_of(const cl_options *o) {
  glen_fusion way = GLEN_FUSE_NONE;
  bool other = cl_is_loops(o->files.items[0]) || cl_emits_device(o);
  if (o->fuse)
    glen_fusion_find(o->fuse, &way);
  return way == GLEN_FUSE_AUTO && other && !o->tile ? GLEN_FUSE_NONE : way;
}

static void
read_options(const cl_session *session, code *c) {
  const cl_options *o = session->options;
  *c =
      (code){.options = {.size = sizeof c->options,
                         .strict_fp = o->strict_fp,
                         .prepack = session->prepack,
                         .n_prepack = session->n_prepack,
                         .variants = c->variants,
                         .fusion = fusion_of(o),
                         .tiles = c->tiles,
                         .choose = o->choose > UINT32_MAX ? UINT32_MAX
                                                          : (uint32_t)o->choose,
                         .script = o->script,
                         .explain = o->explain,
                         .recompute = o->recompute,
                         .keys = (uint32_t)o->keys}};
  if (o->layout)
    glen_layout_cost_find(o->layout, &c->options.layout);
  read_variants(o->dispatch, c);
  if (o->tile)
    read_sizes(o->tile, c);
}

/* What is wrong whatever the program is ------------------------------------ */

static bool
are_tiles(const char *text) {
  code c = {0};
  if (!text || read_sizes(text, &c))
    return true;
  fprintf(stderr, "glen: --tile: expected sizes such as 32,256, not '%s'\n",
          text);
  return false;
}

static bool
are_variants(const char *list, bool loops) {
  if (!list || (*list && (!loops || !strcmp(list, "none"))))
    return true;
  fputs(*list ? "glen: --dispatch needs a program of terms\n"
              : "glen: --dispatch: the list is empty\n",
        stderr);
  return false;
}

/* Options that contradict each other. */
static bool
agree(const cl_options *o) {
  bool fused =
      o->fuse && strcmp(o->fuse, "none") != 0 && strcmp(o->fuse, "auto") != 0;
  if (o->tune && o->choose) {
    fputs("glen: --tune and --choose both choose the schedule, so they cannot "
          "be combined\n",
          stderr);
    return false;
  }
  if ((o->tune || o->choose) && (o->script || o->tile || fused)) {
    fprintf(stderr,
            "glen: --%s chooses the schedule, so it cannot be combined with "
            "--fuse, --tile or a script\n",
            o->tune ? "tune" : "choose");
    return false;
  }
  if (o->tune && o->dispatch && strcmp(o->dispatch, "none") != 0) {
    fputs("glen: --tune measures on this processor, so it cannot be combined "
          "with --dispatch\n",
          stderr);
    return false;
  }
  return true;
}

static bool
is_bound(double recompute) {
  if (recompute >= 1)
    return true;
  fprintf(stderr,
          "glen: --recompute: expected at least 1, not %g: what is needed is "
          "computed at least once\n",
          recompute);
  return false;
}

int
cl_refuse_schedules(const cl_command *command, const cl_options *o) {
  (void)command;
  bool loops = o->files.n && cl_is_loops(o->files.items[0]);
  return are_tiles(o->tile) && are_variants(o->dispatch, loops) && agree(o) &&
                 is_bound(o->recompute)
             ? GLEN_OK
             : GLEN_USAGE;
}

static void
note_schedule(const cl_session *session, const glen_scheduled *done) {
  if (done->chosen)
    cl_note(session, "chosen by cost: %s\n", done->chosen);
  cl_note(session, "%s", done->left_out);
}

/* Schedules that are measured are those of the loops with packed inputs. */
static bool
tune(cl_session *session, glen_loops *loops) {
  for (uint32_t k = 0; k < session->n_prepack; k++)
    if (!glen_prepack(session->glen, loops, session->prepack[k]))
      return false;
  return cl_tune(session, loops);
}

bool
cl_schedule_loops(cl_session *session, glen_loops *loops,
                  const char **printed) {
  code c;
  glen_scheduled done;
  *printed = "";
  read_options(session, &c);
  if (session->options->tune)
    return tune(session, loops);
  bool ok = glen_schedule_loops(session->glen, loops, &c.options, &done);
  *printed = done.printed;
  note_schedule(session, &done);
  return ok;
}

static glen_loops *
lower_and_tune(cl_session *session, const glen_program *program,
               const glen_target *target, const char **lowered) {
  glen_context *glen = session->glen;
  glen_loops *loops =
      glen_lower(glen, program, target, session->options->strict_fp);
  if (loops && lowered)
    *lowered = glen_loops_text(glen, loops);
  if (loops && tune(session, loops))
    return loops;
  glen_loops_free(loops);
  return NULL;
}

glen_loops *
cl_lower(cl_session *session, const glen_program *program,
         const glen_target *target, const char **lowered) {
  code c;
  glen_scheduled done;
  read_options(session, &c);
  if (session->options->tune)
    return lower_and_tune(session, program, target, lowered);
  c.options.keep_lowered = lowered != NULL;
  glen_loops *loops =
      glen_lower_scheduled(session->glen, program, target, &c.options, &done);
  fputs(done.printed, stderr);
  note_schedule(session, &done);
  if (lowered)
    *lowered = done.lowered;
  return loops;
}
