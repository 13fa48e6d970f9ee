/* SPDX-License-Identifier: MIT */
/* cli_profile.c - what the steps of a run took: a table by layer, JSON, and a
 * chart whose columns are as wide as their time, under the parts of the layers'
 * names. */
#include "cli/cli_profile.h"
#include "cli/cli_session.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 1200, ROW = 18, MOST_LEVELS = 12, SVG_LIMIT = 1 << 26 };

static double
total_of(const glen_profile *p) {
  double sum = 0;
  for (uint32_t k = 0; k < p->n; k++)
    sum += p->steps[k].seconds;
  return sum;
}

static double
part(double a, double b) {
  return b > 0 ? a / b : 0;
}

/* ---- the table ---- */

/* A value that is not known is a dash. */
static void
print_cell(double value, const char *format, bool known) {
  char text[32];
  snprintf(text, sizeof text, format, value);
  printf(" %8s", known ? text : "-");
}

static void
print_step(const glen_profile_step *s, double total) {
  bool timed = s->seconds > 0;
  print_cell(1e6 * s->seconds, "%.1f", true);
  print_cell(100 * part(s->seconds, total), "%.1f", true);
  print_cell(1e-9 * part(s->operations, s->seconds), "%.2f",
             timed && s->operations >= 0);
  print_cell(1e-6 * s->bytes, "%.3f", true);
  print_cell(100 * part(s->least, s->seconds), "%.0f", timed && s->least > 0);
  printf("  %-11s %-12s %s\n", s->kind, s->kernel, s->layer);
}

void
cl_print_profile(const glen_profile *p) {
  double total = total_of(p);
  printf("profile: %u %s, %.1f us\n", CL_COUNTED(p->n, "step"), 1e6 * total);
  printf(" %8s %8s %8s %8s %8s  %-11s %-12s %s\n", "us", "%", "GF/s", "MB",
         "%roof", "kind", "kernel", "layer");
  for (uint32_t k = 0; k < p->n; k++)
    print_step(&p->steps[k], total);
}

static void
print_member(const char *name, double value, bool known) {
  printf(",\"%s\":", name);
  if (known)
    printf("%.9g", value);
  else
    fputs("null", stdout);
}

void
cl_print_profile_json(const glen_profile *p) {
  fputs(",\"profile\":[", stdout);
  for (uint32_t k = 0; k < p->n; k++) {
    const glen_profile_step *s = &p->steps[k];
    fputs(k ? ",\n{\"layer\":" : "\n{\"layer\":", stdout);
    cl_print_json_text(s->layer);
    fputs(",\"kind\":", stdout);
    cl_print_json_text(s->kind);
    fputs(",\"kernel\":", stdout);
    cl_print_json_text(s->kernel);
    print_member("seconds", s->seconds, true);
    print_member("operations", s->operations, s->operations >= 0);
    print_member("bytes", s->bytes, true);
    print_member("roofline", part(s->least, s->seconds),
                 s->least > 0 && s->seconds > 0);
    putchar('}');
  }
  putchar(']');
}

/* ---- the chart ---- */

typedef struct chart {
  const glen_profile *profile;
  double total;
  char *text;
  size_t n, size;
  bool failed;
} chart;

__attribute__((format(printf, 2, 3))) static void
put(chart *c, const char *format, ...) {
  va_list args;
  while (!c->failed) {
    va_start(args, format);
    int more = vsnprintf(c->text ? c->text + c->n : NULL,
                         c->text ? c->size - c->n : 0, format, args);
    va_end(args);
    if (more >= 0 && c->text && (size_t)more < c->size - c->n) {
      c->n += (size_t)more;
      return;
    }
    size_t size = c->size ? 2 * c->size : 1 << 16;
    char *text = size > SVG_LIMIT ? NULL : realloc(c->text, size);
    c->failed = !text;
    c->text = text ? text : c->text;
    c->size = text ? size : c->size;
  }
}

/* Names of layers are words of the language; an instruction's may be any. */
static void
put_text(chart *c, const char *text, int n) {
  for (int k = 0; k < n && text[k]; k++)
    if (strchr("<>&\"'", text[k]) || (unsigned char)text[k] < ' ')
      put(c, "&#%d;", (unsigned char)text[k]);
    else
      put(c, "%c", text[k]);
}

/* The length of the name's first parts, so many; all of it where it has fewer:
 * then *whole. */
static size_t
prefix(const char *name, int parts, bool *whole) {
  size_t n = 0;
  *whole = false;
  for (int k = 0; k < parts; k++) {
    n += strcspn(name + n, ".");
    if (!name[n]) {
      *whole = k + 1 < parts;
      return n;
    }
    n += k + 1 < parts;
  }
  return n;
}

static void
put_box(chart *c, double x, double width, int row, const char *name, int n,
        double seconds) {
  static const char *const colours[] = {"#f4a259", "#f6bd60", "#e98a5b",
                                        "#f7cf7b"};
  unsigned colour = 0;
  for (int k = 0; k < n; k++)
    colour = 31 * colour + (unsigned char)name[k];
  put(c, "<g><title>");
  put_text(c, name, n);
  put(c, ": %.1f us, %.1f %%</title>", 1e6 * seconds,
      100 * part(seconds, c->total));
  put(c,
      "<rect x=\"%.2f\" y=\"%d\" width=\"%.2f\" height=\"%d\" fill=\"%s\" "
      "stroke=\"#fff\" stroke-width=\"0.5\"/>",
      x, row * ROW, width, ROW - 1, colours[colour % 4]);
  if (width > 30) {
    int room = (int)(width / 7);
    put(c, "<text x=\"%.2f\" y=\"%d\">", x + 3, row * ROW + 13);
    put_text(c, name, n < room ? n : room);
    put(c, "</text>");
  }
  put(c, "</g>\n");
}

/* Steps that stand beside each other and share so many parts of their names
 * are one box. */
static bool
put_level(chart *c, int level) {
  const glen_profile *p = c->profile;
  bool any = false;
  double x = 0;
  for (uint32_t k = 0, next; k < p->n; k = next) {
    bool whole, other;
    const char *name = p->steps[k].layer;
    size_t n = prefix(name, level, &whole);
    double seconds = p->steps[k].seconds;
    for (next = k + 1; next < p->n; next++) {
      const char *with = p->steps[next].layer;
      if (prefix(with, level, &other) != n || other != whole ||
          memcmp(name, with, n) != 0)
        break;
      seconds += p->steps[next].seconds;
    }
    double width = WIDTH * part(seconds, c->total);
    if (!whole && n)
      put_box(c, x, width, level, name, (int)n, seconds);
    any |= !whole && n;
    x += width;
  }
  return any;
}

static void
put_kernels(chart *c, int row) {
  double x = 0;
  for (uint32_t k = 0; k < c->profile->n; k++) {
    const glen_profile_step *s = &c->profile->steps[k];
    double width = WIDTH * part(s->seconds, c->total);
    put_box(c, x, width, row, s->kernel, (int)strlen(s->kernel), s->seconds);
    x += width;
  }
}

bool
cl_write_flame(cl_session *session, const glen_profile *p, const char *path) {
  chart c = {.profile = p, .total = total_of(p)};
  int level = 1;
  put(&c,
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" "
      "font-family=\"sans-serif\" font-size=\"11\">\n",
      WIDTH, (MOST_LEVELS + 2) * ROW);
  put_box(&c, 0, WIDTH, 0, "all", 3, c.total);
  while (level <= MOST_LEVELS && put_level(&c, level))
    level++;
  put_kernels(&c, level);
  put(&c, "</svg>\n");
  bool ok = !c.failed && glen_write_file(session->glen, path, c.text, c.n);
  if (c.failed)
    fputs("glen: the chart is too large\n", stderr);
  free(c.text);
  return ok;
}
