/* SPDX-License-Identifier: MIT */
/* What is told of the steps of a run, whose times differ from run to run: here
 * they are given. */
#include "cli/cli_profile.h"
#include "printed.h"

#include <stdlib.h>
#include <string.h>

static const glen_profile_step steps[] = {
    {"block.one.conv", "mac", "call", 2e-6, -1, 4000, 1e-6},
    {"block.one.relu", "k0", "loops", 1e-6, 3000, 8000, 0},
    {"block.two", "k1", "contraction", 5e-6, 20000, 1500, 4e-6},
    {"block.one", "k2", "loops", 0, 10, 0, 1e-9},
    {"", "a<\"b'&", "call", 2e-6, 0, 64, 0},
};
static const glen_profile all = {steps, 5}, none = {steps, 0},
                          nothing = {&steps[3], 1};

static void
print_table(const void *p) {
  cl_print_profile(p);
}

static void
print_json(const void *p) {
  cl_print_profile_json(p);
}

Test(profile, as_a_table) {
  cr_expect_str_eq(
      printed(1, print_table, &all),
      "profile: 5 steps, 10.0 us\n"
      "       us        %     GF/s       MB    %roof  kind        kernel       "
      "layer\n"
      "      2.0     20.0        -    0.004       50  call        mac          "
      "block.one.conv\n"
      "      1.0     10.0     3.00    0.008        -  loops       k0           "
      "block.one.relu\n"
      "      5.0     50.0     4.00    0.002       80  contraction k1           "
      "block.two\n"
      "      0.0      0.0        -    0.000        -  loops       k2           "
      "block.one\n"
      "      2.0     20.0     0.00    0.000        -  call        a<\"b'&      "
      " "
      "\n");
  cr_expect_str_eq(printed(1, print_table, &none),
                   "profile: 0 steps, 0.0 us\n"
                   "       us        %     GF/s       MB    %roof  kind        "
                   "kernel       layer\n");
}

Test(profile, as_json) {
  cr_expect_str_eq(
      printed(1, print_json, &all),
      ",\"profile\":[\n"
      "{\"layer\":\"block.one.conv\",\"kind\":\"call\",\"kernel\":\"mac\","
      "\"seconds\":2e-06,\"operations\":null,\"bytes\":4000,\"roofline\":0.5},"
      "\n"
      "{\"layer\":\"block.one.relu\",\"kind\":\"loops\",\"kernel\":\"k0\","
      "\"seconds\":1e-06,\"operations\":3000,\"bytes\":8000,\"roofline\":null},"
      "\n"
      "{\"layer\":\"block.two\",\"kind\":\"contraction\",\"kernel\":\"k1\","
      "\"seconds\":5e-06,\"operations\":20000,\"bytes\":1500,\"roofline\":0.8},"
      "\n"
      "{\"layer\":\"block.one\",\"kind\":\"loops\",\"kernel\":\"k2\","
      "\"seconds\":0,\"operations\":10,\"bytes\":0,\"roofline\":null},\n"
      "{\"layer\":\"\",\"kind\":\"call\",\"kernel\":\"a<\\\"b'&\","
      "\"seconds\":2e-06,\"operations\":0,\"bytes\":64,\"roofline\":null}]");
  cr_expect_str_eq(printed(1, print_json, &none), ",\"profile\":[]");
}

/* ---- the chart ---- */

typedef struct box {
  char name[40];
  double x, y, width, seconds, part;
} box;

static uint32_t
boxes_of(const char *svg, box *out, uint32_t most) {
  uint32_t n = 0;
  for (const char *at = svg; n < most && (at = strstr(at, "<title>")); at++) {
    box *b = &out[n++];
    int found = sscanf(at,
                       "<title>%39[^:]: %lf us, %lf %%</title><rect x=\"%lf\" "
                       "y=\"%lf\" width=\"%lf\"",
                       b->name, &b->seconds, &b->part, &b->x, &b->y, &b->width);
    cr_assert_eq(found, 6, "%.200s", at);
  }
  return n;
}

static char *
chart_of(const glen_profile *p) {
  static char path[64];
  cl_options o = {0};
  cl_session session = {.options = &o, .glen = glen_context_new(NULL, 0)};
  snprintf(path, sizeof path, "/tmp/glen-chart-XXXXXX");
  int fd = mkstemp(path);
  cr_assert(fd >= 0 && cl_write_flame(&session, p, path));
  static char text[1 << 20];
  ssize_t n = read(fd, text, sizeof text - 1);
  if (n <= 0) { /* another file was put in its place */
    close(fd);
    FILE *f = fopen(path, "r");
    cr_assert(f);
    n = (ssize_t)fread(text, 1, sizeof text - 1, f);
    fclose(f);
  } else
    close(fd);
  cr_assert_gt(n, 0);
  text[n] = '\0';
  unlink(path);
  glen_context_free(session.glen);
  return text;
}

Test(profile, as_a_chart) {
  /* All; the parts of names; in the last row the kernels. */
  static const box want[] = {
      {"all", 0, 0, 1200, 10, 100},
      {"block", 0, 18, 960, 8, 80},
      {"block.one", 0, 36, 360, 3, 30},
      {"block.two", 360, 36, 600, 5, 50},
      {"block.one", 960, 36, 0, 0, 0},
      {"block.one.conv", 0, 54, 240, 2, 20},
      {"block.one.relu", 240, 54, 120, 1, 10},
      {"mac", 0, 72, 240, 2, 20},
      {"k0", 240, 72, 120, 1, 10},
      {"k1", 360, 72, 600, 5, 50},
      {"k2", 960, 72, 0, 0, 0},
      {"a&#60;&#34;b&#39;&#38;", 960, 72, 240, 2, 20},
  };
  box got[20];
  const char *svg = chart_of(&all);
  uint32_t n = boxes_of(svg, got, 20);
  cr_assert_eq(n, sizeof want / sizeof *want, "%u boxes: %s", n, svg);
  for (uint32_t k = 0; k < n; k++) {
    cr_expect_str_eq(got[k].name, want[k].name);
    cr_expect_eq(got[k].x, want[k].x, "%u %s: x %g", k, want[k].name, got[k].x);
    cr_expect_eq(got[k].y, want[k].y, "%u %s: y %g", k, want[k].name, got[k].y);
    cr_expect_eq(got[k].width, want[k].width, "%u: width %g", k, got[k].width);
    cr_expect_eq(got[k].seconds, want[k].seconds, "%u: %g us", k,
                 got[k].seconds);
    cr_expect_eq(got[k].part, want[k].part, "%u: %g %%", k, got[k].part);
  }
  /* A name that is cut to the width of its box, and none in a narrow one. */
  cr_expect_not_null(strstr(svg, ">block.one.relu</text>"));
  cr_expect_null(strstr(svg, ">k2</text>"));
  cr_expect_str_eq(svg + strlen(svg) - 7, "</svg>\n");
}

Test(profile, names_are_cut_to_their_boxes) {
  static const glen_profile_step two[] = {
      {"", "abcdefghijklmnopqrstuvwxyz", "call", 1e-6, 0, 0, 0},
      {"", "k", "call", 9e-6, 0, 0, 0}};
  static const glen_profile p = {two, 2};
  const char *svg = chart_of(&p);
  cr_expect_not_null(strstr(svg, ">abcdefghijklmnopq</text>"), "%s", svg);
  cr_expect_not_null(strstr(svg, ">all</text>"));
}

/* More steps than fit into the first room for the text, in deep names. */
Test(profile, large_charts_are_whole) {
  static glen_profile_step many[2000];
  static box boxes[2001 + 2000];
  for (uint32_t k = 0; k < 2000; k++)
    many[k] = (glen_profile_step){.layer = "a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p",
                                  .kernel = "a_long_name",
                                  .kind = "loops",
                                  .seconds = 1e-6};
  glen_profile p = {many, 2000};
  uint32_t n = boxes_of(chart_of(&p), boxes, 4001);
  /* all, twelve levels of names, the kernels */
  cr_expect_eq(n, 1 + 12 + 2000, "%u", n);
  cr_expect_eq(boxes[12].y, 12 * 18);
  cr_expect_eq(boxes[13].y, 13 * 18);
}

Test(profile, without_time_is_a_chart_too) {
  box got[4];
  cr_expect_eq(boxes_of(chart_of(&nothing), got, 4), 4);
  cr_expect_eq(got[0].part, 0);
}
