/* SPDX-License-Identifier: MIT */
/* api_compile.c - the whole way from the text of a program to C: `glen_compile`
 * reads in the order in which a program is compiled, and each line of it is a
 * stage that can be called by itself. */
#include "api/api.h"
#include <assert.h>

#include <string.h>

/* ---- schedules ---- */

/* Sizes of tiles ask for tiles.  A script or layouts are said of loops as they
 * are, so that nothing is fused beforehand unless that was asked for. */
static glen_fusion
fusion_of(const glen_code_options *o) {
  if (o->fusion != GLEN_FUSE_AUTO)
    return o->fusion;
  if (o->n_tiles)
    return GLEN_FUSE_POST_TILE;
  return o->script || o->layout != GLEN_LAYOUT_NONE ? GLEN_FUSE_NONE
                                                    : GLEN_FUSE_AUTO;
}

static bool
fuse(glen_context *ctx, glen_loops *loops, const glen_code_options *o,
     glen_scheduled *out) {
  glen_fusion way = fusion_of(o);
  return way == GLEN_FUSE_NONE || api_fuse(ctx, loops, way, o, &out->left_out);
}

static bool
run_script(glen_context *ctx, glen_loops *loops, const glen_code_options *o,
           glen_scheduled *out) {
  return !o->script ||
         glen_schedule(ctx, loops, o->script, o->explain, &out->printed);
}

static bool
give_layouts(glen_context *ctx, glen_loops *loops, const glen_code_options *o) {
  static const int64_t one[] = {8}, several[] = {4, 8, 16, 32};
  bool lines = o->layout == GLEN_LAYOUT_LINES;
  return o->layout == GLEN_LAYOUT_NONE ||
         glen_give_layouts(ctx, loops, o->layout, lines ? several : one,
                           lines ? 4 : 1);
}

static bool
schedule_loops(glen_context *ctx, glen_loops *loops, const glen_code_options *o,
               glen_scheduled *out) {
  *out = (glen_scheduled){.printed = "", .left_out = ""};
  if (!api_prepack(ctx, loops, o->prepack, o->n_prepack))
    return false;
  if (o->choose)
    return glen_choose(ctx, loops, o->choose, &out->chosen);
  return fuse(ctx, loops, o, out) && run_script(ctx, loops, o, out) &&
         give_layouts(ctx, loops, o);
}

void
glen_code_defaults_of(glen_code_options *out, size_t size) {
  static const glen_code_options own = {.size = sizeof own};
  api_give_options(&own, sizeof own, out, size);
}

static bool
take_options(glen_context *ctx, const glen_code_options *given,
             glen_code_options *own) {
  glen_code_defaults(own);
  return api_take_options(ctx, given, own, sizeof *own);
}

bool
glen_schedule_loops(glen_context *ctx, glen_loops *loops,
                    const glen_code_options *options, glen_scheduled *out) {
  glen_code_options own;
  *out = (glen_scheduled){.printed = "", .left_out = ""};
  return take_options(ctx, options, &own) &&
         schedule_loops(ctx, loops, &own, out);
}

/* ---- lowering, for one processor or several ---- */

static glen_loops *
lower_for(glen_context *ctx, const glen_program *program,
          const glen_target *target, const glen_code_options *o) {
  bool own = fusion_of(o) == GLEN_FUSE_AUTO && !o->choose;
  return own ? api_lower_net(ctx, program, target, o->strict_fp)
             : glen_lower(ctx, program, target, o->strict_fp);
}

/* Of loops as they were lowered, which it takes; NULL: there are none. */
static glen_loops *
schedule_lowered(glen_context *ctx, glen_loops *loops,
                 const glen_code_options *o, glen_scheduled *out) {
  const char *lowered =
      loops && o->keep_lowered ? glen_loops_text(ctx, loops) : NULL;
  if (loops && schedule_loops(ctx, loops, o, out)) {
    out->lowered = lowered;
    return loops;
  }
  glen_loops_free(loops);
  return NULL;
}

/* Schedules that are given are for all sizes. */
static bool
may_have_keys(const glen_program *program, const glen_code_options *o) {
  return program->program->sizes && api_most_keys(o) && !o->script &&
         !o->choose && !o->layout && !o->n_tiles;
}

static bool
add_key(glen_context *ctx, const glen_target *target,
        const glen_code_options *o, const po_key *key, glen_loops *loops) {
  glen_program program = {.program = key->program};
  glen_scheduled unused;
  glen_loops *part =
      schedule_lowered(ctx, lower_for(ctx, &program, target, o), o, &unused);
  po_size *sizes = BS_NEWS(&ctx->arena, po_size, GS_MOST_SIZES);
  if (!part)
    return false;
  for (uint32_t k = 0; k < loops->loops->sizes.len; k++)
    sizes[k] = (po_size){key->part[k].name, key->part[k].least,
                         key->part[k].most, key->part[k].multiple};
  loops->parts[loops->n_keys] = part;
  loops->keys[loops->n_keys++] = (cg_key){sizes, part->loops};
  api_make_room(loops->loops, part->loops);
  return true;
}

/* Of loops as they were lowered for the target, which it takes. */
static glen_loops *
schedule_with_keys(glen_context *ctx, const glen_program *program,
                   const glen_target *target, glen_loops *lowered,
                   const glen_code_options *o, glen_scheduled *out) {
  glen_code_options own = *o;
  po_keys keys;
  glen_loops *loops = schedule_lowered(ctx, lowered, o, out);
  if (!loops || !may_have_keys(program, o))
    return loops;
  own.keep_lowered = false;
  if (api_choose_keys(ctx, program, target, o, &keys))
    for (uint32_t k = 0; k < keys.n; k++)
      if (!add_key(ctx, target, &own, &keys.list[k], loops)) {
        glen_loops_free(loops);
        return NULL;
      }
  return loops;
}

static bool
add_variant(glen_context *ctx, const glen_program *program,
            const glen_target *target, const glen_loops *lowered,
            const glen_code_options *o, glen_loops *loops, const char *name) {
  glen_code_options own = *o;
  glen_scheduled unused;
  own.keep_lowered = false;
  const glen_target *t = glen_target_variant(ctx, target, name);
  glen_loops *variant =
      t ? schedule_with_keys(ctx, program, t, api_loops_for(ctx, lowered, t),
                             &own, &unused)
        : NULL;
  bool ok = variant && glen_dispatch(ctx, loops, name, variant);
  if (!ok)
    glen_loops_free(variant);
  return ok;
}

/* What variants of a target differ in is first asked when loops are scheduled,
 * so that they are lowered once. */
static glen_loops *
lower_variants(glen_context *ctx, const glen_program *program,
               const glen_target *target, const glen_code_options *o,
               glen_scheduled *out) {
  const glen_target *base = glen_target_variant(ctx, target, "base");
  glen_loops *lowered = base ? lower_for(ctx, program, base, o) : NULL;
  glen_loops *loops =
      lowered ? schedule_with_keys(ctx, program, base,
                                   api_loops_for(ctx, lowered, base), o, out)
              : NULL;
  for (uint32_t k = 0; loops && k < o->n_variants; k++)
    if (!add_variant(ctx, program, target, lowered, o, loops, o->variants[k])) {
      glen_loops_free(loops);
      loops = NULL;
    }
  glen_loops_free(lowered);
  return loops;
}

static glen_loops *
lower_scheduled(glen_context *ctx, const glen_program *program,
                const glen_target *target, const glen_code_options *o,
                glen_scheduled *out) {
  return o->n_variants
             ? lower_variants(ctx, program, target, o, out)
             : schedule_with_keys(ctx, program, target,
                                  lower_for(ctx, program, target, o), o, out);
}

glen_loops *
glen_lower_scheduled(glen_context *ctx, const glen_program *program,
                     const glen_target *target,
                     const glen_code_options *options, glen_scheduled *out) {
  glen_code_options own;
  *out = (glen_scheduled){.printed = "", .left_out = ""};
  return take_options(ctx, options, &own)
             ? lower_scheduled(ctx, program, target, &own, out)
             : NULL;
}

/* ---- the pipeline ---- */

glen_target *
glen_target_named(glen_context *ctx, const char *name) {
  return name && !strcmp(name, "native") ? glen_target_detect(ctx)
                                         : glen_target_load(ctx, name);
}

void
glen_compile_defaults(glen_compile_options *out) {
  *out = (glen_compile_options){.name = "kernel"};
  glen_saturate_defaults(&out->saturate);
  glen_code_defaults(&out->code);
}

/* Without rules the program is compiled as it is written. */
static bool
rewrite(glen_context *ctx, const glen_compile_options *o, glen_compiled *out) {
  glen_rules *rules;
  glen_saturate_options saturate = o->saturate;
  saturate.strict_fp |= o->code.strict_fp;
  out->program = out->input;
  if (!o->n_rules)
    return true;
  rules = glen_rules_load(ctx, out->target, o->rules, o->n_rules, o->params,
                          o->n_params);
  out->result =
      rules ? glen_saturate(ctx, out->input, rules, out->target, &saturate)
            : NULL;
  if (out->result)
    out->program = glen_result_program(out->result);
  return out->result != NULL;
}

/* Code for a program that is refuted is not made. */
static bool
verify(glen_context *ctx, const glen_compile_options *o, glen_compiled *out) {
  if (!o->verify || !out->result)
    return true;
  out->verdict = glen_result_verify(ctx, out->result);
  return out->verdict && strcmp(out->verdict, "refuted") != 0;
}

static bool
compile(glen_context *ctx, const char *path, const glen_compile_options *o,
        glen_compiled *out) {
  out->target = glen_target_named(ctx, o->target);
  if (!out->target)
    return false;
  out->input = glen_program_load(ctx, out->target, path);
  if (!out->input || !rewrite(ctx, o, out) || !verify(ctx, o, out))
    return false;
  out->loops = glen_lower_scheduled(ctx, out->program, out->target, &o->code,
                                    &out->scheduled);
  return out->loops &&
         glen_emit_c(ctx, out->loops, o->name, o->header, &out->c, &out->h);
}

bool
glen_compile(glen_context *ctx, const char *path, const glen_compile_options *o,
             glen_compiled *out) {
  *out = (glen_compiled){.scheduled.printed = ""};
  bool ok = compile(ctx, path, o, out);
  assert(!ok || (out->program && out->loops && out->c));
  if (!ok)
    glen_compiled_free(out);
  return ok;
}

void
glen_compiled_free(glen_compiled *compiled) {
  glen_loops_free(compiled->loops);
  glen_result_free(compiled->result);
  compiled->loops = NULL;
  compiled->result = NULL;
  compiled->program = NULL;
}
