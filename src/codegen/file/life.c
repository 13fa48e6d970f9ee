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
#include "base/whole.h"
#include "codegen/file/codegen_file.h"
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
    if (p->arrays.data[k].prepack && (!data || !data->site->known))
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
  const gs_data_site *site = data->site;
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

enum { NAME_INIT, NAME_INIT_FROM, NAME_FREE };

static cg_function
signature_of(const char *name, uint32_t which, bs_arena *arena) {
  static const struct {
    const char *name;
    uint32_t n;
    cg_parameter parameters[3];
  } table[] = {
      [NAME_INIT] = {"init",
                     2,
                     {{"const char *", "folder", false},
                      {"void **", "prepacked", false}}},
      [NAME_INIT_FROM] = {"init_from",
                          3,
                          {{"const void *const *", "files", false},
                           {"const size_t *", "sizes", false},
                           {"void **", "prepacked", true}}},
      [NAME_FREE] = {"free", 1, {{"void *", "prepacked", false}}},
  };
  return (cg_function){
      .name = bs_arena_printf(arena, "%s_%s", name, table[which].name),
      .n_parameters = table[which].n,
      .parameters = table[which].parameters,
      .by_hand = true};
}

static void
put_prototype(bs_arena *arena, bs_text *out, const char *type, const char *name,
              uint32_t which) {
  cg_function f = signature_of(name, which, arena);
  cg_put_prototype(out, type, &f);
}

void
cg_put_life_header(const po_program *p, const cg_options *options,
                   bs_arena *arena, bs_text *out) {
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
      "is NULL. */\n",
      n);
  put_prototype(arena, out, "int", n, NAME_INIT);
  bs_put(out,
         "/* What init makes, from the bytes of the files themselves, in the "
         "order above,\n * each aligned to 8; sizes: their bytes. */\n");
  put_prototype(arena, out, "int", n, NAME_INIT_FROM);
  bs_put(out, "/* When no call uses it any more; NULL is let be. */\n");
  put_prototype(arena, out, "void", n, NAME_FREE);
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

enum { FAULT_FILE, FAULT_SIZE, FAULT_HEADER, FAULT_MEMORY, FAULT_POINTER };

/* What one function is written of. */
typedef struct life {
  const po_program *p;
  const char *name;
  files *list;
  bs_arena *arena;
  cg_writer *w;
} life;

static void
open_function(const life *l, uint32_t which, const char *head) {
  cg_function f = signature_of(l->name, which, l->arena);
  f.head = head;
  cg_start(l->w, l->arena);
  cg_open_function(l->w, &f);
}

/* What makes a function fail is said before its test. */
static void
write_fault(const life *l, uint32_t fault) {
  cg_write_nodes(l->w, cg_make_comment(l->w->arena, faults[fault].meaning));
}

static void
write_checks(const life *l) {
  for (uint32_t k = 0; k < l->list->len; k++) {
    const file *f = &l->list->data[k];
    write_fault(l, FAULT_POINTER);
    cg_write(l->w, "if (!files[%u] || (uintptr_t)files[%u] %% 8)", k, k);
    cg_write(l->w, "return %u;", FAULT_POINTER + 1);
    write_fault(l, FAULT_SIZE);
    cg_write(l->w, "if (sizes[%u] < %llu)", k, (unsigned long long)f->end);
    cg_write(l->w, "return %u;", FAULT_SIZE + 1);
    if (!f->own)
      continue;
    write_fault(l, FAULT_HEADER);
    cg_write(l->w, "if (%s_hash(files[%u], %llu) != 0x%llxu)", l->name, k,
             (unsigned long long)f->own->site->header,
             (unsigned long long)f->own->site->hash);
    cg_write(l->w, "return %u;", FAULT_HEADER + 1);
  }
}

static bool
is_aligned(const po_array *array, const gs_data *data) {
  return data->site->offset % gs_dtype_table[array->dtype].bytes == 0;
}

/* What is not aligned in its file is read from copies: the bytes of one. */
static int64_t
copied_bytes(const po_array *array, const gs_data *data) {
  return data && !is_aligned(array, data) ? bs_round_up(data->site->bytes, 8)
                                          : 0;
}

static int64_t
all_copied_bytes(const po_program *p) {
  int64_t n = 0;
  for (uint32_t k = 0; k < p->arrays.len; k++)
    n += copied_bytes(&p->arrays.data[k], data_of(p, &p->arrays.data[k]));
  return n;
}

static void
write_copies(const life *l) {
  const po_program *p = l->p;
  int64_t bytes = all_copied_bytes(p), at = 0;
  if (!bytes)
    return;
  cg_write(l->w, "copies = %s_block(%lld);", l->name, (long long)bytes);
  cg_write(l->w, "if (!copies) {");
  cg_write(l->w, "%s_free(*prepacked);", l->name);
  cg_write(l->w, "*prepacked = NULL;");
  cg_write(l->w, "return %u;", FAULT_MEMORY + 1);
  cg_write(l->w, "}");
  for (uint32_t k = 0; k < p->arrays.len; k++) {
    const gs_data *data = data_of(p, &p->arrays.data[k]);
    int64_t copied = copied_bytes(&p->arrays.data[k], data);
    if (!copied)
      continue;
    cg_write(l->w,
             "memcpy(copies + %lld, (const unsigned char *)files[%u] + %lld, "
             "%lld);",
             (long long)at, file_of(p->ctx.heap, l->list, data),
             (long long)data->site->offset, (long long)data->site->bytes);
    at += copied;
  }
}

static void
write_prepack_call(const life *l) {
  const po_program *p = l->p;
  int64_t at = 0;
  cg_add(l->w, "%s_prepack(\n", l->name);
  for (uint32_t k = 0; k < p->arrays.len; k++) {
    const po_array *array = &p->arrays.data[k];
    const gs_data *data = data_of(p, array);
    int64_t copied = copied_bytes(array, data);
    if (!data)
      continue;
    cg_add(l->w, "(const %s *)(const void *)(",
           gs_dtype_table[array->dtype].c_type);
    if (copied)
      cg_add(l->w, "copies + %lld),\n", (long long)at);
    else
      cg_add(l->w, "(const unsigned char *)files[%u] + %lld),\n",
             file_of(p->ctx.heap, l->list, data),
             (long long)data->site->offset);
    at += copied;
  }
  cg_write(l->w, "*prepacked);");
}

static bool
put_init_from(const life *l, bs_text *out) {
  cg_writer *w = l->w;
  bool copies = all_copied_bytes(l->p) > 0;
  open_function(l, NAME_INIT_FROM, "int");
  if (copies)
    cg_write(w, "unsigned char *copies;");
  cg_write(w, "*prepacked = NULL;");
  write_checks(l);
  cg_write(w, "*prepacked = %s_block(%s_prepacked_size());", l->name, l->name);
  write_fault(l, FAULT_MEMORY);
  cg_write(w, "if (!*prepacked)");
  cg_write(w, "return %u;", FAULT_MEMORY + 1);
  write_copies(l);
  write_prepack_call(l);
  if (copies)
    cg_write(w, "%s_free(copies);", l->name);
  cg_write(w, "return 0;");
  return cg_close_entry(l->p, w, out);
}

/* static const char *const names[] = {"..", ".."}; */
static cg_node *
make_names(const life *l) {
  bs_arena *arena = l->w->arena;
  const cg_expr **names = BS_NEWS(arena, const cg_expr *, l->list->len);
  for (uint32_t k = 0; k < l->list->len; k++)
    names[k] = cg_broken(
        arena, cg_literal(arena, bs_arena_printf(arena, "\"%s\"",
                                                 l->list->data[k].name)));
  cg_node *let = cg_make_let(arena, "static const char *const", "names",
                             cg_braces(arena, NULL, l->list->len, names));
  let->let.elements = l->list->len;
  return let;
}

static bool
put_init(const life *l, bs_text *out) {
  cg_writer *w = l->w;
  unsigned n = l->list->len;
  open_function(l, NAME_INIT, "\nint");
  cg_write_nodes(w, make_names(l));
  cg_write(w, "void *files[%u];", n);
  cg_write(w, "size_t sizes[%u] = {0};", n);
  cg_write(w, "int failed = 0;");
  cg_write(w, "*prepacked = NULL;");
  cg_write(w, "for (int k = 0; k < %u; k++) {", n);
  cg_write(w, "files[k] = %s_map_in(folder, names[k], &sizes[k]);", l->name);
  write_fault(l, FAULT_FILE);
  cg_write(w, "if (!files[k])");
  cg_write(w, "failed = %u;", FAULT_FILE + 1);
  cg_write(w, "}");
  cg_write(w, "if (!failed)");
  cg_write(w,
           "failed = %s_init_from((const void *const *)files, sizes, "
           "prepacked);",
           l->name);
  cg_write(w, "for (int k = 0; k < %u; k++)", n);
  cg_write(w, "%s_unmap(files[k], sizes[k]);", l->name);
  cg_write(w, "return failed;");
  return cg_close_entry(l->p, w, out);
}

static bool
any_header(const files *list) {
  for (uint32_t k = 0; k < list->len; k++)
    if (list->data[k].own)
      return true;
  return false;
}

bool
cg_put_life(const po_program *p, const cg_options *options, bs_text *out) {
  if (!cg_has_life(p))
    return true;
  cg_writer w;
  bs_arena arena;
  bs_arena_init(&arena, p->ctx.heap);
  files list = files_of(p);
  life l = {p, options->name, &list, &arena, &w};
  bs_put(out, includes);
  put_named(out, mapping, l.name);
  put_named(out, memory, l.name);
  if (any_header(&list))
    put_named(out, hashing, l.name);
  bool ok = put_init_from(&l, out) && put_init(&l, out);
  bs_vec_done(p->ctx.heap, &list);
  bs_arena_done(&arena);
  return ok;
}
