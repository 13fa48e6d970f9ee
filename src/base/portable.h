/* SPDX-License-Identifier: MIT */
/* portable.h - what other systems spell differently from Linux, or lack. */
#ifndef BASE_PORTABLE_H
#define BASE_PORTABLE_H

#include <errno.h>
#include <fcntl.h>
#include <locale.h> /* locale_t, newlocale, uselocale */
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef __APPLE__
#include <crt_externs.h>
#include <xlocale.h>
#endif

typedef int bs_compare(const void *, const void *, void *user);

#ifdef __APPLE__
typedef struct bs_order {
  bs_compare *compare;
  void *user;
} bs_order;

static inline int
bs_compare_by(void *order, const void *a, const void *b) {
  const bs_order *o = order;
  return o->compare(a, b, o->user);
}
#endif

/* qsort, of a function that is given `user`, too. */
static inline void
bs_sort(void *base, size_t n, size_t size, bs_compare *compare, void *user) {
#ifdef __APPLE__
  bs_order order = {compare, user};
  qsort_r(base, n, size, &order, bs_compare_by);
#else
  qsort_r(base, n, size, compare, user);
#endif
}

/* Gives a file that size, with room on the disk where the system can promise
 * it; 0, or an error of errno. */
static inline int
bs_claim(int file, off_t size) {
#ifdef __APPLE__
  return ftruncate(file, size) ? errno : 0;
#else
  return posix_fallocate(file, 0, size);
#endif
}

static inline struct timespec
bs_written_at(const struct stat *st) {
#ifdef __APPLE__
  return st->st_mtimespec;
#else
  return st->st_mtim;
#endif
}

/* The settings of the environment.  A shared library of macOS cannot see
 * `environ` itself. */
static inline char **
bs_environment(void) {
#ifdef __APPLE__
  return *_NSGetEnviron();
#else
#ifndef __linux__
  extern char **environ; /* which POSIX leaves to the program to declare */
#endif
  return environ;
#endif
}

#endif
