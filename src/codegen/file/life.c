/* SPDX-License-Identifier: MIT */
/* life.c - NAME_init and NAME_free: what a net needs once, made from the files
 * in which its weights stand.
 *
 * NAME_init maps the files, NAME_init_from is given their bytes; both call
 * NAME_prepack on what lies where the program says, in memory that NAME_free
 * gives back.  A file that has changed since the code was written is an error:
 * it is long enough, and what it says of itself has the hash it had.
 *
 * The text stands behind all other, with what it includes: no name of an array
 * meets a macro of the system's. */
#include "codegen/file/file.h"
#include <ctype.h>
#include <string.h>

static const gs_data *
data_of(const po_program *p, const po_array *array) {
  return array->prepack
             ? gs_find_data(p->source,
                            p->source->inputs.data[array->number].name)
             : NULL;
}

bool
cg_has_life(const po_program *p) {
  for (uint32_t k = 0; k < p->arrays.len; k++) {
    const gs_data *data = data_of(p, &p->arrays.data[k]);
    if (p->arrays.data[k].prepack && (!data || !data->located))
      return false;
  }
  return po_has_prepacked(p);
}

/* ---- files ---- */

typedef struct file {
  const char *name;
  int64_t end;        /* of the last element in it */
  const gs_data *own; /* one that tells of the header, or NULL */
} file;

typedef BS_VEC(file) files;

static uint32_t
file_of(bs_heap *heap, files *list, const gs_data *data) {
  const gs_data_site *site = &data->site;
  uint32_t k = 0;
  while (k < list->len && strcmp(list->data[k].name, data->file) != 0)
    k++;
  if (k == list->len)
    bs_push(heap, list, (file){data->file, 0, NULL});
  file *f = &list->data[k];
  f->end =
      f->end > site->offset + site->bytes ? f->end : site->offset + site->bytes;
  f->own = site->header ? data : f->own;
  return k;
}

static files
files_of(const po_program *p) {
  files list = {0};
  for (uint32_t k = 0; k < p->arrays.len; k++)
    if (p->arrays.data[k].prepack)
      file_of(p->ctx.heap, &list, data_of(p, &p->arrays.data[k]));
  return list;
}

/* ---- the header ---- */

static const struct {
  const char *word, *meaning;
} faults[] = {
    {"FILE", "a file cannot be opened or mapped"},
    {"SIZE", "a file ends before the weights do"},
    {"HEADER", "a file is not the one that this code was written for"},
    {"MEMORY", "there is no memory"},
    {"POINTER", "a pointer is NULL or not aligned to 8"},
};

static void
put_upper(bs_text *out, const char *name) {
  for (; *name; name++)
    bs_putc(out, (char)toupper((unsigned char)*name));
}

static void
put_faults(bs_text *out, const char *name) {
  for (uint32_t k = 0; k < sizeof faults / sizeof *faults; k++) {
    bs_put(out, "#define ");
    put_upper(out, name);
    bs_putf(out, "_ERROR_%s %u%*s /* %s */\n", faults[k].word, k + 1,
            (int)(strlen("POINTER") - strlen(faults[k].word)), "",
            faults[k].meaning);
  }
  bs_putc(out, '\n');
}

/* A name within a comment, which it cannot end. */
static void
put_in_comment(bs_text *out, const char *name) {
  for (char before = 0; *name; before = *name++)
    bs_putf(out, before == '*' && *name == '/' ? " %c" : "%c", *name);
}

static void
put_file_list(bs_text *out, const files *list) {
  for (uint32_t k = 0; k < list->len; k++) {
    bs_putf(out, " *   files[%u]   ", k);
    put_in_comment(out, list->data[k].name);
    bs_putf(out, ", %s%lld bytes\n",
            list->data[k].own ? "as it was, at least " : "at least ",
            (long long)list->data[k].end);
  }
}

void
cg_put_life_header(const po_program *p, const cg_options *options,
                   bs_text *out) {
  const char *n = options->name;
  files list = files_of(p);
  put_faults(out, n);
  bs_putf(
      out,
      "/* %s_init - makes what is prepacked, once, from the weights in\n *\n",
      n);
  put_file_list(out, &list);
  bs_putf(
      out,
      " *\n * These files are looked for in `folder`, or, if that is NULL, in "
      "the current\n * one, and are not needed any more afterwards. "
      "*prepacked may be read by any\n * number of calls and threads at a "
      "time, until %s_free. Returns 0, or an error,\n * and then *prepacked "
      "is NULL. */\n"
      "int %s_init(const char *folder, void **prepacked);\n\n"
      "/* The same from the bytes of these files, aligned to 8, of so many "
      "bytes each. */\n"
      "int %s_init_from(const void *const *files, const size_t *sizes,\n"
      "    void **prepacked);\n\n"
      "/* When no call uses it any more; NULL is let be. */\n"
      "void %s_free(void *prepacked);\n\n",
      n, n, n, n);
  bs_vec_done(p->ctx.heap, &list);
}

/* ---- the code ---- */

void
cg_put_life_top(const po_program *p, bs_text *out) {
  if (cg_has_life(p))
    bs_put(out, "/* Files are mapped. */\n"
                "#if defined(__linux__) && !defined(_DEFAULT_SOURCE)\n"
                "#define _DEFAULT_SOURCE 1\n#endif\n"
                "#ifndef _FILE_OFFSET_BITS\n"
                "#define _FILE_OFFSET_BITS 64\n#endif\n");
}

static const char includes[] =
    "\n#include <stdlib.h>\n#include <string.h>\n"
    "#if defined(__unix__) || defined(__APPLE__)\n"
    "#include <fcntl.h>\n#include <sys/mman.h>\n#include <sys/stat.h>\n"
    "#include <unistd.h>\n"
    "#else\n#include <stdio.h>\n#endif\n\n";

/* `$` stands for the name of the function. */
static const char mapping[] =
    "#if defined(__unix__) || defined(__APPLE__)\n"
    "static void *\n"
    "$_map(const char *path, size_t *size) {\n"
    "  struct stat status;\n"
    "  void *map = MAP_FAILED;\n"
    "  int file = open(path, O_RDONLY);\n"
    "  if (file < 0)\n    return NULL;\n"
    "  if (!fstat(file, &status) && status.st_size > 0) {\n"
    "    *size = (size_t)status.st_size;\n"
    "    map = mmap(NULL, *size, PROT_READ, MAP_PRIVATE, file, 0);\n"
    "  }\n"
    "  close(file);\n"
    "  return map == MAP_FAILED ? NULL : map;\n"
    "}\n\n"
    "static void\n"
    "$_unmap(void *map, size_t size) {\n"
    "  if (map)\n    munmap(map, size);\n"
    "}\n"
    "#else\n"
    "static void *\n"
    "$_map(const char *path, size_t *size) {\n"
    "  FILE *file = fopen(path, \"rb\");\n"
    "  void *bytes = NULL;\n"
    "  long n = file && !fseek(file, 0, SEEK_END) ? ftell(file) : -1;\n"
    "  if (n > 0 && !fseek(file, 0, SEEK_SET))\n"
    "    bytes = malloc((size_t)n);\n"
    "  *size = bytes ? fread(bytes, 1, (size_t)n, file) : 0;\n"
    "  if (file)\n    fclose(file);\n"
    "  return bytes;\n"
    "}\n\n"
    "static void\n"
    "$_unmap(void *map, size_t size) {\n"
    "  (void)size;\n"
    "  free(map);\n"
    "}\n"
    "#endif\n\n"
    "static void *\n"
    "$_map_in(const char *folder, const char *name, size_t *size) {\n"
    "  size_t n = folder ? strlen(folder) : 0;\n"
    "  char *path = malloc(n + strlen(name) + 2);\n"
    "  void *map;\n"
    "  if (!path)\n    return NULL;\n"
    "  if (n)\n    memcpy(path, folder, n);\n"
    "  if (n && path[n - 1] != '/')\n    path[n++] = '/';\n"
    "  strcpy(path + n, name);\n"
    "  map = $_map(path, size);\n"
    "  free(path);\n"
    "  return map;\n"
    "}\n\n";

/* The block that malloc gave stands in the word before. */
static const char memory[] =
    "static void *\n"
    "$_block(size_t bytes) {\n"
    "  unsigned char *all = malloc(bytes + sizeof(void *) + 64), *at;\n"
    "  if (!all)\n    return NULL;\n"
    "  at = all + sizeof(void *);\n"
    "  at += (64 - (uintptr_t)at % 64) % 64;\n"
    "  memcpy(at - sizeof(void *), &all, sizeof(void *));\n"
    "  return at;\n"
    "}\n\n"
    "void\n"
    "$_free(void *prepacked) {\n"
    "  void *all;\n"
    "  if (!prepacked)\n    return;\n"
    "  memcpy(&all, (unsigned char *)prepacked - sizeof(void *), "
    "sizeof(void *));\n"
    "  free(all);\n"
    "}\n\n";

static const char hashing[] =
    "static uint64_t\n"
    "$_hash(const void *bytes, size_t n) {\n"
    "  const unsigned char *b = bytes;\n"
    "  uint64_t hash = 0xcbf29ce484222325u;\n"
    "  while (n--)\n    hash = (hash ^ *b++) * 0x100000001b3u;\n"
    "  return hash;\n"
    "}\n\n";

static void
put_named(bs_text *out, const char *text, const char *name) {
  for (const char *at = text; *at; at++)
    if (*at == '$')
      bs_put(out, name);
    else
      bs_putc(out, *at);
}

static void
put_return_if(bs_text *out, uint32_t fault) {
  bs_putf(out, ")\n    return %u; /* %s */\n", fault + 1,
          faults[fault].meaning);
}

enum { FAULT_FILE, FAULT_SIZE, FAULT_HEADER, FAULT_MEMORY, FAULT_POINTER };

static void
put_checks(bs_text *out, const char *name, const files *list) {
  for (uint32_t k = 0; k < list->len; k++) {
    const file *f = &list->data[k];
    bs_putf(out, "  if (!files[%u] || (uintptr_t)files[%u] %% 8", k, k);
    put_return_if(out, FAULT_POINTER);
    bs_putf(out, "  if (sizes[%u] < %llu", k, (unsigned long long)f->end);
    put_return_if(out, FAULT_SIZE);
    if (!f->own)
      continue;
    bs_putf(out, "  if (%s_hash(files[%u], %llu) != 0x%llxu", name, k,
            (unsigned long long)f->own->site.header,
            (unsigned long long)f->own->site.hash);
    put_return_if(out, FAULT_HEADER);
  }
}

static bool
is_aligned(const po_array *array, const gs_data *data) {
  return data->site.offset % gs_dtype_table[array->dtype].bytes == 0;
}

/* What is not aligned in its file is read from copies: their bytes, and, where
 * `out` is given, how they are made. */
static int64_t
each_copy(const po_program *p, files *list, bs_text *out) {
  int64_t at = 0;
  for (uint32_t k = 0; k < p->arrays.len; k++) {
    const gs_data *data = data_of(p, &p->arrays.data[k]);
    if (!data || is_aligned(&p->arrays.data[k], data))
      continue;
    if (out)
      bs_putf(
          out,
          "  memcpy(copies + %lld, (const unsigned char *)files[%u] + %lld, "
          "%lld);\n",
          (long long)at, file_of(p->ctx.heap, list, data),
          (long long)data->site.offset, (long long)data->site.bytes);
    at += (data->site.bytes + 7) / 8 * 8;
  }
  return at;
}

static void
put_prepack_call(const po_program *p, const char *name, files *list,
                 bs_text *out) {
  int64_t copied = 0;
  bs_putf(out, "  %s_prepack(\n", name);
  for (uint32_t k = 0; k < p->arrays.len; k++) {
    const po_array *array = &p->arrays.data[k];
    const gs_data *data = data_of(p, array);
    if (!data)
      continue;
    bool aligned = is_aligned(array, data);
    bs_putf(out, "      (const %s *)(const void *)(",
            gs_dtype_table[array->dtype].c_type);
    if (aligned)
      bs_putf(out, "(const unsigned char *)files[%u] + %lld),\n",
              file_of(p->ctx.heap, list, data), (long long)data->site.offset);
    else
      bs_putf(out, "copies + %lld),\n", (long long)copied);
    copied += aligned ? 0 : (data->site.bytes + 7) / 8 * 8;
  }
  bs_put(out, "      *prepacked);\n");
}

static void
put_copies(const po_program *p, const char *name, files *list, bs_text *out) {
  int64_t bytes = each_copy(p, list, NULL);
  if (!bytes)
    return;
  bs_putf(out, "  copies = %s_block(%lld);\n  if (!copies) {\n", name,
          (long long)bytes);
  bs_putf(out,
          "    %s_free(*prepacked);\n    *prepacked = NULL;\n"
          "    return %u;\n  }\n",
          name, FAULT_MEMORY + 1);
  each_copy(p, list, out);
}

static void
put_init_from(const po_program *p, const char *name, files *list,
              bs_text *out) {
  bool copies = each_copy(p, list, NULL) > 0;
  bs_putf(out,
          "int\n%s_init_from(const void *const *files, const size_t *sizes,\n"
          "    void **prepacked) {\n%s"
          "  *prepacked = NULL;\n",
          name, copies ? "  unsigned char *copies;\n" : "");
  put_checks(out, name, list);
  bs_putf(out, "  *prepacked = %s_block(%s_prepacked_size());\n", name, name);
  bs_put(out, "  if (!*prepacked");
  put_return_if(out, FAULT_MEMORY);
  put_copies(p, name, list, out);
  put_prepack_call(p, name, list, out);
  if (copies)
    bs_putf(out, "  %s_free(copies);\n", name);
  bs_put(out, "  return 0;\n}\n\n");
}

static void
put_init(const char *name, const files *list, bs_text *out) {
  bs_putf(out,
          "int\n%s_init(const char *folder, void **prepacked) {\n"
          "  static const char *const names[] = {\n",
          name);
  for (uint32_t k = 0; k < list->len; k++)
    bs_putf(out, "      \"%s\",\n", list->data[k].name);
  bs_putf(out,
          "  };\n  void *files[%u];\n  size_t sizes[%u] = {0};\n"
          "  int failed = 0;\n  *prepacked = NULL;\n"
          "  for (int k = 0; k < %u; k++) {\n"
          "    files[k] = %s_map_in(folder, names[k], &sizes[k]);\n"
          "    if (!files[k])\n      failed = %u; /* %s */\n",
          list->len, list->len, list->len, name, FAULT_FILE + 1,
          faults[FAULT_FILE].meaning);
  bs_putf(out,
          "  }\n  if (!failed)\n"
          "    failed = %s_init_from((const void *const *)files, sizes, "
          "prepacked);\n"
          "  for (int k = 0; k < %u; k++)\n"
          "    %s_unmap(files[k], sizes[k]);\n  return failed;\n}\n",
          name, list->len, name);
}

static bool
any_header(const files *list) {
  for (uint32_t k = 0; k < list->len; k++)
    if (list->data[k].own)
      return true;
  return false;
}

void
cg_put_life(const po_program *p, const cg_options *options, bs_text *out) {
  const char *name = options->name;
  if (!cg_has_life(p))
    return;
  files list = files_of(p);
  bs_put(out, includes);
  put_named(out, mapping, name);
  put_named(out, memory, name);
  if (any_header(&list))
    put_named(out, hashing, name);
  put_init_from(p, name, &list, out);
  put_init(name, &list, out);
  bs_vec_done(p->ctx.heap, &list);
}
