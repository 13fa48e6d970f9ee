// SPDX-License-Identifier: MIT
// S-expressions as glen reads them.  Each language has a grammar of this shape
// with the marks that its words may bear, so that highlights go by the kind of
// a word and by the head of the list that it stands in.

const WORD = "[^\\s()\";]";

module.exports = function sexpressions(language, { variables, parameters, arrows }) {
  const marks = [
    [":", "keyword", true],
    ["\\?", "variable", variables],
    ["\\$", "parameter", parameters],
  ].filter(([, , there]) => there);
  const rules = {
    source: ($) => repeat($._item),
    _item: ($) => choice($.list, $.string, $.number, $.boolean, $.symbol,
      ...marks.map(([, name]) => $[name]), ...(arrows ? [$.arrow] : [])),
    list: ($) => seq("(", optional(seq(field("head", $._item), repeat($._item))), ")"),
    string: ($) => seq("\"", repeat(choice($._text, $.escape)), token.immediate("\"")),
    _text: () => token.immediate(prec(1, /[^"\\]+/)),
    escape: () => token.immediate(prec(1, /\\(.|\n)/)),
    comment: () => token(/;[^\n]*/),
    // The longest word wins, and of equal ones the rule that stands first: no
    // rule may have a precedence here, or `3x` would be a number and a symbol.
    number: () => token(/-?(\d+(\.\d*)?([eE][-+]?\d+)?|inf|nan)/),
    boolean: () => token(choice("true", "false")),
  };
  for (const [mark, name] of marks)
    rules[name] = () => token(new RegExp(mark + WORD + "+"));
  if (arrows)
    rules.arrow = () => token(choice("=>", "<=>"));
  rules.symbol = () => token(new RegExp(WORD + "+"));
  return grammar({ name: language, extras: ($) => [/\s/, $.comment], rules });
};
