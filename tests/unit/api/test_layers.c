/* SPDX-License-Identifier: MIT */
/* test_layers.c - layers of a program, and programs without names. */
#include "glen/editor.h"
#include "glen/glen.h"
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static const char net[] =
    "(tensor x (shape 6 8) f32)\n(tensor v (shape 8 8) f32)\n"
    "(tensor w (shape 8 8) f32)\n(const half (shape) f32 0.5)\n"
    "(let first (compute dotProd (cartProd (access x 1)\n"
    "  (transpose (access v 1) (list 1 0)))))\n"
    "(let active (compute relu first))\n"
    "(let turned (transpose (access w 1) (list 1 0)))\n"
    "(let second (compute dotProd (cartProd (access active 1) turned)))\n"
    "(let total (compute reduceSum (access second 1)))\n"
    "(output total)\n(output half)\n";

static glen_program *
parse(glen_context *glen, const char *text) {
  glen_program *p =
      glen_program_parse(glen, NULL, "<test>", text, strlen(text));
  cr_assert(p, "%s", glen_take_diagnostics(glen, GLEN_DIAG_TEXT));
  return p;
}

static const char *
layer(glen_context *glen, const glen_layers *layers, uint32_t k) {
  glen_program *p = glen_layer_program(glen, layers, k);
  cr_assert(p);
  const char *text = glen_program_text(glen, p, false);
  glen_program_free(p);
  return text;
}

Test(layers, those_that_reduce) {
  glen_context *glen = glen_context_new(NULL, 0);
  glen_layers *layers = glen_layers_new(glen, parse(glen, net));
  cr_assert_eq(glen_layers_count(layers), 3u);
  cr_assert_str_eq(glen_layer_name(layers, 1), "second");
  cr_assert_str_eq(layer(glen, layers, 0), layer(glen, layers, 1));
  cr_assert(strstr(layer(glen, layers, 2), "reduceSum"));
  for (uint32_t k = 0; k < 3; k++)
    parse(glen, layer(glen, layers, k));
  glen_layers_free(layers);
  glen_layers_free(NULL);
  glen_context_free(glen);
}

/* What takes several elements to one, or all of them by their sum, is a layer;
 * one element to one is none. */
Test(layers, operators_that_reduce) {
  static const struct {
    const char *operator;
    uint32_t layers;
  } cases[] = {{"reduceSum", 1},  {"reduceMax", 1},  {"reduceMin", 1},
               {"reduceMean", 1}, {"reduceProd", 1}, {"softmax", 1},
               {"relu", 0},       {"exp", 0},        {"neg", 0},
               {"(scale 2)", 0},  {"sqrt", 0},       {"(clip 0 1)", 0}};
  glen_context *glen = glen_context_new(NULL, 0);
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    char text[200];
    snprintf(text, sizeof text,
             "(tensor x (shape 4 6) f32)\n(let y (compute %s (access x 1)))\n"
             "(output y)\n",
             cases[k].operator);
    glen_layers *layers = glen_layers_new(glen, parse(glen, text));
    cr_expect_eq(glen_layers_count(layers), cases[k].layers, "%s", text);
    glen_layers_free(layers);
  }
  glen_context_free(glen);
}

static const char *
canonical(glen_context *glen, const char *text) {
  glen_program *p = glen_program_canonical(glen, parse(glen, text));
  cr_assert(p);
  return glen_program_text(glen, p, false);
}

Test(layers, names_and_the_order_of_inputs_do_not_matter) {
  static const char one[] = "(tensor b (shape 4) i32)\n(tensor a (shape 4) "
                            "i32)\n(let s (compute sub (pair a b)))\n"
                            "(output s)\n";
  static const char other[] = "(tensor x (shape 4) i32)\n(tensor y (shape 4) "
                              "i32)\n(let z (compute sub (pair x y)))\n"
                              "(output z)\n";
  static const char reversed[] = "(tensor x (shape 4) i32)\n(tensor y (shape "
                                 "4) i32)\n(let z (compute add (pair x y)))\n"
                                 "(output z)\n";
  glen_context *glen = glen_context_new(NULL, 0);
  const char *text = canonical(glen, one);
  cr_assert_str_eq(text, canonical(glen, other));
  cr_assert_str_eq(text, canonical(glen, text));
  cr_assert_str_neq(text, canonical(glen, reversed));
  glen_context_free(glen);
}

/* A canonical form keeps all outputs, those that are no lets, too. */
Test(layers, outputs_of_all_kinds) {
  glen_context *glen = glen_context_new(NULL, 0);
  glen_program *p = glen_program_canonical(
      glen, parse(glen, "(tensor x (shape 2) f32)\n(const c (shape 2) f32 1 "
                        "2)\n(let y x)\n(output y)\n(output x)\n(output c)\n"));
  cr_assert(p);
  cr_assert_eq(glen_program_outputs(p), 3u);
  cr_assert_eq(glen_program_inputs(p), 1u);
  parse(glen, glen_program_text(glen, p, false));
  glen_context_free(glen);
}

/* A program without names declares no sizes. */
Test(layers, open_sizes_are_refused) {
  static const char text[] =
      "(size n 1 9)\n(tensor x (shape n 4) f32)\n"
      "(let y (compute reduceSum (access x 1)))\n(output y)\n";
  glen_context *glen = glen_context_new(NULL, 0);
  cr_assert(glen_overlay(glen, "open.glen", text, strlen(text)));
  glen_program *p = glen_program_load_at(glen, NULL, "open.glen", NULL, 0);
  cr_assert(p, "%s", glen_take_diagnostics(glen, 0));
  cr_expect_null(glen_program_canonical(glen, p));
  cr_expect(strstr(glen_take_diagnostics(glen, 0), "a number for size n"));
  glen_layers *layers = glen_layers_new(glen, p);
  cr_assert_eq(glen_layers_count(layers), 1u);
  cr_expect_null(glen_layer_program(glen, layers, 0));
  cr_expect(strstr(glen_take_diagnostics(glen, 0), "a number for size n"));
  glen_layers_free(layers);
  glen_context_free(glen);
}

/* As deep as a stack of calls would not be. */
Test(layers, depth) {
  enum { DEPTH = 20000, LINE = 64 };
  static char text[DEPTH * LINE];
  size_t at = (size_t)sprintf(text, "(tensor x0 (shape 2) f32)\n");
  for (int k = 1; k < DEPTH; k++)
    at +=
        (size_t)sprintf(text + at, "(let x%d (compute relu x%d))\n", k, k - 1);
  sprintf(text + at, "(output x%d)\n", DEPTH - 1);
  glen_context *glen = glen_context_new(NULL, 0);
  glen_program *p = parse(glen, text);
  glen_layers *layers = glen_layers_new(glen, p);
  cr_assert_eq(glen_layers_count(layers), 0u);
  cr_assert(glen_program_canonical(glen, p));
  glen_context_free(glen);
}
