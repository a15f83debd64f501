/** The parser's messages in plain words, with a remedy where there is one. */

/** The end of the text in front of a value, on its line. */
const BEFORE_VALUE = /(?:=|\[|,)\s*$/;

/** Mistakes by the parser's messages, because its errors have no codes. */
const inPlainWords: Readonly<Record<string, string>> = {
  "Unterminated string constant": "the string has no closing quote",
  "Unterminated table-key": "the section's name has no closing ]",
  "Unterminated array": "the list has no closing ]",
  "Unterminated inline table": "the table has no closing } on its line",
  "Empty bare keys are not allowed": "a name is missing",
  "Must be a newline": "nothing but a comment may follow on this line",
  "Expected equal (=) token": "an = is missing after the key",
  "Unspecified values are invalid": "a value is missing",
  "Expected comma (,) token": "a comma is missing",
  "Defining a key multiple times is invalid": "this name is there already; a key or a section may be there once",
  "Unexpected token": "this does not belong here; a line is key = value or [section]",
  "Control characters (codes < 0x1f and 0x7f) are not allowed": "control characters are not allowed here",
  "Underscores are allowed between digits": "an underscore may stand between two digits only",
  "Unexpected spaces": "spaces are not allowed here",
  "Three or more quotes are not permitted": "there are too many quotes",
  "Unexpected invalid date": "there is no such date",
  "Unexpected invalid time": "there is no such time",
  "Leading zeros are not allowed": "a number must not begin with a zero",
  "Trailing comma is not permitted in an inline table": "a table in braces must not end with a comma",
  "Invalid character in escape sequence": "there is no such escape sequence; a backslash is \\\\",
  "Consecutive dots are not permitted in keys": "a name is missing between the dots",
  "Keys cannot end with a dot": "a name is missing after the dot",
  "Keys cannot start with a dot": "a name is missing before the dot",
};

/**
 * Returns a message of the parser in plain words.
 *
 * @param before the text of the line in front of the mistake
 */
export function plainMessage(message: string, before: string): string {
  if (message !== "Unexpected character") return inPlainWords[message] ?? message;
  return BEFORE_VALUE.test(before)
    ? "this is not a value: strings are in quotes, and the others are numbers, true, false, [lists] and {tables}"
    : "this character does not belong here; a line is key = value or [section]";
}
