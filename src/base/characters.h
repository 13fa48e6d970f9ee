/* SPDX-License-Identifier: MIT */
/* characters.h - what the bytes of an S-expression file are. */
#ifndef BASE_CHARACTERS_H
#define BASE_CHARACTERS_H

#include <stdbool.h>

typedef enum bs_class {
  BS_TOKEN, /* part of a symbol or a number */
  BS_SPACE,
  BS_OPEN,
  BS_CLOSE,
  BS_QUOTE,
  BS_COMMENT,
  BS_CONTROL /* has no place in a text */
} bs_class;

static inline bs_class
bs_class_of(char byte) {
  switch (byte) {
  case ' ':
  case '\t':
  case '\r':
  case '\n':
    return BS_SPACE;
  case '(':
    return BS_OPEN;
  case ')':
    return BS_CLOSE;
  case '"':
    return BS_QUOTE;
  case ';':
    return BS_COMMENT;
  default: {
    unsigned char code = (unsigned char)byte;
    return code < ' ' || code == 0x7f ? BS_CONTROL : BS_TOKEN;
  }
  }
}

#endif
