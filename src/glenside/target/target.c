/* SPDX-License-Identifier: MIT */
/* target.c - target files: forms, includes, numbers, settings.
 *
 * A file is a list of forms `(target NAME item...)`, `(instr ...)` and
 * `(include "path")`, done in order: what comes later replaces what came
 * before, so a file includes what it builds on first.  (The first cache that
 * a file gives replaces all caches of the default.)  Paths are relative to
 * the file that names them; a file is read once, and a file that includes
 * itself is an error.  Includes nest at most MAX_INCLUDES deep. */
#include "glenside/type/elsewhere.h"
#include "glenside/target/target_parse.h"
#include "base/file.h"
#include "base/places.h"
#include <assert.h>
#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define MAX_INCLUDES 32

#define NUMBER(group, name, field, real, least, most)                          \
  { group, name, offsetof(gs_target, field), real, least, most, false }
#define CACHE(name, field, real, least, most)                                  \
  { "cache", name, offsetof(gs_cache, field), real, least, most, false }
#define STORE(name, field, most)                                               \
  { "memory NAME", name, offsetof(gs_memory, field), false, 1, most, false }

const target_number target_numbers[] = {
    NUMBER(NULL, "cores", cores, false, 1, 65536),
    NUMBER(NULL, "frequency-ghz", frequency_ghz, true, 1e-3, 1e3),
    {NULL, "vector-bytes", offsetof(gs_target, vector_bytes), false, 4, 4096,
     true},
    NUMBER(NULL, "vector-registers", vector_registers, false, 1, 4096),
    NUMBER("memory", "bytes-per-cycle", memory_bytes_per_cycle, true, 1e-6,
           1e9),
    NUMBER("memory", "stored-bytes-per-cycle", stored_bytes_per_cycle, true, 0,
           1e9),
    NUMBER("host", "flops-per-cycle", flops_per_cycle, true, 1e-6, 1e9),
    NUMBER("host", "scalar-ops-per-cycle", scalar_ops_per_cycle, true, 1e-6,
           1e9),
    CACHE("bytes", bytes, false, 1, 1e15),
    CACHE("line", line, false, 1, 1e6),
    CACHE("ways", ways, false, 1, 1e6),
    CACHE("bytes-per-cycle", bytes_per_cycle, true, 1e-6, 1e9),
    STORE("bytes", bytes, 1 << 30),
    STORE("row", row, 1 << 20),
    STORE("banks", banks, 1 << 10),
    STORE("align", align, 1 << 20),
};
const size_t target_number_count =
    sizeof target_numbers / sizeof *target_numbers;
_Static_assert(sizeof target_numbers / sizeof *target_numbers <= 32,
               "note_given has a bit for each");

/* --- what a target holds -------------------------------------------------- */

bs_value
gs_target_setting(const gs_target *t, const char *name) {
  for (uint32_t k = 0; k < t->settings.len; k++)
    if (!strcmp(t->settings.data[k].name, name))
      return t->settings.data[k].value;
  return BS_NIL;
}

bs_value
target_setting(void *ctx, const char *name) {
  return gs_target_setting(ctx, name);
}

/* Sets, or, when `keep`, sets only what has no value yet. */
static void
set_value(const gs_context *ctx, gs_target *t, const char *name, bs_value v,
          bool keep) {
  assert(name && v.i);
  for (uint32_t k = 0; k < t->settings.len; k++)
    if (!strcmp(t->settings.data[k].name, name)) {
      if (!keep)
        t->settings.data[k].value = v;
      return;
    }
  bs_push(ctx->heap, &t->settings,
          (gs_setting){bs_arena_strdup(ctx->arena, name), v});
}

/* By level; one of the same level is replaced. */
void
target_set_cache(const gs_context *ctx, gs_target *t, gs_cache c) {
  uint32_t k = 0;
  while (k < t->caches.len && t->caches.data[k].level < c.level)
    k++;
  if (k == t->caches.len || t->caches.data[k].level != c.level) {
    bs_push(ctx->heap, &t->caches, c);
    memmove(t->caches.data + k + 1, t->caches.data + k,
            (t->caches.len - 1 - k) * sizeof c);
  }
  /* In the order of their levels. */
  assert(!k || t->caches.data[k - 1].level < c.level);
  t->caches.data[k] = c;
}

gs_target *
gs_target_default(const gs_context *ctx) {
  gs_target *t = BS_NEW(ctx->arena, gs_target);
  t->name = "default";
  t->path = "";
  t->type_of_call = target_type_of_call;
  t->cores = 1;
  t->vector_bytes = TARGET_MODEST_VECTOR;
  t->vector_registers = TARGET_MODEST_REGISTERS;
  t->frequency_ghz = 2;
  t->flops_per_cycle = 8;
  t->scalar_ops_per_cycle = 2;
  t->memory_bytes_per_cycle = 4;
  for (uint32_t k = 0; k < TARGET_MODEST_CACHES; k++)
    target_set_cache(ctx, t, target_modest_caches[k]);
  return t;
}

/* --- items ---------------------------------------------------------------- */

static const bs_sx *
at(const target_parser *p, uint32_t node) {
  return target_at(p, node);
}

/* The single item behind a form's head, or 0 with a diagnostic. */
static uint32_t
only_item(const target_parser *p, uint32_t form, const char *wanted) {
  if (at(p, form)->count == 2)
    return target_next(p, form + 1);
  bs_error(p->ctx->diags, at(p, form)->span, "wrong-arity",
           "'%s' takes one item, %s", target_head(p, form), wanted);
  return 0;
}

static bool
read_number(const target_parser *p, uint32_t form, const target_number *n,
            void *into) {
  uint32_t node = only_item(p, form, n->real ? "a number" : "an integer");
  if (!node)
    return false;
  const bs_sx *x = at(p, node);
  if (x->kind != BS_SX_INT && !(n->real && x->kind == BS_SX_REAL)) {
    bs_error(p->ctx->diags, x->span, "bad-value", "'%s' is %s", n->name,
             n->real ? "a number" : "an integer");
    target_hint_unit(p, node);
    return false;
  }
  double v = bs_as_real(p->ctx->values, x->value);
  if (!(v >= n->least && v <= n->most))
    return bs_error(p->ctx->diags, x->span, "bad-value",
                    n->real ? "'%s' must be from %g to %g"
                            : "'%s' must be from %.0f to %.0f",
                    n->name, n->least, n->most);
  int64_t whole = n->real ? 0 : bs_as_int(p->ctx->values, x->value);
  if (n->power && (whole & (whole - 1)))
    return bs_error(p->ctx->diags, x->span, "bad-value",
                    "'%s' must be a power of two", n->name);
  void *field = (char *)into + n->offset;
  if (n->real)
    memcpy(field, &v, sizeof v);
  else
    *(int64_t *)field = whole;
  return true;
}

static const target_number *
find_number(const char *group, const char *name) {
  for (size_t k = 0; k < target_number_count; k++) {
    const target_number *n = &target_numbers[k];
    bool same_group = group ? n->group && !strcmp(group, n->group) : !n->group;
    if (same_group && !strcmp(n->name, name))
      return n;
  }
  return NULL;
}

static bool
unknown_item(const target_parser *p, uint32_t node, const char *const *names,
             size_t n) {
  const char *head = target_head(p, node);
  if (!head) {
    bs_error(p->ctx->diags, at(p, node)->span, "not-a-form",
             "a list headed by a name is expected here");
    target_hint_unit(p, node);
    return false;
  }
  const char *near = bs_nearest(head, names, n);
  bs_error(p->ctx->diags, at(p, node)->span, "unknown-item",
           "'%s' is not allowed here", head);
  if (!gs_hint_elsewhere(p->ctx->diags, GS_AS_TARGET_FORM, head) && near)
    bs_meant(p->ctx->diags, "'", near);
  return false;
}

/* Each number of a group is given once. */
static bool
note_given(const target_parser *p, uint32_t node, const target_number *number,
           uint32_t *given) {
  uint32_t bit = 1u << (number - target_numbers);
  if (*given & bit)
    return bs_error(p->ctx->diags, at(p, node)->span, "duplicate-name",
                    "'%s' is given twice", number->name);
  *given |= bit;
  return true;
}

/* (GROUP (NAME x)...) from item `node` on */
static bool
read_group(const target_parser *p, const char *group, uint32_t node,
           void *into) {
  const char *names[sizeof target_numbers / sizeof *target_numbers];
  size_t n = 0;
  bool ok = true;
  for (size_t k = 0; k < target_number_count; k++)
    if (target_numbers[k].group && !strcmp(target_numbers[k].group, group))
      names[n++] = target_numbers[k].name;
  uint32_t given = 0;
  for (; node; node = target_next(p, node)) {
    const char *head = target_head(p, node);
    const target_number *number = head ? find_number(group, head) : NULL;
    ok &= !number ? unknown_item(p, node, names, n)
                  : note_given(p, node, number, &given) &&
                        read_number(p, node, number, into);
  }
  return ok;
}

/* The items behind the head, 0 when there are none. */
static uint32_t
behind_head(const target_parser *p, uint32_t form) {
  return at(p, form)->count > 1 ? target_next(p, form + 1) : 0;
}

/* What a cache has of which a target says nothing, but for its size. */
static const gs_cache no_cache = {
    .level = 1, .line = TARGET_MODEST_LINE, .ways = 8, .bytes_per_cycle = 8};

static bool
item_group(target_parser *p, uint32_t form) {
  return read_group(p, target_head(p, form), behind_head(p, form), p->target);
}

static bool
item_cache(target_parser *p, uint32_t form) {
  uint32_t level = behind_head(p, form);
  if (!level || at(p, level)->kind != BS_SX_INT) {
    bs_error(p->ctx->diags, at(p, form)->span, "bad-value",
             "(cache LEVEL (bytes N) ...) needs a level");
    bs_hint(p->ctx->diags, "a level is a number: (cache 1 (bytes 32768))");
    return false;
  }
  int64_t l = bs_as_int(p->ctx->values, at(p, level)->value);
  if (l < 1 || l > 8)
    return bs_error(p->ctx->diags, at(p, level)->span, "bad-value",
                    "a cache level is a number from 1 to 8");
  gs_cache c = no_cache;
  c.level = (int)l;
  if (!read_group(p, "cache", target_next(p, level), &c))
    return false;
  if (!c.bytes)
    return bs_error(p->ctx->diags, at(p, form)->span, "missing-part",
                    "a cache needs (bytes N)");
  if (!p->state->caches)
    bs_clear(&p->target->caches);
  p->state->caches = true;
  target_set_cache(p->ctx, p->target, c);
  return true;
}

/* (memory NAME (bytes N) ...); without a name, the rates of dram. */
static bool
item_memory(target_parser *p, uint32_t form) {
  uint32_t name = behind_head(p, form);
  gs_memory m = {.row = 1, .banks = 1, .align = 1};
  if (!name || at(p, name)->kind != BS_SX_SYM)
    return item_group(p, form);
  m.name = target_sym(p, name);
  m.span = at(p, name)->span;
  return read_group(p, "memory NAME", target_next(p, name), &m) &&
         target_add_memory(p, &m);
}

/* Data, or the value of `$NAME`; NIL with a diagnostic. */
static bs_value
setting_value(const target_parser *p, uint32_t node) {
  const char *name = at(p, node)->kind == BS_SX_SYM ? target_sym(p, node) : "";
  if (name[0] != '$')
    return bs_sx_value(p->ctx->heap, p->ctx->values, p->sexps, node);
  bs_value v = target_setting(p->target, name + 1);
  if (!v.i)
    bs_error(p->ctx->diags, at(p, node)->span, "unknown-param",
             "the setting '%s' is not defined yet", name + 1);
  return v;
}

static bool
item_setting(target_parser *p, uint32_t form) {
  uint32_t name = behind_head(p, form);
  if (at(p, form)->count != 3 || at(p, name)->kind != BS_SX_SYM)
    return bs_error(p->ctx->diags, at(p, form)->span, "wrong-arity",
                    "write (%s NAME VALUE)", target_head(p, form));
  if (*target_sym(p, name) == '$') {
    bs_error(p->ctx->diags, at(p, name)->span, "bad-name",
             "'%s' cannot be the name of a parameter", target_sym(p, name));
    bs_hint(p->ctx->diags, "it has a $ only where it is used: (%s %s ...)",
            target_head(p, form), target_sym(p, name) + 1);
    return false;
  }
  bs_value v = setting_value(p, target_next(p, name));
  if (!v.i)
    return false;
  set_value(p->ctx, p->target, target_sym(p, name), v,
            !strcmp(target_head(p, form), "default"));
  return true;
}

static const char *
string_item(const target_parser *p, uint32_t form) {
  uint32_t node = only_item(p, form, "a string");
  if (!node)
    return NULL;
  if (at(p, node)->kind == BS_SX_STRING)
    return target_sym(p, node);
  bs_error(p->ctx->diags, at(p, node)->span, "bad-value",
           "'%s' takes a string in quotes", target_head(p, form));
  if (at(p, node)->kind == BS_SX_SYM)
    bs_hint(p->ctx->diags, "(%s \"%s\")", target_head(p, form),
            target_sym(p, node));
  return NULL;
}

static bool
item_march(target_parser *p, uint32_t form) {
  p->target->march = string_item(p, form);
  return p->target->march != NULL;
}

static bool
item_prelude(target_parser *p, uint32_t form) {
  const char *text = string_item(p, form);
  if (text)
    bs_push(p->ctx->heap, &p->target->preludes, text);
  return text != NULL;
}

/* --- files ---------------------------------------------------------------- */

/* One name for a file however it is reached. */
static const char *
resolved(const gs_context *ctx, const char *path) {
  char real[PATH_MAX];
  return bs_arena_strdup(ctx->arena, realpath(path, real) ? real : path);
}

/* True, once, for each file. */
static bool
first_time(target_parser *p, const char *real) {
  for (uint32_t k = 0; k < p->state->seen.len; k++)
    if (!strcmp(p->state->seen.data[k], real))
      return false;
  bs_push(p->ctx->heap, &p->state->seen, real);
  return true;
}

static const char *
included(const target_parser *p, const char *name) {
  return bs_path_included(p->ctx->arena, &bs_targets_place, p->file->path,
                          name);
}

static bool
item_prelude_file(target_parser *p, uint32_t form) {
  const char *name = string_item(p, form);
  if (!name)
    return false;
  const char *path = included(p, name);
  if (!first_time(p, resolved(p->ctx, path)))
    return true;
  uint32_t source = bs_source_read(p->ctx->diags, path, at(p, form)->span);
  if (!source)
    return false;
  const char *text = p->ctx->diags->sources.data[source - 1].text;
  bs_push(p->ctx->heap, &p->target->preludes, text);
  bs_push(p->ctx->heap, &p->target->files, path);
  return true;
}

static bool read_forms(target_parser *, uint32_t source);

/* Is the file being read, and how deep are we? */
static bool
may_include(const target_parser *p, const char *real, bs_span span) {
  int depth = 0;
  for (const target_file *f = p->file; f; f = f->from, depth++)
    if (!strcmp(f->real, real))
      return bs_error(p->ctx->diags, span, "include-cycle",
                      "'%s' includes itself", f->path);
  if (depth > MAX_INCLUDES)
    return bs_error(p->ctx->diags, span, "too-deep",
                    "files are included more than %d deep", MAX_INCLUDES);
  return true;
}

static bool
item_include(target_parser *p, uint32_t form) {
  const char *name = string_item(p, form);
  if (!name)
    return false;
  const char *path = included(p, name);
  const char *real = resolved(p->ctx, path);
  if (!may_include(p, real, at(p, form)->span))
    return false;
  if (!first_time(p, real))
    return true;
  uint32_t source = bs_source_read(p->ctx->diags, path, at(p, form)->span);
  if (!source)
    return false;
  target_file file = {p->file, path, real};
  target_parser inner = *p;
  inner.file = &file;
  bs_push(p->ctx->heap, &p->target->files, path);
  return read_forms(&inner, source);
}

/* --- forms ---------------------------------------------------------------- */

typedef struct item_kind {
  const char *name;
  bool (*read)(target_parser *, uint32_t form);
} item_kind;

static const item_kind item_kinds[] = {
    {"memory", item_memory},   {"host", item_group},
    {"cache", item_cache},     {"set", item_setting},
    {"default", item_setting}, {"march", item_march},
    {"prelude", item_prelude}, {"prelude-file", item_prelude_file},
    {"include", item_include},
};
#define ITEM_KINDS (sizeof item_kinds / sizeof *item_kinds)

static bool
unknown_target_item(const target_parser *p, uint32_t node) {
  const char
      *names[ITEM_KINDS + sizeof target_numbers / sizeof *target_numbers];
  size_t n = 0;
  for (size_t k = 0; k < ITEM_KINDS; k++)
    names[n++] = item_kinds[k].name;
  for (size_t k = 0; k < target_number_count; k++)
    if (!target_numbers[k].group)
      names[n++] = target_numbers[k].name;
  return unknown_item(p, node, names, n);
}

static bool
read_item(target_parser *p, uint32_t node) {
  const char *head = target_head(p, node);
  if (!head)
    return unknown_target_item(p, node);
  const target_number *number = find_number(NULL, head);
  if (number)
    return read_number(p, node, number, p->target);
  for (size_t k = 0; k < ITEM_KINDS; k++)
    if (!strcmp(item_kinds[k].name, head))
      return item_kinds[k].read(p, node);
  return unknown_target_item(p, node);
}

static bool
form_target(target_parser *p, uint32_t form) {
  uint32_t name = behind_head(p, form);
  bool root = !p->file->from, ok = true;
  if (!name || at(p, name)->kind != BS_SX_SYM)
    return bs_error(p->ctx->diags, at(p, form)->span, "missing-part",
                    "a target needs a name: (target NAME ...)");
  if (root && p->target->name)
    return bs_error(p->ctx->diags, at(p, form)->span, "duplicate-name",
                    "this file has a (target ...) already");
  if (root)
    p->target->name = target_sym(p, name);
  for (uint32_t x = target_next(p, name); x; x = target_next(p, x))
    ok &= read_item(p, x);
  return ok;
}

static bool
read_form(target_parser *p, uint32_t form) {
  static const char *const names[] = {"target", "instr", "mac", "include"};
  const char *head = target_head(p, form);
  if (head && !strcmp(head, "target"))
    return form_target(p, form);
  if (head && !strcmp(head, "instr"))
    return target_parse_instr(p, form);
  if (head && !strcmp(head, "mac"))
    return target_parse_mac(p, form);
  if (head && !strcmp(head, "include"))
    return item_include(p, form);
  return unknown_item(p, form, names, 4);
}

static bool
read_forms(target_parser *p, uint32_t source) {
  bs_sexps sexps = {0};
  bool ok =
      bs_sexp_read(p->ctx->heap, p->ctx->values, p->ctx->diags, source, &sexps);
  p->sexps = &sexps;
  ok = ok && target_is_target(p);
  if (!ok)
    bs_clear(&sexps.roots);
  for (uint32_t k = 0; k < sexps.roots.len; k++)
    ok &= read_form(p, sexps.roots.data[k]);
  bs_sexps_done(p->ctx->heap, &sexps);
  return ok;
}

bool
target_parse_text(const gs_context *ctx, gs_target *t, const char *name,
                  const char *text) {
  target_file file = {NULL, name, name};
  target_state state = {0};
  target_parser p = {.ctx = ctx, .target = t, .file = &file, .state = &state};
  uint32_t source = bs_source_add(ctx->diags, name, text, strlen(text));
  return read_forms(&p, source);
}

gs_target *
gs_target_parse(const gs_context *ctx, uint32_t source) {
  assert(source && source <= ctx->diags->sources.len);
  const char *path = ctx->diags->sources.data[source - 1].path;
  target_file file = {NULL, path, resolved(ctx, path)};
  target_state state = {0};
  target_parser p = {.ctx = ctx,
                     .target = gs_target_default(ctx),
                     .file = &file,
                     .state = &state};
  p.target->name = NULL;
  p.target->path = path;
  bs_push(ctx->heap, &state.seen, file.real);
  bs_push(ctx->heap, &p.target->files, path);
  bool ok = read_forms(&p, source);
  bs_vec_done(ctx->heap, &state.seen);
  ok = ok && target_check_ways(&p);
  if (ok && !p.target->name) {
    ok = bs_error(ctx->diags, (bs_span){source, 0, 0}, "missing-part",
                  "this file has no (target NAME ...)");
    bs_hint(ctx->diags, "it describes the machine, and belongs beside "
                        "instructions: (target NAME (include \"cpu.target\"))");
  }
  return ok ? p.target : NULL;
}

gs_target *
gs_target_parse_file(const gs_context *ctx, const char *path) {
  uint32_t source = bs_source_read(ctx->diags, path, BS_NOWHERE);
  return source ? gs_target_parse(ctx, source) : NULL;
}
