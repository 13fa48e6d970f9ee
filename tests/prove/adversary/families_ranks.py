# SPDX-License-Identifier: MIT
"""Families of rules that are wrong from a rank on that no number of them shows.

Each family is a function that gives (name, left, right, clauses); its first
line says where the rules are wrong.  None may be proved."""
import itertools

S = "(slice ?a ?d ?l ?h)"
BACK = "(slice ?a ?d (- ?l ?x) (- ?h ?x))"
TWO = "(slice (slice ?a ?d ?l ?h) ?g ?m ?n)"
TWO_BACK = "(slice (slice ?a ?d (- ?l ?x) (- ?h ?x)) ?g ?m ?n)"
TURNED = f"(transpose {S} ?p)"
TURNED_BACK = f"(transpose {BACK} ?p)"


def where(*clauses):
    return f":where (and {' '.join(clauses)})" if any(clauses) else ""


def hidden(name, fault, left=S, right=BACK, first=()):
    """?x is ?l where the fault is: once as a case, once by an alternative."""
    yield (name + "-if", left, right,
           where(*first, f"(= ?x (if {fault} ?l 0))"))
    yield (name + "-or", left, right,
           where(*first, "(= ?x ?l)", f"(or (= ?l 0) {fault})"))


def times(x, p, n):
    """Item x of the permutation, n times one after another."""
    for _ in range(n):
        x = f"(nth ?{p} {x})"
    return x


def cycles():
    """An axis in a cycle of five or more, or two in cycles of their own."""
    for n in (5, 7, 11):
        fault = f"(and (= {times('?d', 'p', n)} ?d) (!= (nth ?p ?d) ?d))"
        yield from hidden(f"cycle-{n}", fault, TURNED, TURNED_BACK)
        fault = (f"(and (= (nth ?p ?d) {times('?d', 'q', n - 1)})"
                 " (= ?q (invert ?p)) (!= (nth ?p ?d) ?d))")
        yield from hidden(f"cycle-back-{n}", fault,
                          "(transpose (transpose (slice ?a ?d ?l ?h) ?p) ?q)",
                          "(transpose (transpose (slice ?a ?d (- ?l ?x)"
                          " (- ?h ?x)) ?p) ?q)")
    for n, m in ((3, 2), (5, 2), (2, 3), (4, 3)):
        fault = (f"(and (= {times('?d', 'p', n)} ?d) (!= (nth ?p ?d) ?d)"
                 f" (= {times('?g', 'p', m)} ?g) (!= (nth ?p ?g) ?g)"
                 + (" (!= (nth ?p (nth ?p ?d)) ?d)" if n == 4 else "") + ")")
        yield from hidden(f"cycles-{n}-{m}", fault, f"(transpose {TWO} ?p)",
                          f"(transpose {TWO_BACK} ?p)")


POWERS = {  # how a power is made of lower ones: ?p is the first, ?p2 the square
    2: "(compose ?p ?p)", 3: "(compose ?p2 ?p)", 4: "(compose ?p2 ?p2)",
    5: "(compose ?p4 ?p)", 6: "(compose ?p3 ?p3)", 7: "(compose ?p4 ?p3)",
    8: "(compose ?p4 ?p4)", 9: "(compose ?p8 ?p)", 10: "(compose ?p5 ?p5)",
    11: "(compose ?p8 ?p3)", 13: "(compose ?p8 ?p5)"}


def made(n):
    """The clauses that define a power and those that it is made of."""
    need, todo = set(), [n]
    while todo:
        k = todo.pop()
        if k > 1 and k not in need:
            need.add(k)
            todo += [int(w) if w else 1 for w in
                     (t.strip("?p)") for t in POWERS[k].split()[1:])]
    return [f"(= ?p{k} {POWERS[k]})" for k in sorted(need)]


def powers():
    """A power of the permutation is none, and the permutation is not."""
    axes = "(axes ?a)"
    for n in (5, 7, 9, 10, 11, 13):
        less = {9: "?p3", 10: "?p5"}.get(n, "?p")
        first = made(n) + ([] if n != 9 else made(3))
        first = list(dict.fromkeys(first))
        yield (f"power-{n}", "(transpose ?a ?p)",
               f"(transpose ?a (if (= ?p{n} {axes}) {axes} ?p))",
               where(*first)) if n not in (9, 10) else \
              (f"power-{n}", "(transpose ?a ?p)",
               f"(transpose ?a (if (and (= ?p{n} {axes}) (!= {less} {axes})"
               f" (> (rank ?a) 5)) {axes} ?p))", where(*first))
        yield from hidden(f"power-of-{n}",
                          f"(and (= ?p{n} {axes}) (!= {less} {axes}) (> (rank"
                          f" ?a) {0 if n % 2 and n != 9 else 5}))", TURNED,
                          TURNED_BACK, first)
    for n, m in ((3, 4), (2, 5), (4, 3), (5, 6), (6, 5)):
        first = list(dict.fromkeys(made(n) + made(m)))
        yield (f"power-{n}-is-{m}-back", "(transpose ?a ?p)",
               f"(transpose ?a (if (= ?p{n} (invert ?p{m})) {axes} ?p))",
               where(*first))
        yield (f"power-{n}-undoes-{m}", "(transpose ?a ?p)",
               f"(transpose ?a (if (= (permute ?p{n} ?p{m}) {axes}) {axes}"
               " ?p))", where(*first))


def reflections():
    """Axes far from both ends, which a reversed list of axes leaves."""
    back = "(reverse (axes ?a))"
    for k in (1, 2, 3):
        for read in (f"(nth {back} ?d)", f"(index-of {back} ?d)",
                     f"(nth (permute (axes ?a) {back}) ?d)",
                     f"(nth (append {back} (list 0)) ?d)",
                     f"(nth (cons 9 {back}) (+ ?d 1))"):
            tag = read.split()[0].strip("(") + str(len(read))
            yield from hidden(f"middle-{tag}-{k}",
                              f"(and (= {read} ?d) (> ?d {k}))")
            yield from hidden(f"mirrored-{tag}-{k}",
                              f"(and (= {read} ?g) (> ?d {k}) (> ?g ?d))", TWO,
                              TWO_BACK)
        yield from hidden(f"mirror-{k}", f"(and (= ?p {back}) (= (nth ?p ?d)"
                          f" ?d) (> ?d {k}))", TURNED, TURNED_BACK)


def shifts():
    """An axis that a list with items put in, or taken out, is read at."""
    lists = {"cons": "(cons 0 (axes ?a))",
             "insert": "(insert-nth (axes ?a) 0 0)",
             "append": "(append (list 0) (axes ?a))",
             "set": "(set-nth (cons 0 (axes ?a)) 0 0)",
             "twice": "(cons 0 (cons 0 (axes ?a)))"}
    for name, text in lists.items():
        for n in (4, 5, 6, 8):
            define = f"(= ?t {text})"
            yield from hidden(f"shift-{name}-{n}",
                              f"(> {times('?d', 't', n)} 0)", first=[define])
    for n in (4, 6):
        for cut, lengths in (("(drop ?t ?d)", "(+ ?d ?d)"),
                             ("(slice-list ?t ?d (rank ?a))", "(+ ?d ?d)")):
            yield from hidden(
                f"cut-{n}-{cut[1:5]}",
                f"(and (> ?d {n // 4}) (< {lengths} (rank ?a)) (= (nth {cut}"
                f" ?d) ?g))", TWO, TWO_BACK, ["(= ?t (axes ?a))"])
            yield from hidden(
                f"found-{n}-{cut[1:5]}",
                f"(and (> ?d {n // 4}) (>= ?g ?d) (= (index-of {cut} ?g) ?d))",
                TWO, TWO_BACK, ["(= ?t (axes ?a))"])
            yield from hidden(
                f"turned-{n}-{cut[1:5]}",
                f"(and (> ?d {n // 4}) (> ?g ?d) (= (index-of (append {cut}"
                " (take ?t ?d)) ?g) ?d))", TWO, TWO_BACK, ["(= ?t (axes ?a))"])


def steps():
    """Ranks that lists of every second or third axis are counted at."""
    for step, n, depth in itertools.product((2, 3, 4), (2, 3), (1, 2)):
        count = "(rank ?a)"
        for _ in range(depth):
            count = f"(len (range 0 {count} {step}))"
        yield from hidden(f"steps-{step}-{n}-{depth}", f"(= {count} {n + 1})")
        yield from hidden(
            f"stepping-{step}-{n}-{depth}",
            f"(and (> (len (range 0 (rank ?a) {step})) {n}) (= (nth (range 0"
            f" (rank ?a) {step}) {n}) ?d))")
    for n in (2, 3):
        both = "(add-lists (axes ?a) (axes ?a))"
        yield from hidden(
            f"sums-of-axes-{n}", f"(and (> (rank ?a) {n}) (= ?d"
            f" {times('1', 't', n)}))", first=[f"(= ?t {both})"])
        yield from hidden(
            f"differences-of-axes-{n}", f"(and (< 1 ?d) (= ?d (nth (sub-lists"
            " (reverse (axes ?a)) (axes ?a)) 0)) (= (nth (reverse (axes ?a))"
            " ?g) ?g))", TWO, TWO_BACK)


def choices():
    """An axis that is twice a place, or the one that mirrors it."""
    both = "(add-lists (axes ?a) (axes ?a))"
    less = "(sub-lists (axes ?a) (reverse (axes ?a)))"
    for k in (2, 4, 6):
        alternative = f"(or (= ?l 0) (and (= ?d ?g) (> ?g {k})))"
        yield (f"choice-{k}", S, BACK,
               f":for (?g {both})\n  " + where("(= ?x ?l)", alternative))
        yield (f"choice-of-differences-{k}", S, BACK,
               f":for (?g {less})\n  " + where("(= ?x ?l)", alternative))
        yield from hidden(f"member-{k}", f"(and (member {both} ?d) (> ?d"
                          f" {k}))")
        yield from hidden(f"from-the-end-{k}",
                          "(and (= (nth (axes ?a) (- (rank ?a) 1 ?d)) ?d)"
                          f" (> ?d {k}))")
        yield from hidden(f"end-found-{k}",
                          "(and (= (index-of (axes ?a) (- (rank ?a) 1 ?d)) ?d)"
                          f" (> ?d {k}))")
        turn = "(append (drop {0} ?d) (take {0} ?d))"
        yield from hidden(f"turned-twice-{k}", f"(and (= {turn.format('?q')}"
                          f" (axes ?a)) (> ?d {k}))",
                          first=[f"(= ?q {turn.format('(axes ?a)')})"])
    seven = "(compose (compose ?p2 ?p2) ?p3)"
    for name, test in (
            ("differences", f"(all-equal (sub-lists {seven} (axes ?a)) 0)"),
            ("place", f"(= (nth {seven} 0) 0)")):
        yield (f"power-7-by-{name}", "(transpose ?a ?p)",
               f"(transpose ?a (if {test} (axes ?a) ?p))", where(*made(3)))


def items():
    """An axis that lists with one item, or with equal ones, tell."""
    d, g = "?d", "?g"
    tests = {
        "taken": "(= (add-lists (take (drop (axes ?a) ?d) 1) (list ?d))"
                 " (list ?g))",
        "filled": "(= (add-lists (take (drop (axes ?a) ?d) 1) (fill 1 ?d))"
                  " (fill 1 ?g))",
        "ranges": "(= (add-lists (range ?d (+ ?d 1)) (range ?d (+ ?d 1)))"
                  " (range ?g (+ ?g 1)))",
        "cut": "(= (slice-list (reverse (axes ?a)) ?d (+ ?d 1)) (list ?g))",
        "alike": "(all-equal (add-lists (fill ?d ?d) (fill ?d ?d)) ?g)"}
    for name, test in tests.items():
        for k in (1, 2, 3):
            yield from hidden(f"item-{name}-{k}",
                              f"(and (> {d} {k}) (> {g} {d}) {test})", TWO,
                              TWO_BACK)
    for k in (2, 3, 4):
        yield from hidden(f"halves-{k}", "(and (= (drop (axes ?a) ?d)"
                          " (add-lists (take (axes ?a) ?d) (fill ?d ?d)))"
                          f" (> ?d {k}))")


def between():
    """Terms between have fewer axes than the variable, or more."""
    two, spread = "(squeeze (squeeze ?a 0) 0)", "(compute add (compute add ?a))"
    for name, x in (("squeezed", two), ("folded", spread)):
        yield (f"turned-back-{name}", f"(transpose {x} ?p)",
               f"(transpose {x} (invert ?p))", "")
        yield (f"commute-{name}", f"(transpose (transpose {x} ?p) ?q)",
               f"(transpose (transpose {x} ?q) ?p)", "")
    yield ("one-reduced",
           "(slice (compute reduceSum (slice ?a ?e ?l ?h)) ?d ?m ?n)",
           "(slice (compute reduceSum (slice ?a ?e (- ?l ?x) (- ?h ?x)))"
           " ?d ?m ?n)",
           where("(= (dtype ?a) f32)", "(= ?x (if (> ?d 3) ?l 0))"))
    for n in (3, 4, 5):
        more, less = "?a", "%s"
        for _ in range(n):
            more, less = f"(insertAxis {more} 0)", less % "(squeeze %s 0)"
        yield (f"shifted-right-{n}", "(reverse ?a ?d)",
               less % f"(reverse {more} ?d)", where("(= (dim ?a ?d) 1)"))
        folds = "%s"
        for _ in range(n):
            folds = folds % "(compute ?o %s)"
        yield (f"folds-{n}", folds % "(slice ?a 0 ?l ?h)",
               folds % "(slice ?a 0 (- ?l ?x) (- ?h ?x))",
               where("(= (dtype ?a) f32)", "(or (= ?o add) (= ?o neg))",
                     "(= ?x (if (= (op-kind ?o) fold) ?l 0))"))


def members():
    """An axis that is an item of a list in which items have moved."""
    at = "(take (drop (reverse (axes ?a)) ?d) 1)"
    for k in (3, 4, 5):
        for name, test in (
                ("back", f"(member {at} ?d)"),
                ("not", "(not (member (take (reverse (axes ?a)) ?d) ?d))"),
                ("range", "(member (range ?d (rank ?a)) (- (rank ?a) 1 ?d))")):
            yield from hidden(f"member-{name}-{k}", f"(and {test} (> ?d {k}))")
        yield (f"for-{k}", S, BACK,
               f":for (?z {at})\n  "
               + where("(= ?x ?l)", f"(or (= ?l 0) (and (= ?d ?z) (> ?d {k})))"))


def roots():
    """Permutations whose powers are the axes turned around."""
    yield ("root-8", "(transpose (transpose ?a ?q) ?p)", "?a",
           where("(= ?p (compose ?q ?q))",
                 "(= (compose ?p ?p) (reverse (axes ?a)))"))
    yield ("root-8-chosen", "(transpose ?a ?p)",
           "(transpose ?a (if (= (compose (compose ?p ?p) (compose ?p ?p))"
           " (reverse (axes ?a))) (axes ?a) ?p))", "")


def lengths():
    """Numbers that definitions and lengths of lists add up to."""
    for k in (3, 4, 5):
        zeros, ones = " 0" * k, "(axes ?a)"
        for _ in range(k):
            ones = f"(cons 0 {ones})"
        yield from hidden(f"length-{k}", "(> ?d (len ?y))",
                          first=[f"(= ?y (list{zeros}))"])
        yield from hidden(f"longer-{k}", f"(= (len {ones}) (+ ?d (rank ?a)))")
        yield from hidden(f"zeros-{k}",
                          f"(!= (take {ones} ?d) (fill ?d 0))")
    yield from hidden("two-and-two", "(> (rank ?a) (- ?n (- 0 ?n)))",
                      first=["(= ?n (+ 1 1))"])
    yield ("both-lengths", TWO,
           "(slice (slice ?a ?d (- ?l ?x) (- ?h ?x)) ?g ?m ?n)",
           where("(= ?y (list 0 0))", "(= ?x (if (and (> ?d (len ?y))"
                 " (> ?g (+ ?d (len ?y)))) ?l 0))"))


FAMILIES = (cycles, powers, reflections, shifts, steps, choices, items, between,
            members, roots, lengths)
