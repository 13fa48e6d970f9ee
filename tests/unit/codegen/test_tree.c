/* SPDX-License-Identifier: MIT */
/* Trees that a pass could leave behind, right and broken in one place. */
#include "base/text.h"
#include "codegen/print/print.h"
#include "codegen/tree/tree_check.h"
#include <criterion/criterion.h>
#include <string.h>

static bs_heap heap;
static bs_arena arena;

static void
start(void) {
  bs_heap_init(&heap, NULL, 0);
  bs_arena_init(&arena, &heap);
}

static void
end(void) {
  bs_arena_done(&arena);
  bs_heap_done(&heap);
}

TestSuite(tree, .init = start, .fini = end);

/* ---- a tree ---- */

static const cg_expr *
name(const char *text) {
  return cg_name(&arena, text);
}

static const cg_expr *
number(int64_t n) {
  return cg_number(&arena, n);
}

static const cg_expr *
infix(cg_op op, const cg_expr *a, const cg_expr *b) {
  return cg_infix(&arena, op, a, b);
}

static cg_node *
store(const cg_expr *target, cg_op op, const cg_expr *value) {
  cg_node *n = cg_node_new(&arena, CG_STORE);
  n->store = (cg_store){.target = target, .op = op, .value = value};
  return n;
}

static cg_node *
loop(const char *iterator, cg_node *body) {
  return cg_make_for(&arena, "int", iterator, number(0),
                     infix(CG_OP_LESS, name(iterator), number(8)), 1, body);
}

/* What a test breaks. */
typedef struct parts {
  cg_node *body, *outer, *inner, *let, *add, *out;
} parts;

/* for (int i ..) { float acc = 0; for (int j ..) acc += x[8 * i + j];
 * y[i] = acc; } */
static parts
sums(void) {
  parts p;
  const cg_expr *at =
      infix(CG_OP_ADD, infix(CG_OP_MULTIPLY, number(8), name("i")), name("j"));
  p.let = cg_make_let(&arena, "float", "acc", number(0));
  p.add = store(name("acc"), CG_OP_ADD, cg_element(&arena, name("x"), at));
  p.inner = loop("j", p.add);
  p.inner->bare = true;
  p.out =
      store(cg_element(&arena, name("y"), name("i")), CG_OP_SET, name("acc"));
  cg_list list;
  cg_list_init(&list);
  cg_append(&list, p.let);
  cg_append(&list, p.inner);
  cg_append(&list, p.out);
  p.body = p.outer = loop("i", list.first);
  return p;
}

static bool
is_known(const char *text, void *arg) {
  (void)arg;
  return !strcmp(text, "x") || !strcmp(text, "y");
}

static const char *
check(const cg_node *body) {
  return cg_check_tree(&(cg_asked){&arena, true, is_known, NULL}, body);
}

/* ---- what is right ---- */

Test(tree, that_is_right_has_no_fault_and_prints_as_c) {
  parts p = sums();
  bs_text text;
  bs_text_init(&text, &heap);
  cr_assert_null(check(p.body));
  cg_print_nodes(&text, &cg_c, p.body, 0);
  cr_assert_str_eq(bs_text_str(&text), "for (int i = 0; i < 8; i++) {\n"
                                       "  float acc = 0;\n"
                                       "  for (int j = 0; j < 8; j++)\n"
                                       "    acc += x[8 * i + j];\n"
                                       "  y[i] = acc;\n"
                                       "}\n");
  bs_text_done(&text);
}

/* f(one, two, ..), each eleven letters and a number. */
static cg_node *
long_call(uint32_t n) {
  const cg_expr *args[16];
  for (uint32_t k = 0; k < n; k++)
    args[k] = name(bs_arena_printf(&arena, "an_argument%u", k));
  cg_node *call = cg_make_do(&arena, cg_called(&arena, "f", n, args));
  call->wraps = true;
  return call;
}

Test(tree, of_a_function_prints_with_its_parameters_and_long_calls_in_lines) {
  cg_parameter parameters[] = {{"const float *restrict", "x", false},
                               {"int", "n", false}};
  cg_list body;
  cg_list_init(&body);
  cg_append(&body, cg_make_comment(&arena, "first */ step"));
  cg_append(&body, long_call(6));
  cg_append(&body, cg_make_return(&arena, number(0)));
  cg_function f = {.head = "static int",
                   .name = "g",
                   .n_parameters = 2,
                   .parameters = parameters,
                   .body = body.first};
  bs_text text;
  bs_text_init(&text, &heap);
  cg_print_function(&text, &cg_c, &f);
  cr_assert_str_eq(
      bs_text_str(&text),
      "static int\n"
      "g(const float *restrict x, int n) {\n"
      "  /* first * / step */\n"
      "  f(an_argument0, an_argument1, an_argument2, an_argument3, "
      "an_argument4,\n"
      "    an_argument5);\n"
      "  return 0;\n"
      "}\n");
  bs_text_done(&text);
}

Test(tree, of_a_long_condition_is_broken_between_its_operands) {
  const cg_expr *any[8];
  for (uint32_t k = 0; k < 8; k++)
    any[k] = infix(CG_OP_LESS, name(bs_arena_printf(&arena, "size_%u", k)),
                   number(1));
  cg_node *test = cg_make_if(&arena, cg_infix_of(&arena, CG_OP_OR, 8, any),
                             cg_make_return(&arena, NULL));
  test->bare = test->wraps = true;
  bs_text text;
  bs_text_init(&text, &heap);
  cg_print_nodes(&text, &cg_c, test, 1);
  cr_assert_str_eq(bs_text_str(&text),
                   "  if (size_0 < 1 || size_1 < 1 || size_2 < 1 || size_3 < 1 "
                   "|| size_4 < 1 ||\n"
                   "    size_5 < 1 || size_6 < 1 || size_7 < 1)\n"
                   "    return;\n");
  bs_text_done(&text);
}

Test(tree, copies_are_equal_and_apart) {
  parts p = sums();
  cg_node *copy = cg_clone(&arena, p.body);
  cr_assert_null(check(copy));
  p.out->store.value = name("nowhere");
  cr_assert_null(check(copy));
  cr_assert_not_null(check(p.body));
}

/* ---- questions ---- */

Test(tree, says_whether_a_variable_is_named_and_whether_it_is_read) {
  parts p = sums();
  cr_assert(cg_reads(p.body, "x"));
  cr_assert(cg_mentions(p.body, "y") && !cg_reads(p.body, "y"),
            "an array that is only stored to");
  cr_assert(!cg_mentions(p.body, "acc"), "declared within, another's");
  cr_assert(cg_reads(p.let->next, "acc"));
  cr_assert(!cg_mentions(p.body, "ac"), "part of a name");
}

Test(tree, an_update_reads_what_it_writes) {
  cg_node *n = store(name("acc"), CG_OP_ADD, number(1));
  cr_assert(cg_reads(n, "acc"));
  n->store.op = CG_OP_SET;
  cr_assert(!cg_reads(n, "acc") && cg_mentions(n, "acc"));
}

Test(tree, an_index_of_what_is_written_is_read) {
  cg_node *n =
      store(cg_element(&arena, name("a"), name("k")), CG_OP_SET, number(1));
  cr_assert(cg_reads(n, "k") && !cg_reads(n, "a"));
}

Test(tree, coefficients_are_those_of_sums_and_no_others) {
  int64_t out;
  const cg_expr *i = name("i");
  const cg_expr *sum = infix(
      CG_OP_SUBTRACT, infix(CG_OP_MULTIPLY, number(3), i), cg_paren(&arena, i));
  cr_assert(cg_coefficient(sum, "i", &out) && out == 2);
  cr_assert(cg_coefficient(sum, "j", &out) && out == 0);
  cr_assert(!cg_coefficient(infix(CG_OP_DIVIDE, i, number(2)), "i", &out));
  const cg_expr *huge =
      infix(CG_OP_MULTIPLY, number(INT64_MAX), infix(CG_OP_ADD, i, i));
  cr_assert(!cg_coefficient(huge, "i", &out), "it overflows");
}

/* ---- what is broken ---- */

typedef void breaking(parts *);

static void
use_before_declaration(parts *p) {
  p->outer->first = p->inner;
}

static void
declare_twice(parts *p) {
  cg_node *again = cg_make_let(&arena, "float", "acc", number(1));
  again->next = p->let->next;
  p->let->next = again;
}

static void
leave_a_mark(parts *p) {
  cg_node *mark = cg_node_new(&arena, CG_MARK);
  mark->first = p->body;
  p->body = mark;
}

static void
forget_the_iterator(parts *p) {
  p->inner->head.condition = infix(CG_OP_LESS, name("i"), number(8));
}

static void
stand_still(parts *p) {
  p->inner->head.step = 0;
}

static void
go_down(parts *p) {
  p->inner->head.step = -1;
}

static void
lose_the_condition(parts *p) {
  p->outer->head.condition = NULL;
}

static void
begin_nowhere(parts *p) {
  p->inner->head.first = NULL;
}

static void
bare_of_two(parts *p) {
  p->outer->bare = true;
}

static void
bare_of_none(parts *p) {
  p->inner->first = NULL;
}

static void
bare_declaration(parts *p) {
  p->inner->first = cg_make_let(&arena, "int", "k", number(0));
}

static void
team_of_no_loops(parts *p) {
  p->outer->head.is_team = true;
  p->outer->head.collapse = 2;
}

static void
lanes_apart(parts *p) {
  p->inner->head.lanes = CG_LANES_SEEN;
  p->inner->head.step = 2;
}

static void
reduce_without_lanes(parts *p) {
  static const cg_reduction one = {.by = CG_JOINED_BY_SUM, .name = "acc"};
  p->inner->head.n_reductions = 1;
  p->inner->head.reductions = &one;
}

static void
reduce_a_stranger(parts *p) {
  static const cg_reduction one = {.by = CG_JOINED_BY_SUM, .name = "stranger"};
  p->inner->head.lanes = CG_LANES_SEEN;
  p->inner->head.n_reductions = 1;
  p->inner->head.reductions = &one;
}

static void
store_in_a_sum(parts *p) {
  p->out->store.target = infix(CG_OP_ADD, name("x"), name("y"));
}

static void
assign_by_no_operator(parts *p) {
  p->out->store.op = CG_OP_LESS;
}

static void
store_nothing(parts *p) {
  p->out->store.value = NULL;
}

static void
loose_operand(parts *p) {
  p->out->store.value = infix(
      CG_OP_MULTIPLY, infix(CG_OP_ADD, name("acc"), number(1)), number(2));
}

static void
no_operator(parts *p) {
  cg_expr *value = BS_NEW(&arena, cg_expr);
  *value = *infix(CG_OP_ADD, name("acc"), number(1));
  value->op = CG_OP_NEGATE;
  p->out->store.value = value;
}

static void
array_of_a_value(parts *p) {
  p->let->let.elements = 4;
}

static void
join_nothing(parts *p) {
  p->let->let.joins = true;
}

static void
no_effect(parts *p) {
  p->out->next = cg_make_do(&arena, name("acc"));
}

static void
return_a_stranger(parts *p) {
  p->out->next = cg_make_return(&arena, name("stranger"));
}

static void
launch_numbers(parts *p) {
  cg_node *n = cg_node_new(&arena, CG_LAUNCH);
  n->launched =
      (cg_launched){cg_called(&arena, "f", 0, NULL), number(1), number(1)};
  p->out->next = n;
}

static void
say_nothing(parts *p) {
  p->out->next = cg_make_comment(&arena, NULL);
}

static void
nothing_with_a_body(parts *p) {
  cg_node *n = cg_node_new(&arena, CG_NOTHING);
  n->first = store(name("acc"), CG_OP_SET, number(0));
  p->out->next = n;
}

static void
use_after_the_scope(parts *p) {
  p->outer->next =
      store(cg_element(&arena, name("y"), number(0)), CG_OP_SET, name("acc"));
}

static void
iterator_of_nobody(parts *p) {
  p->inner->head.type = NULL;
  p->inner->head.first = NULL;
}

static void
bare_of_two_branches(parts *p) {
  cg_node *n =
      cg_make_if(&arena, name("x"), store(name("acc"), CG_OP_SET, number(0)));
  n->bare = true;
  n->test.otherwise = store(name("acc"), CG_OP_SET, number(1));
  p->out->next = n;
}

static void
switch_of_no_case(parts *p) {
  cg_node *n = cg_node_new(&arena, CG_SWITCH);
  n->effect = name("acc");
  n->first = store(name("acc"), CG_OP_SET, number(0));
  p->out->next = n;
}

static void
compile_on_nothing(parts *p) {
  p->out->next = cg_node_new(&arena, CG_WHEN);
}

static void
stand_behind_what_is_joined(parts *p) {
  cg_node *n = cg_node_new(&arena, CG_WHEN), *other;
  n->when.condition = "defined(A)";
  other = n->when.otherwise = cg_node_new(&arena, CG_WHEN);
  other->when.condition = "defined(B)";
  other->when.joins = true;
  other->next = store(name("acc"), CG_OP_SET, number(0));
  p->out->next = n;
}

static const struct {
  const char *what;
  breaking *by;
  const char *reason;
} broken[] = {
    {"a name used before it is declared", use_before_declaration,
     "used, and not declared"},
    {"a name used after its scope", use_after_the_scope,
     "used, and not declared"},
    {"a name declared twice", declare_twice, "declared twice"},
    {"an iterator that nobody declares", iterator_of_nobody,
     "used, and not declared"},
    {"a mark left", leave_a_mark, "is left in a complete tree"},
    {"a launch of numbers", launch_numbers, "is no call"},
    {"a condition of another iterator", forget_the_iterator,
     "its condition does not name it"},
    {"a step of 0", stand_still, "it does not go up"},
    {"a step down", go_down, "it does not go up"},
    {"no condition", lose_the_condition, "without what its kind needs"},
    {"no first value", begin_nowhere, "has no first value"},
    {"two statements without braces", bare_of_two, "that is not one statement"},
    {"no statement without braces", bare_of_none, "that is not one statement"},
    {"a declaration without braces", bare_declaration,
     "that is not one statement"},
    {"a team without loops", team_of_no_loops,
     "a team shares what is not a loop"},
    {"lanes that are apart", lanes_apart,
     "its lanes are not next to each other"},
    {"a reduction without lanes", reduce_without_lanes,
     "reduces without lanes"},
    {"a reduction of an unknown name", reduce_a_stranger,
     "used, and not declared"},
    {"a store in a sum", store_in_a_sum, "nothing can be stored there"},
    {"an unknown assignment", assign_by_no_operator, "no assignment"},
    {"a store of nothing", store_nothing, "without what its kind needs"},
    {"an operand that binds looser", loose_operand,
     "binds looser than its operator"},
    {"an unknown operator", no_operator, "without what its kind needs"},
    {"an array with one value", array_of_a_value,
     "a declaration without what it needs"},
    {"a declaration that joins none", join_nothing,
     "joins no declaration of its type"},
    {"a statement without effect", no_effect, "a statement without effect"},
    {"nothing, with a body", nothing_with_a_body, "has a body"},
    {"a result that no one declared", return_a_stranger,
     "used, and not declared"},
    {"a comment without text", say_nothing, "has no text"},
    {"a bare branch beside another", bare_of_two_branches,
     "a bare branch with another one"},
    {"a switch without cases", switch_of_no_case, "something that is no case"},
    {"what is compiled on no condition", compile_on_nothing, "no condition"},
    {"a statement behind what is joined", stand_behind_what_is_joined,
     "something stands behind what is joined"},
};

Test(tree, that_is_broken_is_refused_with_the_reason) {
  for (size_t k = 0; k < sizeof broken / sizeof *broken; k++) {
    parts p = sums();
    broken[k].by(&p);
    const char *why = check(p.body);
    cr_expect(why && strstr(why, broken[k].reason), "%s: %s", broken[k].what,
              why);
  }
}

Test(tree, that_is_not_complete_may_have_marks_and_names_to_come) {
  parts p = sums();
  use_before_declaration(&p);
  leave_a_mark(&p);
  cr_assert_null(cg_check_tree(&(cg_asked){.arena = &arena}, p.body));
}
