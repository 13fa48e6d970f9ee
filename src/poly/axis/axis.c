/* SPDX-License-Identifier: MIT */
/* axis.c - the table of axes and the transforms of its order.
 *
 * Every transform first checks all of its rules, then appends axes and edits
 * `order` and `unmoved` alike, so that a refusal leaves the table as it was. An
 * axis made of others inherits the strongest of their dependences: both parts
 * of a split carry what the whole carried, a merged axis what any part did. */
#include "poly/axis/axis.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *const po_axis_type_names[PO_AXIS_TYPES] = {
    "Original", "BlockOuter", "BlockInner", "TileOuter", "TileInner", "Merged"};

void
po_axes_init(po_axes *t, bs_arena *arena) {
  *t = (po_axes){.arena = arena};
}

void
po_axes_done(po_axes *t) {
  bs_heap *heap = t->arena->heap;
  bs_vec_done(heap, &t->list);
  bs_vec_done(heap, &t->order);
  bs_vec_done(heap, &t->unmoved);
  bs_vec_done(heap, &t->log);
}

void
po_axes_copy(po_axes *t, const po_axes *from, bs_arena *arena) {
  assert(t != from && from->order.len == from->unmoved.len);
  po_axes_init(t, arena);
  t->strict = from->strict;
  for (uint32_t k = 0; k < from->list.len; k++)
    bs_push(arena->heap, &t->list, from->list.data[k]);
  for (uint32_t k = 0; k < from->order.len; k++) {
    bs_push(arena->heap, &t->order, from->order.data[k]);
    bs_push(arena->heap, &t->unmoved, from->unmoved.data[k]);
  }
  for (uint32_t k = 0; k < from->log.len; k++)
    bs_push(arena->heap, &t->log, from->log.data[k]);
}

void
po_axes_own_texts(po_axes *t) {
  for (uint32_t k = 0; k < t->list.len; k++) {
    po_axis *a = &t->list.data[k];
    a->name = bs_arena_strdup(t->arena, a->name);
    a->size = bs_arena_strdup(t->arena, a->size);
    a->from = bs_arena_copy(t->arena, a->from, a->n_from * sizeof *a->from);
  }
  bs_clear(&t->log);
}

bool
po_axis_refuse(po_axes *t, const char *rule, const char *format, ...) {
  assert(rule && format);
  char text[512];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  t->rule = rule;
  t->why = bs_arena_strdup(t->arena, text);
  return false;
}

const po_axis *
po_axis_at(const po_axes *t, uint32_t id) {
  assert(id < t->list.len);
  return &t->list.data[id];
}

bool
po_axis_place(const po_axes *t, uint32_t id, uint32_t *place) {
  assert(t->order.len == t->unmoved.len);
  for (uint32_t k = 0; k < t->order.len; k++)
    if (t->order.data[k] == id) {
      *place = k;
      return true;
    }
  return false;
}

static bool
has_moved(const po_axes *t, uint32_t id) {
  uint32_t place;
  return po_axis_place(t, id, &place) && t->unmoved.data[place] != id;
}

bool
po_axis_is_split(const po_axis *axis) {
  return axis->type != PO_AXIS_ORIGINAL && axis->type != PO_AXIS_MERGED;
}

bool
po_axis_comes_from(const po_axes *t, uint32_t id, uint32_t ancestor) {
  assert(id < t->list.len && t->list.len <= PO_MAX_AXES);
  /* Axes are made of older ones: going down the ids meets each once. */
  bool seen[PO_MAX_AXES] = {0};
  seen[id] = true;
  for (uint32_t k = id + 1; k-- > 0;) {
    const po_axis *a = po_axis_at(t, k);
    if (!seen[k])
      continue;
    if (k == ancestor)
      return true;
    for (uint32_t i = 0; i < a->n_from; i++) {
      assert(a->from[i] < k);
      seen[a->from[i]] = true;
    }
  }
  return false;
}

/* ---- making axes ---- */

static bool
name_is_taken(const po_axes *t, const char *name) {
  for (uint32_t k = 0; k < t->list.len; k++)
    if (!strcmp(t->list.data[k].name, name))
      return true;
  return false;
}

/* The wish, or followed by _1, _2, ... where an axis has that name. */
static const char *
fresh_name(const po_axes *t, const char *wish) {
  const char *name = wish;
  for (uint32_t k = 1; name_is_taken(t, name); k++)
    name = bs_arena_printf(t->arena, "%s_%" PRIu32, wish, k);
  return name;
}

static bool
has_room(po_axes *t, uint32_t n) {
  return t->list.len + n <= PO_MAX_AXES ||
         po_axis_refuse(t, "limit", "there are already %" PRIu32 " axes",
                        t->list.len);
}

static bool
is_current(po_axes *t, uint32_t id, const char *step) {
  uint32_t place;
  if (id >= t->list.len)
    return po_axis_refuse(t, "axis", "%s: there is no axis %" PRIu32, step, id);
  return po_axis_place(t, id, &place) ||
         po_axis_refuse(t, "axis", "%s: %s has been replaced by others", step,
                        po_axis_at(t, id)->name);
}

static uint32_t
append(po_axes *t, po_axis axis) {
  assert(t->list.len < PO_MAX_AXES && axis.value >= 1);
  axis.id = t->list.len;
  axis.name = fresh_name(t, axis.name);
  axis.from =
      bs_arena_copy(t->arena, axis.from, axis.n_from * sizeof(uint32_t));
  bs_push(t->arena->heap, &t->list, axis);
  return axis.id;
}

uint32_t
po_axis_add(po_axes *t, const char *name, const char *size, int64_t value,
            po_axis_order order) {
  assert(order <= PO_AXIS_SERIAL);
  if (!has_room(t, 1))
    return PO_NO_AXIS;
  if (value < 1) {
    po_axis_refuse(t, "size", "%s: a size of %" PRId64 " is not positive", name,
                   value);
    return PO_NO_AXIS;
  }
  uint32_t id = append(
      t, (po_axis){.name = bs_arena_strdup(t->arena, name),
                   .size = size ? bs_arena_strdup(t->arena, size)
                                : bs_arena_printf(t->arena, "%" PRId64, value),
                   .value = value,
                   .tail = value,
                   .order = order,
                   .split_pair = PO_NO_AXIS});
  bs_push(t->arena->heap, &t->order, id);
  bs_push(t->arena->heap, &t->unmoved, id);
  return id;
}

/* What an axis was made of has smaller ids, and its pair the next or the one
 * before: going down the ids meets all that is needed. */
static void
mark_needed(const po_axes *from, uint32_t axis, bool *needed) {
  uint32_t last = axis;
  needed[axis] = true;
  if (po_axis_at(from, axis)->split_pair != PO_NO_AXIS) {
    needed[po_axis_at(from, axis)->split_pair] = true;
    last = axis + 1;
  }
  for (uint32_t k = last + 1; k-- > 0;) {
    if (k >= from->list.len || !needed[k])
      continue;
    const po_axis *a = po_axis_at(from, k);
    for (uint32_t i = 0; i < a->n_from; i++) {
      uint32_t pair = po_axis_at(from, a->from[i])->split_pair;
      needed[a->from[i]] = true;
      if (pair != PO_NO_AXIS)
        needed[pair] = true;
    }
  }
}

uint32_t
po_axes_import(po_axes *t, const po_axes *from, uint32_t axis,
               uint32_t map[PO_MAX_AXES]) {
  bool needed[PO_MAX_AXES] = {0};
  assert(t != from && axis < from->list.len);
  uint32_t first = t->list.len;
  mark_needed(from, axis, needed);
  for (uint32_t k = 0; k < from->list.len; k++) {
    if (!needed[k] || map[k] != PO_NO_AXIS)
      continue;
    po_axis a = *po_axis_at(from, k);
    uint32_t ids[PO_MAX_AXES];
    for (uint32_t i = 0; i < a.n_from; i++)
      ids[i] = map[a.from[i]];
    a.from = ids;
    a.name = bs_arena_strdup(t->arena, a.name);
    a.size = bs_arena_strdup(t->arena, a.size);
    map[k] = append(t, a);
  }
  for (uint32_t k = first; k < t->list.len; k++)
    if (t->list.data[k].split_pair != PO_NO_AXIS)
      t->list.data[k].split_pair = map[t->list.data[k].split_pair];
  return map[axis];
}

void
po_axis_make_current(po_axes *t, uint32_t id) {
  assert(id < t->list.len);
  uint32_t place;
  if (po_axis_place(t, id, &place))
    return;
  bs_push(t->arena->heap, &t->order, id);
  bs_push(t->arena->heap, &t->unmoved, id);
}

static void
log_transform(po_axes *t, po_transform_kind kind, const uint32_t *from,
              uint32_t n_from, const uint32_t *to, uint32_t n_to) {
  po_transform made = {.kind = kind,
                       .from =
                           bs_arena_copy(t->arena, from, n_from * sizeof *from),
                       .n_from = n_from,
                       .to = bs_arena_copy(t->arena, to, n_to * sizeof *to),
                       .n_to = n_to};
  bs_push(t->arena->heap, &t->log, made);
}

/* ---- splits ---- */

/* Puts `outer` and the axis after it in the place of `axis`. */
static void
replace_by_pair(uint32_t *ids, uint32_t n, uint32_t axis, uint32_t outer) {
  uint32_t k = n - 1;
  while (k > 0 && ids[k - 1] != axis) {
    ids[k] = ids[k - 1];
    k--;
  }
  ids[k] = outer + 1;
  ids[k - 1] = outer;
}

static bool
may_split(po_axes *t, uint32_t id, int64_t inner, const char *step) {
  if (!is_current(t, id, step) || !has_room(t, 2))
    return false;
  const po_axis *axis = po_axis_at(t, id);
  if (inner < 1 || inner > axis->value)
    return po_axis_refuse(t, "R1",
                          "%s: %" PRId64 " is not a size of a part of %s, "
                          "which has %" PRId64,
                          step, inner, axis->name, axis->value);
  return true;
}

static uint32_t
split(po_axes *t, uint32_t id, int64_t inner, const char *suffixes,
      po_axis_type outer_type) {
  const po_axis whole = *po_axis_at(t, id);
  bs_heap *heap = t->arena->heap;
  int64_t outer = whole.value / inner + (whole.value % inner != 0);
  uint32_t first = t->list.len;
  const char *small =
      fresh_name(t, bs_arena_printf(t->arena, "%s%c", whole.name, suffixes[1]));
  po_axis made = {
      .name = bs_arena_printf(t->arena, "%s%c", whole.name, suffixes[0]),
      .size =
          bs_arena_printf(t->arena, "Ceiling(%s/%s_size)", whole.size, small),
      .value = outer,
      .tail = outer,
      .type = outer_type,
      .order = whole.order,
      .from = &id,
      .n_from = 1,
      .split_pair = first + 1};
  append(t, made);
  made.name = small;
  made.size = bs_arena_printf(t->arena, "%s_size", small);
  made.value = inner;
  made.tail = whole.value - (outer - 1) * inner;
  made.type = outer_type + 1;
  made.split_pair = first;
  append(t, made);
  bs_push(heap, &t->order, 0);
  bs_push(heap, &t->unmoved, 0);
  replace_by_pair(t->order.data, t->order.len, id, first);
  replace_by_pair(t->unmoved.data, t->unmoved.len, id, first);
  log_transform(t, PO_SPLIT_AXIS, &id, 1, (uint32_t[]){first, first + 1}, 2);
  return first;
}

uint32_t
po_axis_tile_split(po_axes *t, uint32_t id, int64_t inner) {
  return may_split(t, id, inner, "tile split")
             ? split(t, id, inner, "Tt", PO_AXIS_TILE_OUTER)
             : PO_NO_AXIS;
}

/* The block-outer axis there is, be it current or not. */
static const po_axis *
find_block(const po_axes *t) {
  for (uint32_t k = 0; k < t->list.len; k++)
    if (t->list.data[k].type == PO_AXIS_BLOCK_OUTER)
      return &t->list.data[k];
  return NULL;
}

uint32_t
po_axis_block_split(po_axes *t, uint32_t id, int64_t inner) {
  const po_axis *block = find_block(t);
  if (!may_split(t, id, inner, "block split"))
    return PO_NO_AXIS;
  const po_axis *axis = po_axis_at(t, id);
  if (block && !t->blocks_apart) {
    po_axis_refuse(t, "R2",
                   "block split: %s would be a second block-outer axis beside "
                   "%s",
                   axis->name, block->name);
    return PO_NO_AXIS;
  }
  if (axis->order != PO_AXIS_PARALLEL) {
    po_axis_refuse(
        t, "R8", "block split: iterations of %s depend on each other (%s)",
        axis->name,
        axis->order == PO_AXIS_REDUCTION ? "a reduction" : "not a reduction");
    return PO_NO_AXIS;
  }
  return split(t, id, inner, "Bb", PO_AXIS_BLOCK_OUTER);
}

int64_t
po_axis_block_size(const po_axes *t, uint32_t id, int64_t cores) {
  assert(id < t->list.len && cores >= 1);
  int64_t size = po_axis_at(t, id)->value;
  return cores < 1 ? size : size / cores + (size % cores != 0);
}

/* ---- merge ---- */

/* R4 for one axis of a merge. */
static bool
may_join(po_axes *t, const uint32_t *ids, uint32_t n, uint32_t k) {
  const po_axis *axis = po_axis_at(t, ids[k]);
  if (!po_axis_is_split(axis))
    return true;
  if (has_moved(t, ids[k]))
    return po_axis_refuse(t, "R4",
                          "merge: %s was made by a split and then reordered "
                          "(refused by rule R4; legal by dependence)",
                          axis->name);
  for (uint32_t i = 0; t->strict && i < n; i++)
    if (has_moved(t, ids[i]))
      return po_axis_refuse(
          t, "R4",
          "merge: %s was made by a split and %s was reordered (refused by "
          "strict rule R4; legal by dependence)",
          axis->name, po_axis_at(t, ids[i])->name);
  return true;
}

static bool
may_merge(po_axes *t, const uint32_t *ids, uint32_t n) {
  uint32_t first = 0, place = 0;
  if (n < 2)
    return po_axis_refuse(t, "R3", "merge: needs two or more axes");
  for (uint32_t k = 0; k < n; k++) {
    if (!is_current(t, ids[k], "merge"))
      return false;
    po_axis_place(t, ids[k], &place);
    if (!k)
      first = place;
    else if (place != first + k)
      return po_axis_refuse(t, "R3", "merge: %s does not follow %s",
                            po_axis_at(t, ids[k])->name,
                            po_axis_at(t, ids[k - 1])->name);
  }
  for (uint32_t k = 0; k < n; k++)
    if (!may_join(t, ids, n, k))
      return false;
  return has_room(t, 1);
}

/* Puts `merged` in the place of the first of ids, and takes out the rest. */
static uint32_t
replace_by_one(uint32_t *list, uint32_t len, const uint32_t *ids, uint32_t n,
               uint32_t merged) {
  uint32_t kept = 0;
  for (uint32_t k = 0; k < len; k++) {
    uint32_t i = 0;
    while (i < n && ids[i] != list[k])
      i++;
    if (i == n)
      list[kept++] = list[k];
    else if (!i)
      list[kept++] = merged;
  }
  return kept;
}

uint32_t
po_axis_merge(po_axes *t, const uint32_t *ids, uint32_t n) {
  if (!may_merge(t, ids, n))
    return PO_NO_AXIS;
  assert(n);
  const po_axis *first = po_axis_at(t, ids[0]);
  po_axis made = *first;
  for (uint32_t k = 1; k < n; k++) {
    const po_axis *a = po_axis_at(t, ids[k]);
    if (__builtin_mul_overflow(made.value, a->value, &made.value)) {
      po_axis_refuse(t, "size", "merge: the size is beyond 64 bits");
      return PO_NO_AXIS;
    }
    made.name = bs_arena_printf(t->arena, "%s%s", made.name, a->name);
    made.size = bs_arena_printf(t->arena, "%s*%s", made.size, a->size);
    made.order = a->order > made.order ? a->order : made.order;
  }
  made.tail = made.value;
  made.type = PO_AXIS_MERGED;
  made.from = ids;
  made.n_from = n;
  made.split_pair = PO_NO_AXIS;
  uint32_t id = append(t, made);
  replace_by_one(t->unmoved.data, t->unmoved.len, ids, n, id);
  t->order.len = replace_by_one(t->order.data, t->order.len, ids, n, id);
  t->unmoved.len = t->order.len;
  log_transform(t, PO_MERGE_AXES, ids, n, &id, 1);
  return id;
}

/* ---- reorder ---- */

static bool
is_permutation(po_axes *t, const uint32_t *ids, uint32_t n) {
  bool seen[PO_MAX_AXES] = {0};
  if (n != t->order.len)
    return po_axis_refuse(t, "axis",
                          "reorder: there are %" PRIu32 " axes, not %" PRIu32,
                          t->order.len, n);
  for (uint32_t k = 0; k < n; k++) {
    if (!is_current(t, ids[k], "reorder"))
      return false;
    if (seen[ids[k]])
      return po_axis_refuse(t, "axis", "reorder: %s is listed twice",
                            po_axis_at(t, ids[k])->name);
    seen[ids[k]] = true;
  }
  return true;
}

/* A dependence is carried by the outermost axis along which it moves.  It
 * keeps its direction as long as that axis stays outside of those inside it;
 * an axis that carries none but reductions may go anywhere. */
static bool
keeps_order(po_axes *t, const uint32_t *ids, uint32_t n) {
  for (uint32_t k = 0; k < n; k++)
    for (uint32_t i = 0; i < k; i++) {
      uint32_t outer = 0, inner = 0;
      po_axis_place(t, ids[k], &outer);
      po_axis_place(t, ids[i], &inner);
      const po_axis *a = po_axis_at(t, ids[k]);
      if (outer < inner && a->order == PO_AXIS_SERIAL)
        return po_axis_refuse(t, "R8",
                              "reorder: %s carries a dependence and cannot go "
                              "inside of %s",
                              a->name, po_axis_at(t, ids[i])->name);
    }
  return true;
}

bool
po_axis_reorder(po_axes *t, const uint32_t *ids, uint32_t n) {
  if (!is_permutation(t, ids, n) || !keeps_order(t, ids, n))
    return false;
  assert(n == t->order.len);
  log_transform(t, PO_REORDER_AXES, t->order.data, n, ids, n);
  if (n)
    memmove(t->order.data, ids, n * sizeof *ids);
  return true;
}
