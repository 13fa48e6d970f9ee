/* SPDX-License-Identifier: MIT */
/* sizes.c - the code of a program with open sizes, called at many of them and
 * compared with the interpreter of the text with the numbers put in.
 *
 * usage: sizes LIBRARY PROGRAM, with the numbers of one call in each line of
 * stdin; answers ok, or what is wrong, in one line each.
 *
 * The library is what sizes.py makes of generated C: it has the names of the
 * sizes, and functions that take them in an array.  With -DGUARD=0 arrays end
 * where their blocks do, for the sanitizers. */
#include <glen/glen.h>
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef GUARD
#define GUARD 256 /* bytes behind an array that nothing may touch */
#endif

enum { MOST_SIZES = 8, MOST_ARRAYS = 64, BEHIND = 0xa5 };

typedef struct code {
  const char *const *names;
  int n;
  size_t (*room)(const int64_t *sizes);
  int (*call)(const int64_t *sizes, void *const *arrays, void *workspace);
} code;

/* A text with numbers in it; one of the two forms. */
typedef struct text {
  glen_context *glen;
  const glen_program *program;
  glen_loops *loops; /* NULL: a program of the language */
  glen_tensors *inputs, *expected;
} text;

/* What is given to the code. */
typedef struct arrays {
  void *at[MOST_ARRAYS];
  size_t bytes[MOST_ARRAYS];
  uint32_t n;
  void *workspace;
  size_t room;
} arrays;

static bool
is_loops(const char *path) {
  size_t n = strlen(path);
  return n > 6 && !strcmp(path + n - 6, ".loops");
}

static bool
read_text(const char *path, const code *c, const int64_t *sizes, text *out) {
  char room[MOST_SIZES][96];
  const char *given[MOST_SIZES];
  for (int k = 0; k < c->n; k++) {
    snprintf(room[k], sizeof room[k], "%s=%lld", c->names[k],
             (long long)sizes[k]);
    given[k] = room[k];
  }
  glen_context *glen = out->glen = glen_context_new(NULL, 0);
  glen_target *target = glen ? glen_target_load(glen, NULL) : NULL;
  if (target && is_loops(path)) {
    out->loops =
        glen_loops_load_at(glen, target, path, false, given, (uint32_t)c->n);
    out->program = out->loops ? glen_loops_program(glen, out->loops) : NULL;
  } else if (target) {
    out->program =
        glen_program_load_at(glen, target, path, given, (uint32_t)c->n);
  }
  return out->program;
}

static bool
interpret(text *t) {
  t->inputs = glen_inputs_new(t->glen, t->program, 1);
  if (t->inputs)
    t->expected = t->loops ? glen_loops_interpret(t->glen, t->loops, t->inputs)
                           : glen_interpret(t->glen, t->program, t->inputs);
  return t->expected;
}

static void
end_text(text *t) {
  if (t->glen) {
    fputs(glen_take_diagnostics(t->glen, GLEN_DIAG_TEXT), stderr);
    glen_tensors_free(t->inputs);
    glen_tensors_free(t->expected);
    glen_loops_free(t->loops);
  }
  glen_context_free(t->glen);
}

static size_t
bytes_of(const glen_array *a) {
  size_t n = glen_dtype_bytes(a->dtype);
  for (uint32_t d = 0; d < a->rank; d++)
    n *= (size_t)a->shape[d];
  return n;
}

static void *
guarded(size_t bytes) {
  void *block = NULL;
  size_t all = bytes + GUARD;
  if (posix_memalign(&block, 64, all ? all : 1))
    exit(1);
  memset(block, BEHIND, all);
  return block;
}

static bool
is_clean(const void *block, size_t bytes) {
  const unsigned char *behind = (const unsigned char *)block + bytes;
  for (size_t k = 0; k < GUARD; k++)
    if (behind[k] != BEHIND)
      return false;
  return true;
}

/* Room for the arrays of a set; the elements, too, of inputs. */
static void
add_arrays(arrays *a, const glen_tensors *t, bool filled) {
  for (uint32_t k = 0; k < glen_tensors_count(t) && a->n < MOST_ARRAYS; k++) {
    glen_array array = {.size = sizeof array};
    glen_tensor_array(t, k, &array);
    size_t bytes = a->bytes[a->n] = bytes_of(&array);
    void *block = a->at[a->n++] = guarded(bytes);
    if (filled)
      memcpy(block, array.data, bytes);
  }
}

static bool
are_clean(const arrays *a) {
  for (uint32_t k = 0; k < a->n; k++)
    if (!is_clean(a->at[k], a->bytes[k]))
      return false;
  return is_clean(a->workspace, a->room);
}

static double
element(const void *data, glen_dtype dtype, size_t k) {
  if (dtype == GLEN_F32)
    return ((const float *)data)[k];
  return dtype == GLEN_I32 ? ((const int32_t *)data)[k] : NAN;
}

static bool
are_close(const glen_array *want, const void *got) {
  size_t n = bytes_of(want) / glen_dtype_bytes(want->dtype);
  for (size_t k = 0; k < n; k++) {
    double x = element(want->data, want->dtype, k);
    double y = element(got, want->dtype, k);
    if (!(fabs(x - y) <= 1e-4 * fmax(1, fmax(fabs(x), fabs(y)))))
      return false;
  }
  return true;
}

static const char *
compare(const text *t, const arrays *a) {
  uint32_t inputs = glen_tensors_count(t->inputs);
  if (!are_clean(a))
    return "what lies behind an array was written";
  for (uint32_t k = 0; k < glen_tensors_count(t->expected); k++) {
    glen_array want = {.size = sizeof want};
    glen_tensor_array(t->expected, k, &want);
    if (!are_close(&want, a->at[inputs + k]))
      return "the interpreter gives something else";
  }
  return NULL;
}

static const char *
run(const code *c, const int64_t *sizes, const text *t) {
  arrays a = {0};
  add_arrays(&a, t->inputs, true);
  add_arrays(&a, t->expected, false);
  a.room = c->room(sizes);
  a.workspace = guarded(a.room);
  int status = c->call(sizes, a.at, a.workspace);
  const char *wrong = status ? "the call is refused" : compare(t, &a);
  for (uint32_t k = 0; k < a.n; k++)
    free(a.at[k]);
  free(a.workspace);
  return wrong;
}

static const char *
try_sizes(const code *c, const char *path, const int64_t *sizes) {
  text t = {0};
  const char *wrong = "it cannot be interpreted";
  if (read_text(path, c, sizes, &t) && interpret(&t))
    wrong = run(c, sizes, &t);
  end_text(&t);
  return wrong;
}

static bool
load(const char *path, code *out) {
  void *library = dlopen(path, RTLD_NOW);
  if (!library) {
    fprintf(stderr, "%s\n", dlerror());
    return false;
  }
  out->names = dlsym(library, "sizes_names");
  *(void **)&out->room = dlsym(library, "sizes_room");
  *(void **)&out->call = dlsym(library, "sizes_call");
  while (out->names && out->n < MOST_SIZES && out->names[out->n])
    out->n++;
  return out->names && out->room && out->call;
}

/* One number for each size; false at the end. */
static bool
next_sizes(int n, int64_t *sizes) {
  for (int k = 0; k < n; k++) {
    long long x;
    if (scanf("%lld", &x) != 1)
      return false;
    sizes[k] = x;
  }
  return true;
}

int
main(int argc, char **argv) {
  code c = {0};
  int64_t sizes[MOST_SIZES];
  if (argc != 3 || !load(argv[1], &c))
    return 1;
  while (next_sizes(c.n, sizes)) {
    const char *wrong = try_sizes(&c, argv[2], sizes);
    puts(wrong ? wrong : "ok");
    fflush(stdout);
  }
  return 0;
}
