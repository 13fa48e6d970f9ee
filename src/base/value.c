/* SPDX-License-Identifier: MIT */
/* value.c - the table of interned values.
 *
 * Values stand in one array in order of first use.  An open-addressing table
 * (linear probing, at most half full) maps the XXH3 of a value's content to
 * its id; small integers have a direct table.  Texts of symbols live in an
 * arena, so their addresses never change; items of lists live in one pool.
 *
 * Invariants: (1) equal content, equal id; (2) a list's items have smaller
 * ids than the list; (3) room is made before anything is changed, so that an
 * unwinding allocation leaves the table as it was. */
#include "base/value.h"
#include "base/arena.h"
#include "base/hash.h"
#include "base/vec.h"
#include <assert.h>
#include <string.h>

typedef struct entry {
  uint32_t kind;
  uint32_t len; /* bytes of a symbol, items of a list */
  union {
    int64_t integer;
    uint64_t bits; /* of a real */
    const char *text;
    uint32_t first; /* of a list: index into the pool */
  } as;
} entry;

typedef struct slot {
  uint32_t id; /* 0 = free */
  uint32_t hash;
} slot;

enum { SMALL_LOW = -1, SMALL_HIGH = 1024, FIRST_SLOTS = 1 << 8, FEW = 16 };

struct bs_values {
  bs_heap *heap;
  bs_arena texts;
  BS_VEC(entry) entries; /* entries.data[0] is no value */
  BS_VEC(bs_value) pool;
  BS_VEC(bs_value) scratch; /* of bs_ints */
  slot *slots;
  uint64_t mask; /* slots - 1 */
  uint32_t small[SMALL_HIGH - SMALL_LOW + 1];
};

/* What is looked up: the head of an entry and the bytes behind it. */
typedef struct key {
  bs_kind kind;
  uint32_t len;
  uint64_t bits;     /* of a number */
  const void *bytes; /* text or items; NULL for a number */
  size_t size;
} key;

bs_values *
bs_values_new(bs_heap *heap) {
  bs_values *values = bs_calloc(heap, 1, sizeof *values);
  values->heap = heap;
  bs_arena_init(&values->texts, heap);
  values->slots = bs_calloc(heap, FIRST_SLOTS, sizeof *values->slots);
  values->mask = FIRST_SLOTS - 1;
  bs_push(heap, &values->entries, (entry){.kind = BS_KIND_NIL});
  bs_reserve(heap, &values->pool, 1);
  return values;
}

static uint32_t
hash_of(const key *k) {
  uint64_t hash =
      k->bytes ? bs_hash(k->bytes, k->size) : bs_hash(&k->bits, sizeof k->bits);
  hash ^= (uint64_t)k->kind * 0x9e3779b97f4a7c15u;
  return (uint32_t)(hash ^ hash >> 32);
}

static bool
matches(const bs_values *values, const entry *e, const key *k) {
  if (e->kind != k->kind || e->len != k->len)
    return false;
  if (k->kind == BS_KIND_SYM)
    return !memcmp(e->as.text, k->bytes, k->size);
  if (k->kind == BS_KIND_LIST)
    return !k->size ||
           !memcmp(values->pool.data + e->as.first, k->bytes, k->size);
  return e->as.bits == k->bits;
}

static uint32_t
find(const bs_values *values, const key *k, uint32_t hash) {
  for (uint64_t at = hash & values->mask; values->slots[at].id;
       at = (at + 1) & values->mask) {
    const slot *s = &values->slots[at];
    if (s->hash == hash && matches(values, &values->entries.data[s->id], k))
      return s->id;
  }
  return 0;
}

static void
place(slot *slots, uint64_t mask, slot s) {
  /* 0 says that a slot is free. */
  assert(s.id && !(mask & (mask + 1)));
  uint64_t at = s.hash & mask;
  while (slots[at].id)
    at = (at + 1) & mask;
  slots[at] = s;
}

/* What would be looked up to find an entry. */
static key
key_of(const bs_values *values, const entry *e) {
  if (e->kind == BS_KIND_SYM)
    return (key){BS_KIND_SYM, e->len, 0, e->as.text, e->len};
  if (e->kind == BS_KIND_LIST)
    return (key){BS_KIND_LIST, e->len, 0,
                 e->len ? (const void *)(values->pool.data + e->as.first) : "",
                 e->len * sizeof(bs_value)};
  return (key){.kind = (bs_kind)e->kind, .bits = e->as.bits};
}

/* The slots of all entries, in the order in which these were made. */
static void
place_all(bs_values *values, uint64_t count) {
  values->mask = count - 1;
  memset(values->slots, 0, count * sizeof *values->slots);
  for (uint32_t id = 1; id < values->entries.len; id++) {
    key k = key_of(values, &values->entries.data[id]);
    place(values->slots, values->mask, (slot){id, hash_of(&k)});
  }
}

/* As few slots as do. */
static uint64_t
slots_for(const bs_values *values) {
  uint64_t count = FIRST_SLOTS;
  while (2 * (uint64_t)values->entries.len >= count)
    count *= 2;
  return count;
}

static void
double_slots(bs_values *values) {
  uint64_t count = 2 * (values->mask + 1);
  slot *slots = bs_calloc(values->heap, count, sizeof *slots);
  bs_free(values->heap, values->slots);
  values->slots = slots;
  place_all(values, count);
}

static const char *
keep_text(bs_values *values, const char *text, size_t size) {
  char *copy = bs_arena_alloc(&values->texts, size + 1);
  memcpy(copy, text, size);
  copy[size] = '\0';
  return copy;
}

/* Copies items behind the pool; they may stand in the pool themselves. */
static uint32_t
keep_items(bs_values *values, const bs_value *items, uint32_t n) {
  uintptr_t pool = (uintptr_t)values->pool.data;
  uintptr_t offset = (uintptr_t)items - pool;
  bool inside = n && offset < values->pool.len * sizeof *items;
  bs_reserve(values->heap, &values->pool, (uint64_t)values->pool.len + n);
  if (inside)
    items = values->pool.data + offset / sizeof *items;
  uint32_t first = values->pool.len;
  if (n)
    memcpy(values->pool.data + first, items, n * sizeof *items);
  assert((uint64_t)first + n <= values->pool.cap);
  return first;
}

static bs_value
intern(bs_values *values, const key *k) {
  uint32_t hash = hash_of(k);
  uint32_t id = find(values, k, hash);
  if (id)
    return (bs_value){id};
  bs_reserve(values->heap, &values->entries, (uint64_t)values->entries.len + 1);
  if (2 * (uint64_t)values->entries.len > values->mask)
    double_slots(values);
  entry e = {.kind = k->kind, .len = k->len};
  if (k->kind == BS_KIND_SYM) {
    e.as.text = keep_text(values, k->bytes, k->size);
  } else if (k->kind == BS_KIND_LIST) {
    e.as.first = keep_items(values, k->bytes, k->len);
    values->pool.len += k->len;
  } else {
    e.as.bits = k->bits;
  }
  id = values->entries.len++;
  values->entries.data[id] = e;
  place(values->slots, values->mask, (slot){id, hash});
  return (bs_value){id};
}

static void
drop(bs_values *values, uint32_t id) {
  const entry *e = &values->entries.data[id];
  key k = key_of(values, e);
  uint64_t at = hash_of(&k) & values->mask;
  while (values->slots[at].id != id)
    at = (at + 1) & values->mask;
  values->slots[at] = (slot){0};
  if (e->kind == BS_KIND_INT && e->as.integer >= SMALL_LOW &&
      e->as.integer <= SMALL_HIGH)
    values->small[e->as.integer - SMALL_LOW] = 0;
}

/* The last one leaves first: no other that stays was placed behind it. */
void
bs_values_forget(bs_values *values, uint32_t count) {
  uint32_t len = values->entries.len, kept = count + 1;
  assert(count < len);
  for (uint32_t id = len; id > kept; id--) {
    const entry *e = &values->entries.data[id - 1];
    drop(values, id - 1);
    if (e->kind == BS_KIND_LIST)
      values->pool.len = e->as.first;
  }
  values->entries.len = kept;
  for (uint32_t id = kept; id < len; id++) {
    entry e = values->entries.data[id];
    if (e.kind != BS_KIND_SYM)
      continue;
    key k = key_of(values, &e);
    values->entries.data[values->entries.len] = e;
    place(values->slots, values->mask,
          (slot){values->entries.len++, hash_of(&k)});
  }
  if (FEW * (uint64_t)values->entries.len < values->mask)
    place_all(values, slots_for(values));
}

bs_value
bs_int(bs_values *values, int64_t integer) {
  key k = {.kind = BS_KIND_INT, .bits = (uint64_t)integer};
  if (integer < SMALL_LOW || integer > SMALL_HIGH)
    return intern(values, &k);
  uint32_t *small = &values->small[integer - SMALL_LOW];
  if (!*small)
    *small = intern(values, &k).i;
  return (bs_value){*small};
}

bs_value
bs_real(bs_values *values, double real) {
  key k = {.kind = BS_KIND_REAL};
  memcpy(&k.bits, &real, sizeof real);
  return intern(values, &k);
}

bs_value
bs_bool(bs_values *values, bool boolean) {
  key k = {.kind = BS_KIND_BOOL, .bits = boolean};
  return intern(values, &k);
}

bs_value
bs_symn(bs_values *values, const char *name, size_t len) {
  assert(name || !len);
  if (len >= UINT32_MAX)
    bs_out_of_memory(values->heap);
  key k = {BS_KIND_SYM, (uint32_t)len, 0, len ? name : "", len};
  return intern(values, &k);
}

bs_value
bs_sym(bs_values *values, const char *name) {
  return bs_symn(values, name, strlen(name));
}

bs_value
bs_list(bs_values *values, const bs_value *items, uint32_t n) {
  assert(items || !n);
  key k = {BS_KIND_LIST, n, 0, n ? (const void *)items : "", n * sizeof *items};
  return intern(values, &k);
}

bs_value
bs_ints(bs_values *values, const int64_t *items, uint32_t n) {
  assert(items || !n);
  bs_reserve(values->heap, &values->scratch, n);
  for (uint32_t i = 0; i < n; i++)
    values->scratch.data[i] = bs_int(values, items[i]);
  return bs_list(values, values->scratch.data, n);
}

static const entry *
entry_of(const bs_values *values, bs_value v) {
  return &values->entries.data[v.i < values->entries.len ? v.i : 0];
}

bs_kind
bs_kind_of(const bs_values *values, bs_value v) {
  return (bs_kind)entry_of(values, v)->kind;
}

int64_t
bs_as_int(const bs_values *values, bs_value v) {
  const entry *e = entry_of(values, v);
  return e->kind == BS_KIND_INT ? e->as.integer : 0;
}

double
bs_as_real(const bs_values *values, bs_value v) {
  const entry *e = entry_of(values, v);
  double real = 0;
  if (e->kind == BS_KIND_REAL)
    memcpy(&real, &e->as.bits, sizeof real);
  return e->kind == BS_KIND_INT ? (double)e->as.integer : real;
}

bool
bs_as_bool(const bs_values *values, bs_value v) {
  const entry *e = entry_of(values, v);
  return e->kind == BS_KIND_BOOL && e->as.bits;
}

const char *
bs_as_sym(const bs_values *values, bs_value v) {
  const entry *e = entry_of(values, v);
  return e->kind == BS_KIND_SYM ? e->as.text : "";
}

uint32_t
bs_sym_len(const bs_values *values, bs_value v) {
  const entry *e = entry_of(values, v);
  return e->kind == BS_KIND_SYM ? e->len : 0;
}

uint32_t
bs_len(const bs_values *values, bs_value list) {
  const entry *e = entry_of(values, list);
  return e->kind == BS_KIND_LIST ? e->len : 0;
}

const bs_value *
bs_items(const bs_values *values, bs_value list) {
  static const bs_value none[1];
  const entry *e = entry_of(values, list);
  bool some = e->kind == BS_KIND_LIST && e->len;
  return some ? values->pool.data + e->as.first : none;
}

bs_value
bs_item(const bs_values *values, bs_value list, uint32_t index) {
  return index < bs_len(values, list) ? bs_items(values, list)[index] : BS_NIL;
}

bool
bs_to_ints(const bs_values *values, bs_value list, int64_t *out, uint32_t max,
           uint32_t *len) {
  const entry *e = entry_of(values, list);
  if (e->kind != BS_KIND_LIST || e->len > max)
    return false;
  const bs_value *items = bs_items(values, list);
  for (uint32_t i = 0; i < e->len; i++) {
    const entry *item = entry_of(values, items[i]);
    if (item->kind != BS_KIND_INT)
      return false;
    out[i] = item->as.integer;
  }
  *len = e->len;
  return true;
}

uint32_t
bs_values_count(const bs_values *values) {
  return values->entries.len - 1;
}

static int
compare_integers(int64_t a, int64_t b) {
  return (a > b) - (a < b);
}

/* Maps the bits of a double to an integer of the same order (totalOrder). */
static int64_t
order_of_real(uint64_t bits) {
  int64_t i = (int64_t)bits;
  return i < 0 ? i ^ INT64_MAX : i;
}

static int
compare_texts(const entry *a, const entry *b) {
  uint32_t shorter = a->len < b->len ? a->len : b->len;
  int order = memcmp(a->as.text, b->as.text, shorter);
  return order ? order : compare_integers(a->len, b->len);
}

/* Neither is a list, or their kinds differ. */
static int
compare_atoms(const entry *a, const entry *b) {
  if (a->kind != b->kind)
    return compare_integers(a->kind, b->kind);
  if (a->kind == BS_KIND_SYM)
    return compare_texts(a, b);
  if (a->kind == BS_KIND_REAL)
    return compare_integers(order_of_real(a->as.bits),
                            order_of_real(b->as.bits));
  return compare_integers(a->as.integer, b->as.integer);
}

static uint32_t
common_prefix(const bs_values *values, const entry *a, const entry *b) {
  const bs_value *x = values->pool.data + a->as.first;
  const bs_value *y = values->pool.data + b->as.first;
  uint32_t i = 0;
  while (i < a->len && i < b->len && bs_same(x[i], y[i]))
    i++;
  return i;
}

/* By invariant 1 the first pair of different items decides, so descending
 * into that pair needs no way back. */
int
bs_value_compare(const bs_values *values, bs_value a, bs_value b) {
  while (!bs_same(a, b)) {
    const entry *x = entry_of(values, a), *y = entry_of(values, b);
    if (x->kind != BS_KIND_LIST || y->kind != BS_KIND_LIST)
      return compare_atoms(x, y);
    uint32_t i = common_prefix(values, x, y);
    if (i == x->len || i == y->len)
      return compare_integers(x->len, y->len);
    a = values->pool.data[x->as.first + i];
    b = values->pool.data[y->as.first + i];
  }
  return 0;
}
