/* SPDX-License-Identifier: MIT */
/* foreign_bytes.c - what files begin with that are often passed in place of
 * text or of a model. */
#include "base/foreign_bytes.h"

#include <string.h>

bool
bs_hint_bytes(bs_diags *diags, const char *bytes, size_t size) {
  static const struct {
    size_t at;
    const char *bytes, *hint;
  } kinds[] = {
      {0, "\xff\xfe", "it looks like UTF-16: save it as UTF-8"},
      {0, "\xfe\xff", "it looks like UTF-16: save it as UTF-8"},
      {0, "\x1f\x8b", "it is compressed by gzip: gunzip it first"},
      {0,
       "\x7f"
       "ELF",
       "it is a compiled program or library, not a source"},
      {0, "\x89PNG", "it is an image"},
      {0, "PK",
       "it is a zip archive, such as torch.save writes; "
       "torch.onnx.export writes models that glen reads"},
      {4, "TFL3",
       "it is a model of TensorFlow Lite; tf2onnx turns it into one "
       "in the ONNX format, which glen reads"},
      {0, "\x89HDF",
       "it is an HDF5 file, such as Keras writes; tf2onnx turns "
       "a model into one in the ONNX format, which glen reads"},
      {0, "\x93NUMPY",
       "it is an array of numpy: pass it to glen run with "
       "--input NAME=F.npy"},
  };
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
    size_t at = kinds[k].at, n = strlen(kinds[k].bytes);
    if (size > at + n && !memcmp(bytes + at, kinds[k].bytes, n)) {
      bs_hint(diags, "%s", kinds[k].hint);
      return true;
    }
  }
  return false;
}
