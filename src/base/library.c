/* SPDX-License-Identifier: MIT */
/* library.c - see library.h. */
#include "base/library.h"
#include <dlfcn.h>
#include <string.h>

enum { LONGEST = 100 };

/* The next word of *at, in `word`; false where there is none. */
static bool
next_word(const char **at, char word[LONGEST]) {
  *at += strspn(*at, " ");
  size_t n = strcspn(*at, " ");
  if (!n || n >= LONGEST)
    return false;
  memcpy(word, *at, n);
  word[n] = '\0';
  *at += n;
  return true;
}

static void *
open_first(const char *names) {
  char name[LONGEST];
  void *library = NULL;
  while (!library && next_word(&names, name))
    library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  return library;
}

bool
bs_library_load(const char *names, const char *functions, void **out) {
  char name[LONGEST];
  void *library = open_first(names);
  bool whole = library != NULL;
  for (size_t k = 0; whole && next_word(&functions, name); k++)
    whole = (out[k] = dlsym(library, name)) != NULL;
  if (library && !whole)
    dlclose(library);
  return whole;
}

void
bs_library_keep(void *library, const char *function) {
  Dl_info info;
  void *found = dlsym(library, function);
  if (!found || !dladdr(found, &info) || !info.dli_fname)
    return;
  void *kept = dlopen(info.dli_fname, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (kept)
    dlclose(kept);
}
