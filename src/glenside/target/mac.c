/* SPDX-License-Identifier: MIT */
/* mac.c - what declared multiply-accumulate instructions hold and name. */
#include "glenside/target/mac.h"
#include <assert.h>
#include <string.h>

const gs_lane_info gs_lane_table[GS_LANE_COUNT] = {
#define X(id, name, ctype, bytes) [GS_LANE_##id] = {name, ctype, bytes},
    GS_LANES(X)
#undef X
};

const char *const gs_mac_part_names[GS_MAC_PARTS] = {
    [GS_MAC_ENTER] = "enter",
    [GS_MAC_BEGIN] = "begin",
    [GS_MAC_ZERO] = "zero",
    [GS_MAC_LOAD] = "load",
    [GS_MAC_LOAD_X] = "load-x",
    [GS_MAC_LOAD_Y] = "load-y",
    [GS_MAC_ACCUMULATE] = "accumulate",
    [GS_MAC_STORE] = "store",
    [GS_MAC_END] = "end",
    [GS_MAC_LEAVE] = "leave",
};

/* ---- dtypes ---- */

/* Bytes of the other signedness are moved by half of their range. */
static const struct {
  gs_lane lane;
  gs_dtype dtype;
  int64_t offset;
} HOLDS[] = {
    {GS_LANE_I8, GS_I8, 0},   {GS_LANE_I8, GS_U8, -128},
    {GS_LANE_U8, GS_U8, 0},   {GS_LANE_U8, GS_I8, 128},
    {GS_LANE_I16, GS_I8, 0},  {GS_LANE_I16, GS_U8, 0},
    {GS_LANE_I32, GS_I8, 0},  {GS_LANE_I32, GS_U8, 0},
    {GS_LANE_I32, GS_I32, 0}, {GS_LANE_BF16, GS_BF16, 0},
    {GS_LANE_F32, GS_F32, 0}, {GS_LANE_F64, GS_F64, 0},
};

/* Whether registers of such lanes hold every value of the dtype once `*offset`
 * is added to it. */
static bool
lane_holds(gs_lane lane, gs_dtype dtype, int64_t *offset) {
  assert(lane < GS_LANE_COUNT && dtype < GS_DTYPE_COUNT);
  for (size_t k = 0; k < sizeof HOLDS / sizeof *HOLDS; k++)
    if (HOLDS[k].lane == lane && HOLDS[k].dtype == dtype) {
      *offset = HOLDS[k].offset;
      return true;
    }
  return false;
}

bool
gs_mac_takes(const gs_mac *mac, gs_dtype x, gs_dtype y, gs_dtype sum,
             int64_t offset[2]) {
  assert(mac->x.lane < GS_LANE_COUNT && mac->y.lane < GS_LANE_COUNT);
  return mac->sum == sum && lane_holds(mac->x.lane, x, &offset[0]) &&
         lane_holds(mac->y.lane, y, &offset[1]);
}

/* ---- templates ---- */

#define BIT(id) (1u << GS_MAC_##id)

/* parts: a bit for each in which the name may stand. */
static const struct {
  const char *text;
  uint32_t parts;
} NAMES[GS_MAC_NAMES] = {
    [GS_MAC_X] = {"x", BIT(LOAD_X) | BIT(ACCUMULATE)},
    [GS_MAC_X_NUMBER] = {"x.number", BIT(LOAD_X) | BIT(ACCUMULATE)},
    [GS_MAC_Y] = {"y", BIT(LOAD_Y) | BIT(ACCUMULATE)},
    [GS_MAC_Y_NUMBER] = {"y.number", BIT(LOAD_Y) | BIT(ACCUMULATE)},
    [GS_MAC_SUM] = {"sum",
                    BIT(ZERO) | BIT(LOAD) | BIT(ACCUMULATE) | BIT(STORE)},
    [GS_MAC_SUM_NUMBER] = {"sum.number", BIT(ZERO) | BIT(LOAD) |
                                             BIT(ACCUMULATE) | BIT(STORE)},
    [GS_MAC_FROM] = {"from", BIT(LOAD) | BIT(LOAD_X) | BIT(LOAD_Y)},
    [GS_MAC_TO] = {"to", BIT(STORE)},
    [GS_MAC_STRIDE] = {"stride", BIT(LOAD) | BIT(LOAD_X) | BIT(STORE)},
    [GS_MAC_M] = {"m", ~0u},
    [GS_MAC_N] = {"n", ~0u},
    [GS_MAC_K] = {"k", ~0u},
};

/* `{NAME}` at `text`, or GS_MAC_TEXT. */
static gs_mac_name
name_at(const char *text, size_t *len) {
  for (uint32_t k = GS_MAC_TEXT + 1; k < GS_MAC_NAMES; k++) {
    size_t n = strlen(NAMES[k].text);
    if (!strncmp(text + 1, NAMES[k].text, n) && text[n + 1] == '}') {
      *len = n + 2;
      return (gs_mac_name)k;
    }
  }
  return GS_MAC_TEXT;
}

bool
gs_mac_next(const char **at, gs_mac_piece *out) {
  assert(*at);
  const char *text = *at;
  size_t len = 0;
  gs_mac_name name = GS_MAC_TEXT;
  if (!*text)
    return false;
  if (*text == '{')
    name = name_at(text, &len);
  if (name == GS_MAC_TEXT)
    len = 1 + strcspn(text + 1, "{");
  *out = (gs_mac_piece){name, text, len};
  *at = text + len;
  return true;
}

bool
gs_mac_may_name(gs_mac_part part, gs_mac_name name) {
  assert(part < GS_MAC_PARTS && name < GS_MAC_NAMES);
  return name == GS_MAC_TEXT || NAMES[name].parts >> part & 1;
}

bool
gs_mac_takes_rows(const gs_mac *mac) {
  const char *text = mac->text[GS_MAC_LOAD_X];
  gs_mac_piece piece;
  if (mac->x.interleave != mac->k)
    return false;
  bool names = mac->m == 1;
  while (text && !names && gs_mac_next(&text, &piece))
    names = piece.name == GS_MAC_STRIDE;
  return names;
}
