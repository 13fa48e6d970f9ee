/* SPDX-License-Identifier: MIT */
/* import.c - e-graphs of other tools: egraph-serialize JSON (jansson).
 *
 *   {"nodes": {ID: {"op", "children": [ID..], "eclass": CLASS, "cost"}},
 *    "root_eclasses": [CLASS..]}
 *
 * A child is named by one node of its class.  Classes are numbered by first
 * appearance, nodes keep the order of the file within a class.  The JSON tree
 * is not on the heap, so a cleanup owns it until it is released. */
#include "extract/internal.h"
#include "base/governor.h"
#include "base/hash.h"
#include "base/utf8.h"
#include "glen-features.h"
#include <string.h>

#if GLEN_HAVE_JANSSON
#include <jansson.h>

/* Names to the numbers 0, 1, .. in order of first use. */
typedef struct name_map {
  bs_heap *heap;
  uint32_t *slot; /* index + 1; 0 = empty */
  uint32_t mask;
  BS_VEC(const char *) names;
} name_map;

static void
map_init(name_map *m, bs_heap *heap, size_t expected) {
  uint32_t size = 16;
  while (size < 2 * expected)
    size *= 2;
  *m = (name_map){.heap = heap, .mask = size - 1};
  m->slot = EX_ZERO(heap, uint32_t, size);
}

static void
map_done(name_map *m) {
  bs_free(m->heap, m->slot);
  bs_vec_done(m->heap, &m->names);
}

static uint32_t *
map_slot(const name_map *m, const char *name) {
  uint32_t i = (uint32_t)bs_hash(name, strlen(name)) & m->mask;
  while (m->slot[i] && strcmp(m->names.data[m->slot[i] - 1], name))
    i = (i + 1) & m->mask;
  return &m->slot[i];
}

static uint32_t
map_find(const name_map *m, const char *name) {
  uint32_t at = *map_slot(m, name);
  return at ? at - 1 : EX_NONE;
}

static uint32_t
map_add(name_map *m, const char *name) {
  uint32_t *slot = map_slot(m, name);
  if (*slot)
    return *slot - 1;
  bs_push(m->heap, &m->names, name);
  *slot = m->names.len;
  return m->names.len - 1;
}

typedef struct importer {
  bs_heap *heap;
  bs_diags *diags;
  bs_span span;
  json_t **root; /* owned by a cleanup of the heap */
  name_map nodes, classes;
  BS_VEC(uint32_t) class_of;
  BS_VEC(uint32_t) kid_first;
  BS_VEC(uint32_t) kids;
  BS_VEC(uint32_t) roots;
  BS_VEC(double) cost;
} importer;

static void
release_json(void *cell) {
  json_t **root = cell;
  json_decref(*root);
  *root = NULL;
}

typedef struct feed {
  const char *at, *end;
  bs_governor *governor;
  bool stopped;
} feed;

/* The next piece of the text, as long as the limits let it be read. */
static size_t
next_piece(void *buffer, size_t most, void *arg) {
  feed *f = arg;
  size_t left = (size_t)(f->end - f->at), n = left < most ? left : most;
  f->stopped = !bs_governor_lets(f->governor);
  if (f->stopped)
    return (size_t)-1;
  memcpy(buffer, f->at, n);
  f->at += n;
  return n;
}

static bool
load(importer *im, uint32_t source) {
  const bs_source *s = &im->diags->sources.data[source - 1];
  uint32_t mark = bs_utf8_begin(s->text, s->size);
  feed text = {s->text + mark, s->text + s->size, bs_governor_of(im->heap),
               false};
  json_error_t error;
  im->root = bs_calloc(im->heap, 1, sizeof *im->root);
  bs_defer(im->heap, release_json, im->root);
  *im->root =
      json_load_callback(next_piece, &text, JSON_REJECT_DUPLICATES, &error);
  if (text.stopped)
    bs_out_of_memory(im->heap);
  if (*im->root)
    return true;
  uint32_t at = mark + (error.position > 0 ? (uint32_t)error.position : 0);
  at = at > s->size ? s->size : at;
  bs_error(im->diags, (bs_span){source, at, at}, "json-syntax",
           "this is not JSON: %s", error.text);
  if (mark < s->size && (s->text[mark] == '(' || s->text[mark] == ';'))
    bs_hint(im->diags, "this looks like a program, of which glen saturate "
                       "finds the cheapest form");
  return false;
}

/* Where a key stands in the text, which jansson does not tell: the first
 * string before a colon that is written like it. */
static bs_span
place_of(const importer *im, const char *key) {
  const bs_source *s = &im->diags->sources.data[im->span.file - 1];
  const char *end = s->text + s->size, *at = s->text;
  size_t n = strlen(key);
  while ((at = memchr(at, '"', (size_t)(end - at))) != NULL) {
    const char *begin = at++;
    if ((size_t)(end - at) <= n || memcmp(at, key, n) || at[n] != '"')
      continue;
    const char *after = at + n + 1;
    while (after < end && strchr(" \t\r\n", *after))
      after++;
    if (after < end && *after == ':')
      return (bs_span){im->span.file, (uint32_t)(begin - s->text),
                       (uint32_t)(at + n + 1 - s->text)};
  }
  return im->span;
}

static bool
bad_node(importer *im, const char *id, const char *what) {
  return bs_error(im->diags, place_of(im, id), "json-egraph", "node '%s' %s",
                  id, what);
}

static bool
read_cost(importer *im, const char *id, const json_t *node) {
  const json_t *cost = json_object_get(node, "cost");
  double value = cost ? json_number_value(cost) : 1;
  if (cost && !json_is_number(cost))
    return bad_node(im, id, "has a cost that is not a number");
  bs_push(im->heap, &im->cost, value);
  return true;
}

/* First pass: names, classes and costs. */
static bool
read_node(importer *im, const char *id, const json_t *node) {
  const char *class = json_string_value(json_object_get(node, "eclass"));
  if (!json_is_object(node))
    return bad_node(im, id, "is not an object");
  if (!class)
    return bad_node(im, id, "has no \"eclass\"");
  map_add(&im->nodes, id);
  bs_push(im->heap, &im->class_of, map_add(&im->classes, class));
  return read_cost(im, id, node);
}

/* Second pass: children, once every node is known. */
static bool
read_children(importer *im, const char *id, const json_t *node) {
  const json_t *children = json_object_get(node, "children");
  bs_push(im->heap, &im->kid_first, im->kids.len);
  if (children && !json_is_array(children))
    return bad_node(im, id, "has \"children\" that are not an array");
  for (size_t i = 0; i < json_array_size(children); i++) {
    const char *name = json_string_value(json_array_get(children, i));
    uint32_t kid = name ? map_find(&im->nodes, name) : EX_NONE;
    if (kid == EX_NONE)
      return bad_node(im, id, "has a child that is not a node of the file");
    bs_push(im->heap, &im->kids, im->class_of.data[kid]);
  }
  return true;
}

static bool
read_roots(importer *im) {
  const json_t *roots = json_object_get(*im->root, "root_eclasses");
  if (!json_is_array(roots))
    return bs_error(im->diags, im->span, "json-egraph",
                    "there is no array \"root_eclasses\"");
  if (!json_array_size(roots)) {
    bs_error(im->diags, place_of(im, "root_eclasses"), "no-roots",
             "\"root_eclasses\" names no class: there is nothing to extract");
    bs_hint(im->diags, "name the classes that are wanted, for example [\"%s\"]",
            im->classes.names.len ? im->classes.names.data[0] : "0");
    return false;
  }
  for (size_t i = 0; i < json_array_size(roots); i++) {
    const char *name = json_string_value(json_array_get(roots, i));
    uint32_t class = name ? map_find(&im->classes, name) : EX_NONE;
    if (class == EX_NONE)
      return bs_error(im->diags, place_of(im, "root_eclasses"), "json-egraph",
                      "root '%s' is not a class of the file",
                      name ? name : "?");
    bs_push(im->heap, &im->roots, class);
  }
  return true;
}

static bool
read_egraph(importer *im) {
  json_t *nodes = json_object_get(*im->root, "nodes"), *node;
  const char *id;
  if (!json_is_object(nodes))
    return bs_error(im->diags, im->span, "json-egraph",
                    "there is no object \"nodes\"");
  map_init(&im->nodes, im->heap, json_object_size(nodes));
  map_init(&im->classes, im->heap, json_object_size(nodes));
  json_object_foreach(nodes, id, node) {
    if (!read_node(im, id, node))
      return false;
  }
  json_object_foreach(nodes, id, node) {
    if (!read_children(im, id, node))
      return false;
  }
  bs_push(im->heap, &im->kid_first, im->kids.len);
  return read_roots(im);
}

/* Copies names into `block`, where item i gets index place[i]. */
static const char **
copy_names(bs_heap *heap, const name_map *m, const uint32_t *place,
           char **block) {
  const char **names = EX_NEW(heap, const char *, m->names.len);
  for (uint32_t i = 0; i < m->names.len; i++) {
    size_t size = strlen(m->names.data[i]) + 1;
    memcpy(*block, m->names.data[i], size);
    names[place ? place[i] : i] = *block;
    *block += size;
  }
  return names;
}

static size_t
names_size(const name_map *m) {
  size_t size = 0;
  for (uint32_t i = 0; i < m->names.len; i++)
    size += strlen(m->names.data[i]) + 1;
  return size;
}

static void
finish(importer *im, ex_problem *out) {
  ex_draft draft = {.n_classes = im->classes.names.len,
                    .n_nodes = im->nodes.names.len,
                    .n_roots = im->roots.len,
                    .class_of = im->class_of.data,
                    .cost = im->cost.data,
                    .kid_first = im->kid_first.data,
                    .kids = im->kids.data,
                    .roots = im->roots.data};
  uint32_t *place = EX_NEW(im->heap, uint32_t, draft.n_nodes);
  ex_problem_build(im->heap, &draft, place, out);
  out->names =
      bs_alloc(im->heap, names_size(&im->nodes) + names_size(&im->classes));
  char *block = out->names;
  out->node_names = copy_names(im->heap, &im->nodes, place, &block);
  out->class_names = copy_names(im->heap, &im->classes, NULL, &block);
  bs_free(im->heap, place);
}

static void
importer_done(importer *im) {
  bs_vec_done(im->heap, &im->class_of);
  bs_vec_done(im->heap, &im->kid_first);
  bs_vec_done(im->heap, &im->kids);
  bs_vec_done(im->heap, &im->roots);
  bs_vec_done(im->heap, &im->cost);
  map_done(&im->nodes);
  map_done(&im->classes);
  release_json(im->root);
}

bool
ex_import_json(bs_heap *heap, bs_diags *diags, uint32_t source,
               ex_problem *out) {
  importer im = {.heap = heap, .diags = diags, .span = {source, 0, 0}};
  im.nodes.heap = im.classes.heap = heap;
  *out = (ex_problem){.heap = heap};
  bool ok = load(&im, source) && read_egraph(&im);
  if (ok)
    finish(&im, out);
  importer_done(&im);
  return ok;
}

#else

bool
ex_import_json(bs_heap *heap, bs_diags *diags, uint32_t source,
               ex_problem *out) {
  *out = (ex_problem){.heap = heap};
  bs_error(diags, (bs_span){source, 0, 0}, "no-jansson",
           "this build cannot read e-graphs in JSON");
  bs_hint(diags, "build with jansson (-Djansson=enabled)");
  return false;
}

#endif
