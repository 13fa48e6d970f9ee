/* SPDX-License-Identifier: MIT */
/* A pass that breaks the tree is caught by the check after it, and named. */
#include "base/diag.h"
#include "codegen/pass/pass.h"
#include <criterion/criterion.h>
#include <string.h>

static bs_heap heap;
static bs_diags diags;
static po_program program;
static cg_emitter e;
static const cg_use use;
static const cg_scope scope = {.use = &use};

static void
start(void) {
  bs_heap_init(&heap, NULL, 0);
  bs_diags_init(&diags, &heap);
  program = (po_program){.ctx = {.heap = &heap, .diags = &diags}};
  e = (cg_emitter){.p = &program, .heap = &heap};
  bs_arena_init(&e.arena, &heap);
  bs_text_init(&e.body, &heap);
}

static void
end(void) {
  bs_arena_done(&e.arena);
  bs_heap_done(&heap);
}

TestSuite(passes, .init = start, .fini = end);

/* float t = 0; for (int k = 0; k < 8; k++) t = k; */
static cg_node *
sound(void) {
  cg_writer w;
  cg_start(&w, &e.arena);
  cg_open_body(&w);
  cg_write(&w, "float t = 0;");
  cg_write(&w, "for (int k = 0; k < 8; k++) t = k;");
  return cg_end(&w);
}

static void
keep(cg_pass_state *s) {
  (void)s;
}

static void
lose_the_declaration(cg_pass_state *s) {
  *s->body = (*s->body)->next;
}

static void
stand_still(cg_pass_state *s) {
  (*s->body)->next->head.step = 0;
}

static void
bind_looser(cg_pass_state *s) {
  bs_arena *arena = &s->e->arena;
  const cg_expr *sum =
      cg_infix(arena, CG_OP_ADD, cg_number(arena, 1), cg_number(arena, 2));
  (*s->body)->let.value =
      cg_infix(arena, CG_OP_MULTIPLY, sum, cg_number(arena, 3));
}

static void
run(void (*pass)(cg_pass_state *), const char *fault) {
  cg_node *body = sound();
  cg_pass_state s = {.e = &e, .scope = &scope, .body = &body};
  cg_run_pass(&(cg_pass){"a broken pass", pass, true}, &s);
#ifdef NDEBUG
  (void)fault;
#else
  cr_assert_eq(e.failed, fault != NULL);
  if (!fault)
    return;
  const char *text = diags.list.data[diags.list.len - 1].message;
  cr_assert(strstr(text, "a broken pass") && strstr(text, fault), "%s", text);
#endif
}

Test(passes, one_that_keeps_the_tree_is_not_blamed) {
  run(keep, NULL);
}

Test(passes, one_that_loses_a_declaration_is_caught) {
  run(lose_the_declaration, "not declared");
}

Test(passes, one_that_makes_a_loop_stand_still_is_caught) {
  run(stand_still, "go up");
}

Test(passes, one_that_forgets_parentheses_is_caught) {
  run(bind_looser, "looser");
}

/* In all builds: what is written is C that compiles. */
Test(passes, a_function_that_names_what_nobody_declares_is_not_written) {
  cg_node *body = sound();
  cg_function f = {.head = "static void", .name = "f"};
  cg_put_function(&e, &f, body);
  cr_assert(!e.failed);
  cg_put_function(&e, &f, body->next);
  cr_assert(e.failed);
  const bs_diag *last = &diags.list.data[diags.list.len - 1];
  cr_assert_str_eq(last->code, "code-tree");
  cr_assert_str_eq(last->message,
                   "internal error: after f the code tree is broken: t: used, "
                   "and not declared");
}

Test(passes, what_many_lists_declare_is_told_apart) {
  cg_writer w;
  cg_start(&w, &e.arena);
  cg_open_body(&w);
  for (int k = 0; k < 600; k++)
    cg_write(&w, "{ float a%d = 0; float b = 1; a%d = b; }", k, k);
  cg_write(&w, "float b = 0;");
  cg_write(&w, "b = a599;");
  cg_node *body = cg_end(&w);
  cr_assert(body);
  cr_assert(!cg_verify(&e, &scope, body, "it was made", true));
  const bs_diag *last = &diags.list.data[diags.list.len - 1];
  cr_assert(strstr(last->message, "a599: used, and not declared"), "%s",
            last->message);
}
