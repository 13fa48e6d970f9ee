/* SPDX-License-Identifier: MIT */
/* uri.c - file names and URIs (RFC 3986, file: and others). */
#include "lsp/server.h"
#include <stdlib.h>
#include <string.h>

static int
hex(char c) {
  if (c >= '0' && c <= '9')
    return c - '0';
  c |= 0x20;
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Suffixes of texts that were never saved, by the client's language id. */
static const struct {
  const char *language, *suffix;
} suffixes[] = {
    {"glen", ".glen"},
    {"glen-rules", ".rules"},
    {"glen-target", ".target"},
    {"glen-sched", ".sched"},
};

static const char *
suffix_of(const char *language) {
  for (size_t k = 0; k < sizeof suffixes / sizeof *suffixes; k++)
    if (!strcmp(suffixes[k].language, language))
      return suffixes[k].suffix;
  return "";
}

char *
lsp_path_of(const char *uri, const char *language) {
  bool file = !strncmp(uri, "file://", 7);
  const char *from = file ? uri + 7 : uri;
  if (file && from[0] != '/') /* an authority, as in file://localhost/x */
    from = strchr(from, '/') ? strchr(from, '/') : "";
  char *path = malloc(strlen(from) + 16);
  if (!path)
    return NULL;
  char *to = path;
  for (; *from; from++) {
    int high = *from == '%' ? hex(from[1]) : -1;
    int low = high >= 0 ? hex(from[2]) : -1;
    int byte = low >= 0 ? 16 * high + low : 0;
    *to++ = byte ? (char)byte : *from;
    from += byte ? 2 : 0;
  }
  *to = '\0';
  if (!file && !glen_is_source(path))
    strcpy(to, suffix_of(language));
  return path;
}

static bool
is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c >= '0' && c <= '9') || (c && strchr("/-._~", c));
}

char *
lsp_uri_of(const char *path) {
  static const char digits[] = "0123456789ABCDEF";
  char *uri = malloc(strlen(path) * 3 + 8);
  if (!uri)
    return NULL;
  strcpy(uri, "file://");
  char *to = uri + 7;
  for (; *path; path++)
    if (is_plain(*path)) {
      *to++ = *path;
    } else {
      *to++ = '%';
      *to++ = digits[(unsigned char)*path >> 4];
      *to++ = digits[(unsigned char)*path & 15];
    }
  *to = '\0';
  return uri;
}
