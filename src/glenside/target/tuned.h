/* SPDX-License-Identifier: MIT */
/* tuned.h - numbers that were measured, or chosen because programs were fastest
 * with them: one table, with the unit and the reason of each.
 *
 * They are used for every target; what a target can say of itself is asked of
 * it (target.h).  Limits that keep memory and time of the compiler in bounds
 * are not among them: they stand where they are asked. */
#ifndef GLENSIDE_TUNED_H
#define GLENSIDE_TUNED_H

/* X(name, value, unit, reason): integers. */
#define GS_TUNED_INTEGERS(X)                                                   \
  /* Threads. */                                                               \
  X(THREAD_INSTANCES, 32768, "instances",                                      \
    "of a nest: with fewer, starting threads costs more than it gives")        \
  X(THREAD_LARGEST, 64, "times",                                               \
    "as much as a nest does the largest may do before the nest is held to "    \
    "that")                                                                    \
  X(THREAD_WAVE, 16384, "instances",                                           \
    "of a wave of slanted tiles: with fewer, meeting after it costs more")     \
  X(THREAD_PRODUCTS, 131072, "products",                                       \
    "of a kernel: with fewer, threads take longer to meet than to multiply")   \
  X(THREAD_MAC_PRODUCTS, 1048576, "products",                                  \
    "the same where an instruction multiplies several at a time")              \
  X(THREAD_ITERATIONS, 64, "iterations",                                       \
    "of shared loops: with as many no thread is idle for long")                \
  /* What is worth code, or an array, of its own. */                           \
  X(KERNEL_PRODUCTS, 4096, "products",                                         \
    "of a contraction: with fewer, packing costs more than it saves")          \
  X(KERNEL_WINDOWS, 4096, "instances",                                         \
    "of windows: with fewer, a kernel is not worth its code")                  \
  X(KERNEL_PLANES, 3, "planes",                                                \
    "that threads share; of fewer, they share the rows")                       \
  X(KERNEL_PLANE, 1 << 20, "instances",                                        \
    "of windows over few planes: of smaller ones, rows are shared with other " \
    "stencils while they are in the first cache")                              \
  X(COPY_USES, 8, "products", "of each element: a copy is a read and a write") \
  X(KERNEL_MANY_ROWS, 1024, "rows",                                            \
    "for which an operand may be packed whole")                                \
  X(KERNEL_FEW_ROWS, 64, "rows",                                               \
    "that share a copy of an image, rather than columns that do not")          \
  X(KERNEL_UNEVEN, 4, "panels",                                                \
    "a core, from which on one more or less is no matter")                     \
  X(KERNEL_PANELS, 32, "panels",                                               \
    "with more of which the wait of the first for the other operand is no "    \
    "matter")                                                                  \
  X(WIDEN_PRODUCTS, 1 << 20, "products",                                       \
    "of narrow operands that are worth an array of wide ones")                 \
  X(WIDEN_READS, 16, "reads",                                                  \
    "of each narrow element, beside which converting it costs little")         \
  X(WIDEN_WEIGHTS, 64, "elements",                                             \
    "of a filter up to which it stays a stencil, whose code names them")       \
  X(FUSE_OPERATIONS, 1 << 12, "operations",                                    \
    "of a run for each statement: scheduling takes 10 ms for each, which "     \
    "some ten thousand runs pay for")                                          \
  X(FUSE_LARGE, 1 << 16, "operations",                                         \
    "of a run for each statement of a program of hundreds: joining takes "     \
    "10 ms for each, which some hundred runs pay for")                         \
  X(INLINE_OPERATIONS, 9, "operations",                                        \
    "that keeping a value in an array is worth")                               \
  X(POINT_TERMS, 8, "terms",                                                   \
    "of a sum that a function of it does not share an iteration with")         \
  X(INLINE_SLOW, 5, "operations",                                              \
    "of a sum or a product: what takes more is not computed twice")            \
  X(VECTOR_ITERATIONS, 16, "iterations", "that are worth a vector")            \
  X(SUM_ROWS, 32, "elements",                                                  \
    "of rows that follow one another: adding up the lanes of a shorter sum "   \
    "takes longer than its additions")                                         \
  X(SUM_PARTS, 4, "sums", "side by side, as many as an addition has cycles")   \
  X(SUM_PART, 12, "vectors",                                                   \
    "of such a sum: adding up the lanes of a shorter one takes longer than "   \
    "waiting for its additions")                                               \
  X(JAM_ROWS, 4, "rows",                                                       \
    "whose sums are added up together, as many as an addition has cycles")     \
  X(SLIDE_CHAIN, 16, "taps",                                                   \
    "of a window, each of which waits for the one before it: of fewer, "       \
    "windows that follow are begun meanwhile")                                 \
  X(SLIDE_SUMS, 8, "sums",                                                     \
    "of windows that take turns: two additions begin in each of four cycles")  \
  X(KERNEL_ROWS, 28, "rows",                                                   \
    "of a kernel of products, at most: sums of one vector fill 28 of 32 "      \
    "registers, and operands are in the others")                               \
  X(KERNEL_VECTORS, 4, "vectors", "of such a kernel, at most")                 \
  X(KERNEL_UNROLLED, 4, "iterations",                                          \
    "of a kernel's sums that are written out")                                 \
  X(KERNEL_WRITTEN, 256, "products",                                           \
    "of vectors that are written out for all taps along a row of pixels")      \
  X(KERNEL_LONG, 8, "times",                                                   \
    "as many iterations are worth the code that does those left over")         \
  X(KERNEL_BLOCK, 256 * 1024, "bytes",                                         \
    "on the stack of a thread for a block of y or an image: the second "       \
    "caches of most cores have no more")                                       \
  X(KERNEL_BLOCK_X, 384 * 1024, "bytes", "the same for a block of x")          \
  X(KERNEL_LEAST_PANELS, 4, "panels",                                          \
    "of x in such a block, however long they are")                             \
  X(KERNEL_SUMS, 128 * 1024, "bytes",                                          \
    "the same for sums that wait for another block of k")                      \
  X(KERNEL_WHOLE, 256 << 20, "bytes",                                          \
    "of the workspace for an operand packed whole")                            \
  X(MAC_KERNEL_X, 16, "fragments",                                             \
    "of x in a kernel on an instruction for products")                         \
  X(MAC_KERNEL_Y, 8, "fragments", "of y in such a kernel")                     \
  X(ALIASING_BYTES, 4096, "bytes",                                             \
    "of which the distance of rows is a multiple where they share sets of "    \
    "the first cache")                                                         \
  X(ALIASING_COLUMNS, 64, "columns",                                           \
    "of a result up to which its rows are read before they are displaced")     \
  X(PACK_STRIP, 16, "panels",                                                  \
    "whose runs are found together: one index is computed for all of them")    \
  X(KERNEL_SHORT_LOOP, 32, "iterations",                                       \
    "of a loop of k up to which one that sizes cut short is run whole")        \
  X(SLIDE_TAPS, 64, "taps", "of a window that are written out")                \
  X(SLIDE_LINES, 900, "lines",                                                 \
    "of all tiles of a kernel of windows: longer code leaves the cache of "    \
    "instructions")                                                            \
  X(SLIDE_ROWS, 8, "rows", "of a tile of windows")                             \
  X(SLIDE_VECTORS, 4, "vectors", "of a tile of windows")                       \
  X(SLIDE_HELD, 2, "vectors",                                                  \
    "of a row of x that are held while taps are picked from them")             \
  X(SLIDE_PICKED, 64, "bytes",                                                 \
    "of vectors of which one instruction picks lanes of any two")              \
  X(SLIDE_SPARE, 3, "registers", "that hold no sum of a tile")                 \
  X(LOCAL_BYTES, 256 * 1024, "bytes",                                          \
    "of a local up to which it is kept on the stack of a thread")              \
  X(CONSTANT_WEIGHTS, 64, "elements",                                          \
    "of an array of weights whose values code names: larger ones are "         \
    "matrices")                                                                \
  X(BRANCH_OPERATORS, 8, "operators",                                          \
    "of a value that is computed whether it is wanted or not")                 \
  X(SUMS_OF_LOOP, 8, "sums", "of a loop that is marked as one of vectors")     \
  X(UNROLL_WHOLE, 64, "instances", "of a statement that are written out")      \
  X(UNROLL_RESULTS, 16, "instances",                                           \
    "of it that belong to results of their own")                               \
  X(UNROLL_STATEMENTS, 128, "statements",                                      \
    "that are written out in one iteration of the loop around")                \
  X(GROUP_MOST, 8, "elements",                                                 \
    "side by side that are turned over into rows in registers")                \
  X(UNROLL_ROW, 8, "iterations",                                               \
    "along results that are written out: those of a longer loop fill vectors") \
  X(ALIGN_VECTORS, 8, "vectors",                                               \
    "of a row that is worth beginning where a vector may")                     \
  X(RECOMPUTE_MAX, 64, "times",                                                \
    "that an instance may be computed again where all is to be fused")         \
  X(TILE_ARRAYS, 4, "arrays", "of a tile that share half of the second cache") \
  X(GUESS_ROWS, 3, "rows", "of each array that are taken to be alive at once") \
  X(PART_UNROLL, 4, "parts", "that a loop is cut into to be written out")      \
  X(REGISTER_ROWS, 4, "rows", "of a tile in registers")                        \
  X(HULL_PIECES, 4, "pieces",                                                  \
    "of a shape from which on a hull may hold more: shapes of many take long " \
    "to work with")                                                            \
  /* Orders of loops. */                                                       \
  X(ORDER_INSTANCES, 16384, "instances",                                       \
    "of a nest that are worth an exchange of loops, or blocks")                \
  X(ORDER_BLOCK, 32, "iterations",                                             \
    "of a block: two lines of elements of four bytes")                         \
  X(ORDER_LINES, 64, "lines",                                                  \
    "that a row touches once and that stay in the first cache")                \
  X(ORDER_SUMS, 1024, "sums",                                                  \
    "side by side that stay in the first cache beside what they read")         \
  X(ORDER_VALUES, 16, "values", "that are added in one iteration")             \
  X(TILE_LINES, 32, "lines",                                                   \
    "of a tile, of which neighbours compute little again")                     \
  X(TILE_THIN, 1024, "elements",                                               \
    "of a tile of rows that compute nothing again for each other: four "       \
    "arrays of them fit the first cache")                                      \
  X(TILE_OPEN, 4, "times",                                                     \
    "as many rows in such a tile where their length is open: calls have "      \
    "shorter ones, too")                                                       \
  X(TILE_ROW, 256, "elements", "of a line of a tile, at least")                \
  X(STRIP_LEAST, 32, "rows", "of a strip, so that few are computed twice")     \
  X(STRIP_SHORT, 192, "rows",                                                  \
    "of a strip of which what neighbours compute twice is too much: each "     \
    "core "                                                                    \
    "gets fewer strips instead")                                               \
  X(STRIP_MOST, 1024, "rows", "of a strip, so that threads have work")         \
  X(ROW_SHORT, 64, "elements", "of a row that is worth loops of its own")      \
  X(ROW_PART, 256, "elements", "of a part of a row, at least")                 \
  X(SLANT_SWEEP, 4, "iterations", "of a sweep that is worth slanted tiles")    \
  X(SLANT_STEPS, 16, "steps",                                                  \
    "of a slanted tile; half of that with rows in two directions")             \
  X(SLANT_ROWS, 32, "rows", "of a slanted tile")                               \
  X(SLANT_LEAST, 256, "elements", "of a row of a slanted tile, at least")      \
  X(SLANT_MOST, 4096, "elements", "of a row of a slanted tile, at most")       \
  X(SLANT_MULTIPLE, 64, "elements",                                            \
    "that the length of such a row is a multiple of")                          \
  X(SLANT_TILES, 2, "tiles", "of a wave for each core")                        \
  X(PRIVATE_TIMES, 2, "times",                                                 \
    "what a core has for itself, beyond which an array is in memory when it "  \
    "is read again")                                                           \
  X(FAR_TIMES, 16, "times",                                                    \
    "the second cache that count as far: a shared cache is not one program's " \
    "alone")                                                                   \
  /* What is asked for ahead. */                                               \
  X(AHEAD_X, 32, "iterations",                                                 \
    "of k between asking for an element that is broadcast and using it")       \
  X(AHEAD_Y, 16, "iterations",                                                 \
    "of k between asking for a vector and using it")                           \
  X(AHEAD_WINDOW, 16, "iterations",                                            \
    "of k between asking for a window and reading it, for which the table of " \
    "offsets goes on")                                                         \
  X(AHEAD_NEAR, 1024, "bytes",                                                 \
    "between rows that are few pages, which processors follow by themselves")  \
  X(AHEAD_ROWS, 4, "rows", "of memory between asking for one and packing it")  \
  X(AHEAD_STREAM, 2048, "bytes",                                               \
    "of an array larger than the caches between asking and reading")           \
  X(AHEAD_AT_ONCE, 1024, "bytes",                                              \
    "of one array: as many lines as a core waits for at a time")               \
  X(AHEAD_PLACES, 8, "rows",                                                   \
    "of an image that a tile reads a part of: fewer, processors follow by "    \
    "themselves")                                                              \
  X(AHEAD_OF_ROWS, 512, "bytes", "at once of each of several rows")            \
  X(AHEAD_OF_PARTS, 1024, "bytes",                                             \
    "ahead that a loop over a part of a row asks for")                         \
  X(AHEAD_PARTS, 2, "parts",                                                   \
    "of a row between asking and reading, where stages take turns")            \
  X(AHEAD_LOOP, 256, "iterations", "of a loop that asks for what others read") \
  X(AHEAD_KEPT, 8, "iterations",                                               \
    "of a loop around, after which a line is still in a cache")                \
  X(PART_LEAST, 4, "parts", "of a row that are worth taking turns")            \
  X(STREAM_ROW, 1024, "elements", "of a row that is stored past the caches")   \
  X(STREAM_LONG_ROW, 2048, "iterations", "up to which a loop is one row")      \
  X(STREAM_BYTES, 512, "bytes", "that are worth a row of their own")           \
  X(PART_BYTES, 512, "bytes",                                                  \
    "of an array in a part of a row, where stages take turns")                 \
  /* Devices: threads of a block. */                                           \
  X(DEVICE_THREADS_X, 32, "threads",                                           \
    "along contiguous elements: those of a warp")                              \
  X(DEVICE_THREADS_Y, 8, "threads", "of a block along rows")                   \
  X(DEVICE_THREADS, 128, "threads", "of a block of one dimension")             \
  X(DEVICE_SHARED, 48 << 10, "bytes",                                          \
    "of memory that threads of a block share")                                 \
  /* Prices of layouts: elements of a plane. */                                \
  X(LAYOUT_PLANE_NEAR, 16384, "elements",                                      \
    "of a plane that is read across its rows at no price")                     \
  X(LAYOUT_PLANE_SECOND, 32768, "elements", "the same at GS_LAYOUT_SECOND")    \
  X(LAYOUT_PLANE_THIRD, 524288, "elements", "the same at GS_LAYOUT_THIRD")

/* Constants that are real numbers. */
#define GS_TUNED_REALS(X)                                                      \
  /* The machine: what targets do not tell. */                                 \
  X(LEAST_RATE, 1e-3, "bytes a cycle", "below which no rate is believed")      \
  X(CORES_OF_MEMORY, 4.0, "times",                                             \
    "the share of all cores that some have is what they get of the rate of "   \
    "memory: a quarter uses it up")                                            \
  X(FMA_LEAST, 0.5, "cycles", "of a multiply-add of vectors: two units")       \
  X(FMA_MOST, 2.0, "cycles",                                                   \
    "the same, whatever a target says of its operations")                      \
  X(CALL_START, 16.0, "cycles",                                                \
    "of every call of an implementation, hidden by nothing")                   \
  X(HIDDEN, 0.75, "of the time",                                               \
    "that memory is waited for in which work is hidden: rates are peaks, and " \
    "a loop that reads memory is followed by others that do not")              \
  X(HIDDEN_IN_PLACE, 0.7, "of the time",                                       \
    "the same where an array more is written over what was read of it last")   \
  /* Kernels of products: cycles. */                                           \
  X(FMA_LATENCY, 4.0, "cycles",                                                \
    "from a multiply-add to the next of the same sum")                         \
  X(LOAD, 0.6, "cycles",                                                       \
    "of a load: where products wait for them, they are not quite two a cycle") \
  X(LOAD_TRAFFIC, 0.25, "cycles",                                              \
    "of a vector of a panel beyond its load, or of four elements")             \
  X(KERNEL_CROWDED, 0.5, "cycles",                                             \
    "of a tap that is written out, if no register is spare: compilers put "    \
    "sums into memory")                                                        \
  X(LINE_FETCH, 3.5, "cycles",                                                 \
    "between lines from the second cache, where an image is read")             \
  X(ALIASING, 0.1, "of the time",                                              \
    "that is lost where rows share sets of the first cache")                   \
  X(ALIASING_FAR, 0.03, "of the time",                                         \
    "the same where only rows of y are far apart")                             \
  X(PANEL_START, 40.0, "cycles", "of the call of a panel")                     \
  X(PANEL_STORE, 2.0, "cycles",                                                \
    "of a vector of sums that is put into the result")                         \
  X(PACK_RUNS, 0.2, "cycles", "of an element packed in runs")                  \
  X(PACK_EVERY, 0.5, "cycles", "of an element packed of every other one")      \
  X(PACK_TURNED, 0.5, "cycles", "of an element turned over in registers")      \
  X(PACK_SINGLE, 1.6, "cycles", "of an element packed alone")                  \
  X(PACK_RUN_START, 12.0, "cycles", "of the start of a run")                   \
  X(STORE_TURNED, 0.5, "cycles",                                               \
    "of an element turned over before it is stored")                           \
  X(STORE_WAITS, 0.25, "cycles",                                               \
    "of an element that waits for another block of k")                         \
  X(STORE_SINGLE, 2.0, "cycles", "of an element stored alone")                 \
  X(IMAGE_ELEMENT, 0.3, "cycles",                                              \
    "of an element of an image that is copied with its padding")               \
  X(IMAGE_RUN, 15.0, "cycles", "of a run of such elements")                    \
  X(IMAGE_PANEL, 0.35, "cycles",                                               \
    "of an element of a panel copied from the image")                          \
  X(IMAGE_BLEND, 1.0, "cycles",                                                \
    "of a vector made of two loads of the image, each time it is used")        \
  /* Kernels on an instruction for products: cycles. */                        \
  X(MAC_PANEL_START, 30.0, "cycles", "of the call of a panel of fragments")    \
  X(MAC_STORE_ACROSS, 0.6, "cycles", "of an element stored along a row")       \
  X(MAC_STORE_SINGLE, 3.0, "cycles", "of a sum of a panel stored alone")       \
  X(MAC_PACK_RUN, 0.4, "cycles", "of an element packed in runs along rows")    \
  X(MAC_PACK_APART, 1.2, "cycles",                                             \
    "of an element packed in runs that lie apart")                             \
  X(MAC_PACK_ROW, 0.5, "cycles", "of an element copied along k")               \
  X(MAC_PACK_LINE, 0.05, "cycles", "of an element of a row copied as it lies") \
  X(MAC_PACK_RUN_START, 6.0, "cycles", "of a run of a row that is copied")     \
  X(MAC_LATENCY, 5.0, "cycles", "between two instructions for the same sums")  \
  X(MAC_PACK_SINGLE, 3.0, "cycles",                                            \
    "of an element packed alone into fragments")                               \
  X(MAC_ROW_SUMMED, 0.3, "cycles",                                             \
    "of an element that is also added to the sum of its row")                  \
  X(PACK_GUARDED, 1.5, "times",                                                \
    "what packing takes where it tests for padding")                           \
  X(KERNEL_BETTER, 0.999, "of the time",                                       \
    "of another kernel: of those that are as good the smaller is taken")       \
  X(SLIDE_CROSSING, 3.0, "loads",                                              \
    "that a load costs more which a line of the first cache ends in")          \
  X(SLIDE_MOVED, 2.5, "loads",                                                 \
    "for a vector of elements that are not neighbours")                        \
  X(SLIDE_HALVED, 2.0, "loads",                                                \
    "for a vector of a half, moved or made: a load and a pick")                \
  X(SLIDE_SUM, 2.0, "instructions", "to begin and to store a sum of a tile")   \
  X(SLIDE_START, 6.0, "instructions", "of a tile beside its sums")             \
  X(SLIDE_WAITING, 0.5, "of the cycles",                                       \
    "in which arrays are written and read between loops: the others go by "    \
    "while something is computed")                                             \
  X(SLIDE_UNITS, 2.0, "a cycle",                                               \
    "instructions of one kind, products or loads")                             \
  X(SLIDE_ISSUE, 4.0, "a cycle", "instructions of all kinds")                  \
  /* Loops. */                                                                 \
  X(LOOP_ENTRY, 12.0, "cycles", "of entering a loop")                          \
  X(SIZED_KERNEL, 150.0, "cycles",                                             \
    "of a kernel to compute its numbers and blocks from the sizes of a call")  \
  X(SIZED_PANEL, 60.0, "cycles",                                               \
    "of a panel that may be no whole vectors, with steps that a call decides") \
  X(SIZED_GAIN, 0.1, "times",                                                  \
    "less time at one of the sizes looked at: what a code of its own is "      \
    "worth")                                                                   \
  X(LOOP_ITERATION, 1.0, "cycles", "of an iteration beside its statements")    \
  X(FUNCTION_WORK, 2.5, "times",                                               \
    "the work of an exponential and the like that its instructions are")       \
  X(ORDER_GAIN, 2.0, "times",                                                  \
    "less that an exchange of loops, or blocks, must cost to be worth it")     \
  X(TRIM_GAIN, 0.75, "of the instances",                                       \
    "that must be saved for a domain that loops have to test for")             \
  X(RECOMPUTE, 1.5, "times",                                                   \
    "the instances of the program that a schedule may compute")                \
  X(HULL_FILLED, 1.5, "times",                                                 \
    "the largest of its parts that a hull may hold: it is little more than "   \
    "their union then")                                                        \
  X(HULL_OF_MANY, 2.5, "times", "the same of a shape of GS_HULL_PIECES")       \
  X(LAYOUT_SECOND, 7.5e-6, "of a read",                                        \
    "across the rows of a plane of up to GS_LAYOUT_PLANE_SECOND")              \
  X(LAYOUT_THIRD, 9.5e-5, "of a read",                                         \
    "the same of up to GS_LAYOUT_PLANE_THIRD")                                 \
  X(LAYOUT_BEYOND, 3.95e-4, "of a read", "the same of a larger plane")         \
  X(LAYOUT_DISTANCE, 0.1, "of a read",                                         \
    "for each step of the distance that the next iteration reads at")

enum {
#define X(name, value, unit, reason) GS_##name = value,
  GS_TUNED_INTEGERS(X)
#undef X
};

#define X(name, value, unit, reason) static const double GS_##name = value;
GS_TUNED_REALS(X)
#undef X

#endif
