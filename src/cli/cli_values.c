/* SPDX-License-Identifier: MIT */
/* cli_values.c - see cli_values.h.
 *
 * A key is pressed and the shell waits: rule files are looked through for what
 * their forms define, and not read as rules. */
#include "cli/cli_values.h"
#include "cli/cli_options.h"
#include "glen/glen.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_SIZE = 4096, LINE = 1024 };

static int
by_name(const struct dirent **a, const struct dirent **b) {
  return strcmp((*a)->d_name, (*b)->d_name);
}

/* Files of a folder that end so, without the end where `bare`. */
static bool
each_file(const char *folder, const char *suffix, bool bare,
          void (*each)(void *, const char *name), void *arg) {
  char name[PATH_SIZE];
  struct dirent **files;
  int n = scandir(folder, &files, NULL, by_name);
  for (int k = 0; k < n; k++) {
    size_t length = strlen(files[k]->d_name), end = strlen(suffix);
    if (length > end && !strcmp(files[k]->d_name + length - end, suffix)) {
      snprintf(name, sizeof name, "%.*s", (int)(length - (bare ? end : 0)),
               files[k]->d_name);
      each(arg, name);
    }
    free(files[k]);
  }
  if (n >= 0)
    free(files);
  return n >= 0;
}

bool
cl_data_names(const char *folder, const char *suffix,
              void (*each)(void *, const char *name), void *arg) {
  char data[PATH_SIZE], path[PATH_SIZE + 16];
  if (!glen_data_folder(data, sizeof data))
    return false;
  snprintf(path, sizeof path, "%s/%s", data, folder);
  return each_file(path, suffix, true, each, arg);
}

/* ---- what rule files define ---- */

typedef struct search {
  cl_offer *offer;
  const cl_words *words;
  const char *forms; /* heads between spaces */
  const char *folder;
} search;

/* `(rule NAME` at any depth, one a line; `size NAME:` of loops. */
static void
look_at_line(const search *s, const char *text) {
  char head[32], name[128];
  const char *open = text + strspn(text, " \t");
  bool list = *open == '(';
  if (sscanf(open + list, "%30[a-z] %127[^ \t()\";:\n]", head, name) == 2 &&
      (list || !strcmp(head, "size")) && cl_is_choice(s->forms, head))
    cl_offer_word(s->offer, name, head);
}

static void
look_into(void *arg, const char *file) {
  const search *s = arg;
  char path[2 * PATH_SIZE], text[LINE];
  snprintf(path, sizeof path, "%s%s%s", s->folder, *s->folder ? "/" : "", file);
  FILE *f = fopen(path, "r");
  while (f && fgets(text, sizeof text, f))
    look_at_line(s, text);
  if (f)
    fclose(f);
}

/* Of the files that --rules names, or of those that come with glen. */
static void
offer_defined(search *s) {
  char path[PATH_SIZE];
  const char *name = cl_said(s->words, "rules", 'r');
  if (!glen_find(GLEN_DATA_RULES, name, path, sizeof path))
    return;
  s->folder = path;
  if (!each_file(path, ".rules", false, look_into, s)) {
    s->folder = "";
    look_into(s, path);
  }
}

static void
offer_strategies(search *s) {
  s->forms = " strategy ";
  offer_defined(s);
}

static void
offer_rules(search *s) {
  s->forms = " rule ruleset ";
  offer_defined(s);
}

static void
offer_params(search *s) {
  s->offer->behind = "=";
  s->forms = " param ";
  offer_defined(s);
}

/* ---- what a target or a program has ---- */

static void
offer_instrs(search *s) {
  glen_context *glen = glen_context_new(NULL, 0);
  const char *name = cl_said(s->words, "target", 't');
  glen_target *t = glen && name ? glen_target_named(glen, name) : NULL;
  for (uint32_t k = 0; t && k < glen_target_instrs(t); k++)
    cl_offer_word(s->offer, glen_target_instr(t, k), "instruction");
  if (glen)
    glen_context_free(glen);
}

static void
offer_reasons(search *s) {
  offer_instrs(s);
  s->forms = " rule ";
  offer_defined(s);
}

/* The first word that ends in one of the suffixes, or NULL. */
static const char *
file_of(const cl_words *w, const char *suffixes) {
  for (uint32_t k = 0; k + 1 < w->n; k++) {
    const char *dot = strrchr(w->words[k], '.');
    if (w->words[k][0] != '-' && dot && cl_is_choice(suffixes, dot))
      return w->words[k];
  }
  return NULL;
}

static glen_program *
program_of(const cl_words *w, glen_context *glen) {
  const char *target = cl_said(w, "target", 't');
  const char *path = file_of(w, " .glen .onnx ");
  return path ? glen_program_load(
                    glen, target ? glen_target_named(glen, target) : NULL, path)
              : NULL;
}

static void
offer_sizes(search *s) {
  const char *path = file_of(s->words, " .glen .loops ");
  s->offer->behind = "=";
  s->forms = " size ";
  if (path)
    look_into(s, path);
}

static void
offer_dims(search *s) {
  glen_context *glen = glen_context_new(NULL, 0);
  const char *path = file_of(s->words, " .onnx ");
  const char *names = glen && path ? glen_model_open_dims(glen, path) : NULL;
  char name[128];
  s->offer->behind = "=";
  for (size_t n; names && *names; names += n + 1) {
    n = strcspn(names, "\n");
    if (n < sizeof name && snprintf(name, sizeof name, "%.*s", (int)n, names))
      cl_offer_word(s->offer, name, "open dimension");
  }
  if (glen)
    glen_context_free(glen);
}

static void
offer_inputs(search *s) {
  glen_context *glen = glen_context_new(NULL, 0);
  glen_program *p = glen ? program_of(s->words, glen) : NULL;
  for (uint32_t k = 0; p && k < glen_program_inputs(p); k++)
    cl_offer_word(s->offer, glen_input_name(p, k), NULL);
  if (glen)
    glen_context_free(glen);
}

static void
offer_arrays(search *s) {
  s->offer->behind = "=";
  offer_inputs(s);
}

static void
offer_layers(search *s) {
  glen_context *glen = glen_context_new(NULL, 0);
  glen_program *p = glen ? program_of(s->words, glen) : NULL;
  glen_layers *layers = p ? glen_layers_new(glen, p) : NULL;
  for (uint32_t k = 0; layers && k < glen_layers_count(layers); k++)
    cl_offer_word(s->offer, glen_layer_name(layers, k), "layer");
  glen_layers_free(layers);
  if (glen)
    glen_context_free(glen);
}

/* ---- what comes with glen ---- */

static void
offer_name(void *arg, const char *name) {
  cl_offer_word(arg, name, "comes with glen");
}

void
cl_offer_shipped(cl_offer *o, const char *folder, const char *suffix) {
  cl_data_names(folder, suffix, offer_name, o);
  fprintf(o->out, ":files %s\n", suffix);
}

static void
offer_targets(search *s) {
  cl_offer_word(s->offer, "native", "this machine");
  cl_offer_shipped(s->offer, "targets", ".target");
}

static void
offer_rule_files(search *s) {
  cl_offer_word(s->offer, "none", "no rules");
  cl_offer_shipped(s->offer, "rules", ".rules");
}

static const struct {
  const char *option;
  int commands;
  void (*offer)(search *);
} kinds[] = {
    {"target", EVERY, offer_targets},
    {"rules", EVERY, offer_rule_files},
    {"strategy", EVERY, offer_strategies},
    {"disable-rule", EVERY, offer_rules},
    {"param", EVERY, offer_params},
    {"why-not", EVERY, offer_reasons},
    {"filter", RULES_PROVE | RULES_ABLATE, offer_rules},
    {"prepack", EVERY, offer_inputs},
    {"input", EVERY, offer_arrays},
    {"require", EVERY, offer_layers},
    {"size", EVERY, offer_sizes},
    {"dim", EVERY, offer_dims},
};

static void (*offer_of(const cl_row *r, int commands))(search *) {
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
    if (!strcmp(kinds[k].option, r->name) && (kinds[k].commands & commands))
      return kinds[k].offer;
  return NULL;
}

bool
cl_has_names(const cl_row *r) {
  return offer_of(r, r->commands) != NULL;
}

bool
cl_offer_names(cl_offer *o, const cl_command *command, const cl_row *r,
               const cl_words *words) {
  search s = {.offer = o, .words = words, .folder = ""};
  void (*offer)(search *) = offer_of(r, cl_command_bit(command) & r->commands);
  if (offer)
    offer(&s);
  return offer != NULL;
}
