/* SPDX-License-Identifier: MIT */
/* inputs.c - targets, programs and rules: text in, objects out. */
#include "api/api.h"
#include "glenside/text/form_files.h"
#include "api/object.h"
#include "api/locate.h"
#include "onnx/onnx.h"
#include <assert.h>

#include "base/render.h"

#include <string.h>

/* ---- targets ---- */

typedef struct target_args {
  glen_context *ctx;
  const char *path;
  bool detect;
  const char *text; /* NULL: it is read from the file */
  size_t size;
} target_args;

/* The last thing said is that the file itself, not one that it includes, cannot
 * be read. */
static bool
was_not_there(const bs_diags *d, uint32_t before) {
  if (d->list.len == before)
    return false;
  const bs_diag *last = &d->list.data[d->list.len - 1];
  return last->code && !last->span.file && !strcmp(last->code, "no-file");
}

static gs_target *
read_target(glen_context *ctx, const gs_context *gs, const char *name) {
  uint32_t before = ctx->diags.list.len;
  gs_target *target =
      gs_target_parse_file(gs, api_find(ctx, GLEN_DATA_TARGET, name));
  if (!target && was_not_there(&ctx->diags, before))
    api_hint_names(ctx, GLEN_DATA_TARGET, name);
  return target;
}

/* A text in memory as a source that goes with the object; 0 where it is too
 * large. */
static uint32_t
add_source(api_object *object, glen_context *ctx, const char *name,
           const char *text, size_t size) {
  uint32_t source = bs_source_add(&ctx->diags, name, text, size);
  api_object_read(object, source);
  return source && bs_source_check(&ctx->diags, source) ? source : 0;
}

static gs_target *
make_target(const target_args *a, api_object *object) {
  const gs_context *gs = api_object_context(object);
  uint32_t source;
  if (a->detect)
    return gs_target_detect(gs);
  if (!a->path)
    return gs_target_default(gs);
  if (!a->text)
    return read_target(a->ctx, gs, a->path);
  source = add_source(object, a->ctx, a->path, a->text, a->size);
  return source ? gs_target_parse(gs, source) : NULL;
}

static glen_target *
new_target(const target_args *a) {
  API_ENTER(a->ctx, NULL);
  api_object *object = api_object_take(a->ctx);
  gs_target *target = make_target(a, object);
  if (!target) {
    api_object_free(object);
    return NULL;
  }
  glen_target *out = BS_NEW(api_object_context(object)->arena, glen_target);
  *out = (glen_target){.object = object, .target = target};
  return out;
}

glen_target *
glen_target_load(glen_context *ctx, const char *path) {
  target_args a = {.ctx = ctx, .path = path};
  return new_target(&a);
}

glen_target *
glen_target_parse(glen_context *ctx, const char *name, const char *text,
                  size_t size) {
  target_args a = {.ctx = ctx, .path = name, .text = text, .size = size};
  return new_target(&a);
}

void
glen_target_free(glen_target *target) {
  if (target)
    api_object_free(target->object);
}

glen_target *
glen_target_detect(glen_context *ctx) {
  target_args a = {.ctx = ctx, .detect = true};
  return new_target(&a);
}

glen_target *
glen_target_variant(glen_context *ctx, const glen_target *target,
                    const char *name) {
  API_ENTER(ctx, NULL);
  const gs_variant *v = gs_find_variant(name);
  if (!v) {
    bs_error(&ctx->diags, BS_NOWHERE, "unknown-variant",
             "there is no processor variant named %s", name);
    bs_hint(&ctx->diags, "variants are: base, avx2, avx512");
    return NULL;
  }
  glen_target *out = BS_NEW(&ctx->arena, glen_target);
  out->target = gs_target_variant(&ctx->gs, target->target, v);
  out->variant = v->name;
  return out;
}

const char *
glen_target_text(glen_context *ctx, const glen_target *target) {
  API_ENTER(ctx, "");
  bs_text text;
  bs_text_init(&text, &ctx->heap);
  gs_target_print(target->target, ctx->gs.values, &text);
  return api_string(ctx, &text);
}

/* ---- programs ---- */

typedef struct program_args {
  glen_context *ctx;
  const glen_target *target;
  const char *name, *text; /* text NULL: read the file `name` */
  size_t size;
  const char *const *sizes;
  uint32_t n_sizes;
  bool *taken; /* by size; NULL: the program has all of them */
  const po_given_size *given;
  bool open; /* sizes may stay so */
} program_args;

static bool
is_model(const char *path) {
  size_t n = strlen(path);
  return n > 5 && !strcmp(path + n - 5, ".onnx");
}

/* A model becomes a program in memory. */
static gs_program *
load(const program_args *a, const gs_context *gs, const gs_target *target) {
  on_options options = {a->name, a->ctx->model_dims, a->ctx->n_model_dims,
                        a->name};
  if (!is_model(a->name))
    return gs_parse_file_at(gs, target, a->name, a->given, a->n_sizes);
  if (a->n_sizes && !a->taken) {
    bs_error(&a->ctx->diags, BS_NOWHERE, "unknown-name",
             "a model has dimensions, not sizes");
    bs_hint(&a->ctx->diags, "--dim NAME=SIZE gives one a size");
    return NULL;
  }
  gs_program *p = on_load_file(gs, &options);
  if (p)
    p->target = target;
  return p;
}

void
glen_model_dims(glen_context *ctx, const char *const *dims, uint32_t n) {
  ctx->model_dims = dims;
  ctx->n_model_dims = n;
}

static gs_program *
make_program(const program_args *a, api_object *object) {
  const gs_context *gs = api_object_context(object);
  const gs_target *target = a->target ? a->target->target : NULL;
  if (!a->text)
    return load(a, gs, target);
  uint32_t source = add_source(object, a->ctx, a->name, a->text, a->size);
  return source ? gs_parse_at(gs, target, source, a->given, a->n_sizes) : NULL;
}

static bool
read_given(program_args *a, bs_arena *arena) {
  po_given_size *given;
  if (!api_read_sizes(a->ctx, arena, a->sizes, a->n_sizes, &given))
    return false;
  for (uint32_t k = 0; k < a->n_sizes && a->taken; k++)
    given[k].taken = &a->taken[k];
  a->given = given;
  return true;
}

static glen_program *
new_program(program_args *a) {
  API_ENTER(a->ctx, NULL);
  api_object *object = api_object_take(a->ctx);
  bool read = read_given(a, api_object_context(object)->arena);
  gs_program *p = read ? make_program(a, object) : NULL;
  if (!p || (!a->open && !api_has_numbers(a->ctx, p, "this"))) {
    api_object_free(object);
    return NULL;
  }
  glen_program *out = BS_NEW(api_object_context(object)->arena, glen_program);
  *out = (glen_program){
      .object = object, .program = p, .sizes = a->given, .n_sizes = a->n_sizes};
  return out;
}

glen_program *
glen_program_load(glen_context *ctx, const glen_target *target,
                  const char *path) {
  program_args a = {.ctx = ctx, .target = target, .name = path};
  return new_program(&a);
}

glen_program *
glen_program_load_at(glen_context *ctx, const glen_target *target,
                     const char *path, const char *const *sizes,
                     uint32_t n_sizes) {
  program_args a = {.ctx = ctx,
                    .target = target,
                    .name = path,
                    .sizes = sizes,
                    .n_sizes = n_sizes,
                    .open = true};
  return new_program(&a);
}

glen_program *
glen_program_load_among(glen_context *ctx, const glen_target *target,
                        const char *path, const char *const *sizes,
                        uint32_t n_sizes, bool *taken) {
  program_args a = {.ctx = ctx,
                    .target = target,
                    .name = path,
                    .sizes = sizes,
                    .n_sizes = n_sizes,
                    .taken = taken,
                    .open = true};
  return new_program(&a);
}

glen_program *
glen_program_parse(glen_context *ctx, const glen_target *target,
                   const char *name, const char *text, size_t size) {
  program_args a = {
      .ctx = ctx, .target = target, .name = name, .text = text, .size = size};
  return new_program(&a);
}

glen_program *
glen_program_parse_at(glen_context *ctx, const glen_target *target,
                      const char *name, const char *text, size_t size,
                      const char *const *sizes, uint32_t n_sizes) {
  program_args a = {.ctx = ctx,
                    .target = target,
                    .name = name,
                    .text = text,
                    .size = size,
                    .sizes = sizes,
                    .n_sizes = n_sizes,
                    .open = true};
  return new_program(&a);
}

void
glen_program_free(glen_program *program) {
  if (program)
    api_object_free(program->object);
}

const char *
glen_program_text(glen_context *ctx, const glen_program *program, bool types) {
  API_ENTER(ctx, "");
  bs_text text;
  bs_text_init(&text, &ctx->heap);
  gs_print(program->program, types, &text);
  return api_string(ctx, &text);
}

uint32_t
glen_program_inputs(const glen_program *p) {
  return p->program->inputs.len;
}

uint32_t
glen_program_outputs(const glen_program *p) {
  return p->program->outputs.len;
}

const char *
glen_input_name(const glen_program *p, uint32_t k) {
  assert(k < p->program->inputs.len);
  return p->program->inputs.data[k].name;
}

const char *
glen_output_name(const glen_program *p, uint32_t k) {
  assert(k < p->program->outputs.len);
  return p->program->outputs.data[k].name;
}

bool
glen_input_is_stored(const glen_program *p, uint32_t k) {
  return gs_find_data(p->program, glen_input_name(p, k)) != NULL;
}

/* ---- rules ---- */

typedef struct rules_args {
  glen_context *ctx;
  const glen_target *target;
  const char *const *paths;
  uint32_t n_paths;
  const char *const *params;
  uint32_t n_params;
  const char *name, *text; /* text NULL: there is none in memory */
  size_t size;
} rules_args;

bool
api_set_param(glen_context *ctx, rl_rules *rules, const char *text) {
  const gs_context *gs = &ctx->gs;
  const char *name;
  bs_value value;
  if (!gs_read_setting(gs, text, &name, &value)) {
    bs_error(gs->diags, BS_NOWHERE, "bad-param",
             "cannot read the parameter \"%s\"", text);
    bs_hint(gs->diags, "write NAME=VALUE, as in split-quantum=16");
    ctx->failure = GLEN_USAGE;
    return false;
  }
  return rl_set_param(rules, name, value) || rl_no_param(rules, name);
}

static bool
load_rules(glen_context *ctx, rl_rules *rules, const char *name) {
  uint32_t before = ctx->diags.list.len;
  bool ok = rl_load(rules, api_find(ctx, GLEN_DATA_RULES, name));
  if (!ok && was_not_there(&ctx->diags, before))
    api_hint_names(ctx, GLEN_DATA_RULES, name);
  return ok;
}

bool
api_load_rules(glen_context *ctx, rl_rules *rules, const char *const *names,
               uint32_t n) {
  bool ok = true;
  for (uint32_t k = 0; k < n; k++)
    ok = load_rules(ctx, rules, names[k]) && ok;
  return ok;
}

static bool
make_rules(const rules_args *a, api_object *object, rl_rules *rules) {
  if (!a->text)
    return api_load_rules(a->ctx, rules, a->paths, a->n_paths);
  uint32_t source = add_source(object, a->ctx, a->name, a->text, a->size);
  return api_load_rules(a->ctx, rules, a->paths, a->n_paths) && source &&
         rl_load_source(rules, source);
}

static glen_rules *
new_rules(const rules_args *a) {
  API_ENTER(a->ctx, NULL);
  api_object *object = api_object_take(a->ctx);
  const gs_context *gs = api_object_context(object);
  rl_rules *rules = rl_new(gs, a->target ? a->target->target : NULL);
  bool ok = make_rules(a, object, rules);
  for (uint32_t k = 0; ok && k < a->n_params; k++)
    ok = api_set_param(a->ctx, rules, a->params[k]);
  if (!ok || !rl_finish(rules)) {
    api_object_free(object);
    return NULL;
  }
  glen_rules *out = BS_NEW(gs->arena, glen_rules);
  *out = (glen_rules){object, rules};
  return out;
}

glen_rules *
glen_rules_load(glen_context *ctx, const glen_target *target,
                const char *const *paths, uint32_t n_paths,
                const char *const *params, uint32_t n_params) {
  rules_args a = {.ctx = ctx,
                  .target = target,
                  .paths = paths,
                  .n_paths = n_paths,
                  .params = params,
                  .n_params = n_params};
  return new_rules(&a);
}

glen_rules *
glen_rules_parse(glen_context *ctx, const glen_target *target,
                 const char *const *paths, uint32_t n_paths, const char *name,
                 const char *text, size_t size) {
  rules_args a = {.ctx = ctx,
                  .target = target,
                  .paths = paths,
                  .n_paths = n_paths,
                  .name = name,
                  .text = text,
                  .size = size};
  return new_rules(&a);
}

void
glen_rules_free(glen_rules *rules) {
  if (rules)
    api_object_free(rules->object);
}

uint32_t
glen_rules_count(const glen_rules *rules) {
  return rl_count(rules->rules);
}
