/* SPDX-License-Identifier: MIT */
/* tensorize.c - a loop nest replaced by a call of an instruction.
 *
 * The sizes of the call are looked for among the extents of the nest: for each
 * choice that the instruction admits and whose result has as many elements as
 * some statement of the nest instances, the semantics are lowered and unified
 * with the nest (unify.h).  What was found is then checked as a call: strides
 * that the template takes, elements that exist, a result that no operand
 * shares, and values: whatever the nest read comes from the same writes, and
 * whatever read from the nest reads from the call. */
#include "poly/loops/affine.h"
#include "poly/loops/operand.h"
#include "poly/schedule/tensorize.h"
#include <assert.h>
#include <string.h>

enum { MOST_CHOICES = 20000, MOST_PATTERNS = 48 };

typedef po_tensorizing tensorizing;

/* ---- the pattern ---- */

/* A program over tensors of the operands' types, and the operands in it. */
static gs_program *
start_program(const tensorizing *t, gs_term *operands, gs_term *holes) {
  gs_program *source = gs_program_new(&t->p->ctx, t->p->target);
  for (uint32_t k = 0; k < t->instr->n_operands; k++) {
    const gs_operand *o = &t->instr->operands[k];
    gs_type flat = t->types[k];
    gs_fault fault = {0};
    flat.access = flat.rank;
    gs_term tensor = gs_add_tensor(source, o->name, &flat, o->span);
    bs_value split = bs_int(t->p->ctx.values, o->access);
    operands[k] =
        gs_add(source, GS_ACCESS, bs_list(t->p->ctx.values, &split, 1), &tensor,
               1, o->span, &fault);
    holes[o->slot] = operands[k];
  }
  return source;
}

static po_program *
lowered(const tensorizing *t, gs_program *source, gs_term term) {
  po_options options = {.plain = true, .like = t->p};
  gs_add_output(source, "result", term, BS_NOWHERE);
  return po_lower(source, t->p->target, &options);
}

/* { [x] -> [y] }: element x of an operand lies at y of its layout; kept. */
static isl_multi_aff *
layout_of(tensorizing *t, uint32_t k) {
  gs_term operands[PO_MOST_OPERANDS];
  gs_term *holes = BS_NEWS(&t->p->arena, gs_term, t->instr->scope.vars.len + 1);
  gs_program *source = start_program(t, operands, holes);
  gs_env env = {.values = t->p->ctx.values,
                .slots = t->slots,
                .n_slots = t->instr->scope.vars.len};
  gs_fault fault = {0};
  gs_term view = gs_skeleton_build(t->instr->operands[k].layout, source, &env,
                                   holes, &fault);
  if (!gs_term_ok(view))
    return NULL;
  gs_type_at(source, view, &t->shapes[k]);
  po_program *q = lowered(t, source, view);
  po_pool_reserve(&t->p->pool, 1);
  isl_map *all = NULL;
  for (uint32_t j = 0; q && j < q->stmts.len; j++) {
    const po_stmt *s = &q->stmts.data[j];
    if (s->n_exprs != 1 || s->exprs[0].kind != PO_READ)
      continue;
    isl_map *x =
        isl_map_from_pw_multi_aff(isl_pw_multi_aff_copy(s->exprs[0].index));
    isl_map *y = isl_map_from_pw_multi_aff(isl_pw_multi_aff_copy(s->write));
    x = isl_map_intersect_domain(x, isl_set_copy(s->domain));
    x = isl_map_apply_range(isl_map_reverse(x), y);
    x = isl_map_reset_tuple_id(x, isl_dim_in);
    x = isl_map_reset_tuple_id(x, isl_dim_out);
    all = all ? isl_map_union(all, x) : x;
  }
  isl_set *box = po_box(t->p->isl, t->types[k].dim, t->types[k].rank);
  isl_multi_aff *out = all ? po_one_piece(all, box) : NULL;
  isl_set_free(box);
  out = out ? po_keep_multi_aff(&t->p->pool, out) : NULL;
  po_free(q);
  return out;
}

/* " (r = 16, c = 16)" */
static const char *
sizes_text(const tensorizing *t) {
  bs_text text;
  bs_text_init(&text, t->p->ctx.heap);
  for (uint32_t k = 0; k < t->instr->scope.vars.len; k++)
    if (t->instr->scope.vars.data[k].sort == GS_SORT_INT)
      bs_putf(&text, "%s%s = %lld", text.len ? ", " : " (",
              t->instr->scope.vars.data[k].name,
              (long long)po_chosen_size(t, k));
  bs_put(&text, text.len ? ")" : "");
  const char *out = bs_arena_strdup(&t->p->arena, bs_text_str(&text));
  bs_text_done(&text);
  return out;
}

/* ---- the call ---- */

/* An operand as it was found; false where the template does not take it. */
static bool
place_operand(tensorizing *t, uint32_t k, po_operand *out) {
  const po_program *p = t->p;
  const po_place *at = &t->found->place[k];
  const gs_type *shape = &t->shapes[k];
  const char *name =
      k < t->instr->n_operands ? t->instr->operands[k].name : "the result";
  int64_t dense[GS_MAX_RANK];
  *out = (po_operand){.array = at->array, .rank = shape->rank};
  memcpy(out->dim, shape->dim, sizeof out->dim);
  po_strides(shape->dim, shape->rank, dense);
  for (uint32_t d = 0; d < shape->rank; d++) {
    out->stride[d] = shape->dim[d] > 1 ? at->stride[d] : dense[d];
    if (out->stride[d] < 0)
      return po_because(&t->why, 80, "dimension %u of %s runs backwards in %s",
                        d, name, p->arrays.data[at->array].name);
  }
  uint32_t stray = po_stray_dimension(po_mentioned_strides(t->instr, k),
                                      out->stride, out->dim, out->rank);
  if (stray < out->rank)
    return po_because(&t->why, 80,
                      "neighbours along dimension %u of %s lie %lld elements "
                      "apart in %s, and %s takes %lld only",
                      stray, name, (long long)out->stride[stray],
                      p->arrays.data[at->array].name, t->instr->name,
                      (long long)dense[stray]);
  if (!at->starts)
    return po_because(&t->why, 80,
                      "the semantics never use the first element "
                      "of %s",
                      name);
  return true;
}

/* By growing strides, each is beyond what those before reach. */
static bool
has_places_of_its_own(const po_operand *o) {
  int64_t reach = 0, last = -1;
  for (uint32_t n = 0; n < o->rank; n++) {
    uint32_t best = o->rank;
    for (uint32_t d = 0; d < o->rank; d++)
      if (o->dim[d] > 1 && (o->stride[d] > last) &&
          (best == o->rank || o->stride[d] < o->stride[best]))
        best = d;
    if (best == o->rank)
      break;
    for (uint32_t d = 0; d < o->rank; d++)
      if (d != best && o->dim[d] > 1 && o->stride[d] == o->stride[best])
        return false;
    if (o->stride[best] <= reach)
      return false;
    last = o->stride[best];
    reach += o->stride[best] * (o->dim[best] - 1);
  }
  return true;
}

static const char *const *
loop_names(po_program *p, uint32_t loop, uint32_t n) {
  uint32_t way[PO_MAX_DEPTH];
  const char **names = BS_NEWS(&p->arena, const char *, n + 1);
  po_nest_loops(p, loop, way);
  for (uint32_t k = 0; k < n; k++)
    names[k] = bs_arena_strdup(&p->arena, po_node(p, way[k])->name);
  return names;
}

/* The statement, without a place in the nest. */
static bool
make_call(tensorizing *t, po_stmt *out) {
  po_program *p = t->p;
  uint32_t n = t->instr->n_operands, depth = t->nest.n_outer;
  po_operand *operands = BS_NEWS(&p->arena, po_operand, n + 1);
  const po_stmt *like = &p->stmts.data[t->nest.stmts[t->nest.n - 1].stmt];
  *out = (po_stmt){.kind = PO_CALL,
                   .name = po_fresh_stmt_name(p, t->instr->name),
                   .n_iters = depth,
                   .n_outer = depth,
                   .iters = loop_names(p, t->nest.top, depth),
                   .instr = t->instr,
                   .slots = t->slots,
                   .operands = operands,
                   .term = like->term,
                   .span = like->span,
                   .leaf = PO_NO_NODE};
  isl_id *id = isl_id_alloc(p->isl, out->name, NULL);
  po_pool_reserve(&p->pool, n + 3);
  out->domain =
      po_keep_set(&p->pool, isl_set_set_tuple_id(isl_set_copy(t->nest.outer),
                                                 isl_id_copy(id)));
  out->time = po_keep_multi_aff(
      &p->pool, isl_multi_aff_set_tuple_id(po_identity(p->isl, depth),
                                           isl_dim_in, isl_id_copy(id)));
  bool ok = true;
  for (uint32_t k = 0; ok && k <= n; k++) {
    ok = place_operand(t, k, &operands[k]);
    if (!ok)
      break;
    isl_pw_multi_aff *base = po_first_element(&t->nest, &t->found->place[k]);
    isl_multi_aff *one = isl_pw_multi_aff_as_multi_aff(base);
    one = po_simplify_on(one, t->nest.outer);
    one = isl_multi_aff_set_tuple_id(one, isl_dim_in, isl_id_copy(id));
    operands[k].base =
        po_keep_pw_multi_aff(&p->pool, isl_pw_multi_aff_from_multi_aff(one));
    ok = operands[k].base != NULL;
  }
  isl_id_free(id);
  out->array = operands[n].array;
  return ok;
}

/* Whether an operand and the result share elements in one call. */
static bool
meets_result(const po_program *p, const po_stmt *call, const po_operand *o) {
  const po_operand *result = &call->operands[call->instr->n_operands];
  if (o->array != result->array)
    return false;
  isl_map *both = isl_map_intersect(po_operand_map(p, call, o),
                                    po_operand_map(p, call, result));
  bool none = isl_map_is_empty(both) == isl_bool_true;
  isl_map_free(both);
  return !none;
}

static bool
check_call(tensorizing *t, const po_stmt *call) {
  const po_program *p = t->p;
  uint32_t n = call->instr->n_operands;
  for (uint32_t k = 0; k <= n; k++) {
    const po_operand *o = &call->operands[k];
    const char *array = p->arrays.data[o->array].name;
    if (!po_operand_is_inside(p, call, o))
      return po_because(&t->why, 90, "%s reaches beyond %s",
                        k < n ? call->instr->operands[k].name : "the result",
                        array);
    if (k < n && meets_result(p, call, o))
      return po_because(&t->why, 90, "%s shares elements of %s with the result",
                        call->instr->operands[k].name, array);
  }
  return has_places_of_its_own(&call->operands[n]) ||
         po_because(&t->why, 90, "elements of the result share places");
}

/* ---- the search ---- */

static bool
takes(void *user, const po_unified *found) {
  tensorizing *t = user;
  t->found = found;
  return make_call(t, &t->made) && check_call(t, &t->made);
}

static bool
unify_with(tensorizing *t, po_program *q, isl_multi_aff *const *layout,
           po_reason *why) {
  po_form form;
  po_pattern *pattern = BS_NEW(&t->p->arena, po_pattern);
  po_forward_copies(q, 0);
  return po_find_form(q, 0, &form, why) &&
         po_make_pattern(&form, t->instr, layout, t->shapes, pattern, why) &&
         po_unify(&t->nest, pattern, takes, t, why);
}

/* NULL for an operand that has none; false where one is no function. */
static bool
find_layouts(tensorizing *t, isl_multi_aff **layout) {
  for (uint32_t k = 0; k < t->instr->n_operands; k++)
    if (t->instr->operands[k].layout && !(layout[k] = layout_of(t, k)))
      return po_because(&t->why, 0, "the layout of %s is not a single function",
                        t->instr->operands[k].name);
  return true;
}

/* The semantics under the choice are the nest. */
static bool
fits(tensorizing *t) {
  isl_multi_aff *layout[PO_MOST_OPERANDS] = {NULL};
  gs_term operands[PO_MOST_OPERANDS];
  gs_term *holes = BS_NEWS(&t->p->arena, gs_term, t->instr->scope.vars.len + 1);
  po_reason why = {.arena = &t->p->arena};
  gs_fault fault = {0};
  memcpy(t->shapes, t->types, sizeof t->shapes);
  if (!find_layouts(t, layout))
    return false;
  gs_program *source = start_program(t, operands, holes);
  gs_term term = gs_instr_expand(t->instr, source, t->attr, operands, &fault);
  po_program *q = gs_term_ok(term) ? lowered(t, source, term) : NULL;
  if (!q)
    return po_because(&t->why, 0, "its semantics cannot be lowered%s",
                      sizes_text(t));
  bool ok = unify_with(t, q, layout, &why);
  po_free(q);
  if (!ok && why.text)
    po_because(&t->why, why.weight, "%s%s", why.text, sizes_text(t));
  return ok;
}

/* Goes through the choices; what lowering complains about is forgotten. */
static bool
find_call(tensorizing *t) {
  bs_diags *diags = t->p->ctx.diags;
  uint32_t tries = 0;
  do {
    if (tries++ == MOST_CHOICES || t->n_patterns == MOST_PATTERNS)
      return po_because(&t->why, 1,
                        "too many sizes are possible: give the parameters");
    if (!po_admits_sizes(t))
      continue;
    t->n_patterns++;
    bs_moment moment = bs_moment_of(diags);
    bool ok = fits(t);
    bs_go_back(diags, moment);
    if (ok)
      return true;
  } while (po_next_sizes(t));
  return false;
}

/* The call in place of the nest. */
static void
replace(tensorizing *t, const po_stmt *call) {
  po_program *p = t->p;
  const char *names[PO_FORM_STMTS];
  assert(t->nest.n && t->nest.n <= PO_FORM_STMTS);
  for (uint32_t k = 0; k < t->nest.n; k++)
    names[k] = p->stmts.data[t->nest.stmts[k].stmt].name;
  bs_push(p->ctx.heap, &p->stmts, *call);
  po_nest_add_leaf(p, po_node(p, t->nest.top)->parent, t->nest.top,
                   p->stmts.len - 1);
  for (uint32_t k = 0; k < t->nest.n; k++)
    po_remove_stmt(p, po_stmt_named(p, names[k]));
  po_forget_dependences(p);
}

/* { instance of the nest -> call }, of the program as it was. */
static __isl_give isl_union_map *
merged(const po_program *before, uint32_t top, uint32_t depth,
       const po_stmt *call) {
  isl_union_map *all =
      isl_union_map_empty(isl_space_params_alloc(before->isl, 0));
  for (uint32_t k = top; k != PO_NO_NODE; k = po_nest_next(before, k, top)) {
    if (po_node(before, k)->kind != PO_LEAF)
      continue;
    isl_map *one =
        po_prefix(&before->stmts.data[po_node(before, k)->stmt], depth);
    one = isl_map_set_tuple_id(one, isl_dim_out,
                               isl_set_get_tuple_id(call->domain));
    all = isl_union_map_union(all, isl_union_map_from_map(one));
  }
  return all;
}

/* ---- the primitive ---- */

static bool
check_request(tensorizing *t) {
  const po_program *p = t->p;
  const char *name = t->call->args[1].word;
  const po_arg *given = &t->call->args[2];
  t->instr = p->target ? gs_find_instr(p->target, name) : NULL;
  if (!t->instr) {
    po_refuse(p, t->call, "unknown-name", "the target has no instruction %s",
              name);
    if (p->target && p->target->instrs.len)
      bs_hint(p->ctx.diags, "%s is one", p->target->instrs.data[0]->name);
    else
      bs_hint(p->ctx.diags, "--target FILE names one that has");
    return false;
  }
  if (t->instr->n_operands > PO_MOST_OPERANDS)
    return po_refuse(p, t->call, "too-large", "%s has more than %d operands",
                     name, PO_MOST_OPERANDS);
  if (given->kind == PO_ARG_INTS && given->n > t->instr->n_params)
    return po_refuse(p, t->call, "usage", "%s has %u %s, not %u", name,
                     BS_COUNTED(t->instr->n_params, "parameter"), given->n);
  return true;
}

/* A call computes its result anew: reductions begin in the nest. */
static bool
begins_all(tensorizing *t) {
  const po_stmt *stmts = t->p->stmts.data;
  for (uint32_t k = 0; k < t->nest.n; k++) {
    const po_stmt *s = &stmts[t->nest.stmts[k].stmt];
    bool begins = s->kind != PO_UPDATE;
    for (uint32_t j = 0; !begins && j < t->nest.n; j++)
      begins = stmts[t->nest.stmts[j].stmt].kind == PO_ASSIGN &&
               stmts[t->nest.stmts[j].stmt].array == s->array;
    if (!begins)
      return po_because(&t->why, 0,
                        "%s goes on from what %s holds, a call computes its "
                        "result anew (rfactor makes partial results)",
                        s->name, t->p->arrays.data[s->array].name);
  }
  return true;
}

static bool
refuse_unfit(const tensorizing *t) {
  const char *loop = po_node(t->p, t->call->args[0].node)->name;
  bs_text sizes;
  bs_text_init(&sizes, t->p->ctx.heap);
  for (uint32_t k = 0; k < t->n_sizes; k++)
    bs_putf(&sizes, "%s%lld", k ? ", " : "", (long long)t->sizes[k]);
  if (t->why.text)
    po_refuse(t->p, t->call, "no-match", "loop %s is not %s: %s", loop,
              t->instr->name, t->why.text);
  else
    po_refuse(t->p, t->call, "no-match",
              "loop %s is not %s: it admits no sizes among %s", loop,
              t->instr->name, bs_text_str(&sizes));
  bs_text_done(&sizes);
  bs_hint(t->p->ctx.diags,
          "split, reorder and fission give a nest the instruction's form, "
          "pad_einsum its sizes, pack its layout");
  return false;
}

static bool
put_call(tensorizing *t, po_program *before, uint32_t top) {
  replace(t, &t->made);
  po_pool_reserve(&before->pool, 8);
  po_change change = {.merged = merged(before, top, t->nest.n_outer, &t->made)};
  return po_values_are_preserved(before, t->p, t->call, &change);
}

bool
po_apply_tensorize(po_program *p, po_step_call *call) {
  tensorizing *t = BS_NEW(&p->arena, tensorizing);
  uint32_t top = call->args[0].node;
  *t = (tensorizing){.p = p, .call = call, .why.arena = &p->arena};
  if (!check_request(t))
    return false;
  t->slots = BS_NEWS(&p->arena, uint32_t, t->instr->scope.vars.len + 1);
  po_program *before = po_copy(p);
  po_forward_copies(p, top);
  bool ok = po_find_form(p, top, &t->nest, &t->why) && begins_all(t);
  if (ok)
    po_find_sizes(t);
  ok = ok && find_call(t);
  if (ok)
    ok = put_call(t, before, top);
  else
    refuse_unfit(t);
  po_free(before);
  return ok;
}
