/* SPDX-License-Identifier: MIT */
/* looked.c - what was in the shapes that were looked at; see looked.h. */
#include "prove/rule/looked.h"
#include "base/hash.h"
#include <assert.h>
#include <string.h>

/* --- what is noted -------------------------------------------------------- */

/* Variables in the place of an axis, and of a boundary. */
static void
note_axes(pv_looked *l, const eg_term_node *n) {
  const char *letters = gs_op_table[n->op].attrs;
  if (n->is_slot || n->attr.kind != EG_ATTR_LIST)
    return;
  for (uint32_t k = 0; k < n->attr.n && letters[k] && letters[k] != '*'; k++)
    if (n->attr.items[k].kind == EG_ATTR_SLOT && n->attr.items[k].slot < 64 &&
        (letters[k] == 'd' || letters[k] == 'g'))
      l->axis_slots |= (uint64_t)1 << n->attr.items[k].slot;
}

void
pv_looked_start(pv_looked *l, const bs_values *values, const rl_parts *parts) {
  *l = (pv_looked){.n_literals = parts->n_literals};
  for (uint32_t k = 0; k < parts->n_literals; k++)
    l->literals[k] = bs_as_real(values, parts->literals[k]);
  for (uint32_t k = 0; k < parts->n_parts; k++)
    for (uint32_t i = 0; i < parts->parts[k].n; i++)
      note_axes(l, &parts->parts[k].nodes[i]);
}

static void
note_side(pv_looked *l, double x) {
  for (uint32_t k = 0; k < l->n_literals; k++)
    l->sides[k] |= x < l->literals[k]   ? PV_BELOW
                   : x > l->literals[k] ? PV_ABOVE
                                        : PV_AT;
}

static uint32_t
bit(int64_t k) {
  return k >= 0 && k < 32 ? 1u << k : 0;
}

static void
note_type(pv_looked *l, const gs_type *t) {
  int64_t elements = gs_elements(t);
  l->ranks |= bit(t->rank);
  l->dtypes |= bit(t->dtype);
  for (uint32_t d = 0; d < t->rank; d++) {
    l->max_dim = t->dim[d] > l->max_dim ? t->dim[d] : l->max_dim;
    note_side(l, (double)t->dim[d]);
  }
  note_side(l, (double)elements);
  note_side(l, t->rank);
  l->max_elements = elements > l->max_elements ? elements : l->max_elements;
}

/* An operator with its parameters is a list, too. */
static void
note_value(pv_looked *l, const bs_values *values, bs_value v, bool axis) {
  bs_kind kind = bs_kind_of(values, v);
  gs_compute op;
  if (kind == BS_KIND_INT || kind == BS_KIND_REAL)
    note_side(l, bs_as_real(values, v));
  if (kind == BS_KIND_INT && axis)
    l->axes |= bit(bs_as_int(values, v));
  if (gs_compute_of(values, v, &op)) {
    l->operators |= (uint64_t)1 << op;
  } else if (kind == BS_KIND_LIST) {
    l->lengths |= bit(bs_len(values, v));
    note_side(l, bs_len(values, v));
  }
  for (uint32_t k = 0; kind == BS_KIND_LIST && k < bs_len(values, v); k++) {
    bs_value item = bs_item(values, v, k);
    bs_kind is = bs_kind_of(values, item);
    if (is == BS_KIND_INT || is == BS_KIND_REAL)
      note_side(l, bs_as_real(values, item));
  }
}

void
pv_looked_at(pv_looked *l, const gs_program *p, const gs_scope *scope,
             const uint32_t *slots, uint32_t n_slots) {
  assert(n_slots <= scope->vars.len);
  gs_type type;
  for (uint32_t k = 0; k < n_slots; k++) {
    if (slots[k] == UINT32_MAX)
      continue;
    if (scope->vars.data[k].sort != GS_SORT_CLASS) {
      note_value(l, p->ctx.values, (bs_value){slots[k]},
                 k < 64 && l->axis_slots >> k & 1);
    } else if (slots[k] < p->nodes.len) {
      gs_type_at(p, (gs_term){slots[k]}, &type);
      note_type(l, &type);
    }
  }
}

void
pv_looked_setting(pv_looked *l, int64_t value) {
  assert(l->n_settings <= PV_SETTINGS);
  for (uint32_t k = 0; k < l->n_settings; k++)
    if (l->settings[k] == value)
      return;
  if (l->n_settings < PV_SETTINGS)
    l->settings[l->n_settings++] = value;
}

/* --- texts ---------------------------------------------------------------- */

/* "0 to 4, 7" */
static void
put_bits(bs_text *out, const char *what, uint32_t bits) {
  const char *comma = "";
  if (!bits)
    return;
  bs_putf(out, "%s%s ", out->len ? "; " : "", what);
  for (uint32_t k = 0; k < 32; k++) {
    uint32_t first = k;
    if (!(bits >> k & 1))
      continue;
    while (k < 31 && bits >> (k + 1) & 1)
      k++;
    bs_putf(out, "%s%u", comma, first);
    if (k > first)
      bs_putf(out, "%s%u", k > first + 1 ? " to " : ", ", k);
    comma = ", ";
  }
}

static void
put_names(bs_text *out, const pv_looked *l) {
  const char *comma = "; dtypes ";
  for (uint32_t k = 0; k < GS_DTYPE_COUNT; k++)
    if (l->dtypes >> k & 1) {
      bs_putf(out, "%s%s", comma, gs_dtype_table[k].name);
      comma = " ";
    }
  if (l->operators)
    bs_putf(out, "; %d %s",
            BS_COUNTED(__builtin_popcountll(l->operators), "operator"));
}

static const char *
sides_name(uint8_t sides) {
  static const char *const names[] = {
      "never met", "below",           "at",           "below and at",
      "above",     "below and above", "at and above", "below, at and above"};
  return names[sides & 7];
}

static void
put_literals(bs_text *out, const pv_looked *l) {
  for (uint32_t k = 0; k < l->n_literals; k++) {
    bs_put(out, k ? ", " : "; numbers of the rule: ");
    bs_put_real(out, l->literals[k]);
    bs_putf(out, " (%s)", sides_name(l->sides[k]));
  }
}

void
pv_put_looked(bs_text *out, const pv_looked *l) {
  bs_text t;
  bs_text_init(&t, out->heap);
  put_bits(&t, "ranks", l->ranks);
  put_bits(&t, "axes", l->axes);
  put_bits(&t, "lists of length", l->lengths);
  bs_putf(&t, "; sizes to %lld; to %lld %s", (long long)l->max_dim,
          BS_COUNTED((long long)l->max_elements, "element"));
  put_names(&t, l);
  for (uint32_t k = 0; k < l->n_settings; k++)
    bs_putf(&t, "%s%lld", k ? ", " : "; parameters ",
            (long long)l->settings[k]);
  put_literals(&t, l);
  bs_put(out, bs_text_str(&t));
}

static void
json_bits(bs_json *j, const char *key, uint32_t bits) {
  bs_json_array(j, key);
  for (uint32_t k = 0; k < 32; k++)
    if (bits >> k & 1)
      bs_json_int(j, NULL, k);
  bs_json_end(j);
}

static void
json_names(bs_json *j, const pv_looked *l) {
  bs_json_array(j, "dtypes");
  for (uint32_t k = 0; k < GS_DTYPE_COUNT; k++)
    if (l->dtypes >> k & 1)
      bs_json_string(j, NULL, gs_dtype_table[k].name);
  bs_json_end(j);
  bs_json_array(j, "operators");
  for (uint32_t k = 0; k < GS_COMPUTE_COUNT; k++)
    if (l->operators >> k & 1)
      bs_json_string(j, NULL, gs_compute_table[k].name);
  bs_json_end(j);
}

void
pv_json_looked(bs_json *j, const pv_looked *l) {
  json_bits(j, "ranks", l->ranks);
  json_bits(j, "axes", l->axes);
  json_bits(j, "lengths", l->lengths);
  bs_json_int(j, "largest_size", l->max_dim);
  bs_json_int(j, "most_elements", l->max_elements);
  json_names(j, l);
  bs_json_array(j, "parameters");
  for (uint32_t k = 0; k < l->n_settings; k++)
    bs_json_int(j, NULL, l->settings[k]);
  bs_json_end(j);
  bs_json_array(j, "numbers");
  for (uint32_t k = 0; k < l->n_literals; k++) {
    bs_json_object(j, NULL);
    bs_json_real(j, "number", l->literals[k]);
    bs_json_string(j, "seen", sides_name(l->sides[k]));
    bs_json_end(j);
  }
  bs_json_end(j);
}
