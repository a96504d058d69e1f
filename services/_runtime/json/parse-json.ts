import { ApiError } from "@pragma/contracts/errors";
import { type ParseErrorCode, printParseErrorCode, visit } from "jsonc-parser";

const utf8 = new TextDecoder("utf-8", { fatal: true });

/** The text that would be valid at the position of a syntax error, by the parser's error code. For error details. */
const expectations: Record<ReturnType<typeof printParseErrorCode>, string> = {
  InvalidSymbol: "a number, true, false, null or text in double quotes",
  InvalidNumberFormat: "a number",
  PropertyNameExpected: "a property name in double quotes",
  ValueExpected: "a value",
  ColonExpected: "a colon after the property name",
  CommaExpected: "a comma, or the end of the object or array",
  CloseBraceExpected: "the rest of the object, up to its closing }",
  CloseBracketExpected: "the rest of the array, up to its closing ]",
  EndOfFileExpected: "the end of the body",
  InvalidCommentToken: "something other than a comment",
  UnexpectedEndOfComment: "something other than a comment",
  UnexpectedEndOfString: "a closing double quote, on the same line, of the string",
  UnexpectedEndOfNumber: "more digits in the number",
  InvalidUnicode: "four hexadecimal digits after each \\u in the string",
  InvalidEscapeCharacter: 'one of " \\ / b f n r t u after each backslash in the string',
  InvalidCharacter: "an escape such as \\t for each control character in the string",
  "<unknown ParseErrorCode>": "something else",
};

/** @throws `ApiError` malformed_json, with the position of the first syntax error, unless nesting is too deep. */
export function parseJsonBody(bytes: Uint8Array): unknown {
  if (bytes.byteLength === 0) throw new ApiError("malformed_json", { detail: "The body is empty. Send JSON." });
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch (cause) {
    throw new ApiError("malformed_json", { detail: "The body is not UTF-8 text.", cause });
  }
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new ApiError("malformed_json", { detail: describeJsonSyntaxError(text), cause });
  }
}

function describeJsonSyntaxError(text: string): string {
  let position = "";
  const onError = (code: ParseErrorCode, offset: number, _length: number, line: number, character: number) => {
    const expected = expectations[printParseErrorCode(code)];
    position = `: expected ${expected} at position ${offset} (line ${line + 1}, column ${character + 1})`;
    // Throws to stop the parser at the first error, because a large body can contain millions of errors.
    throw new Error(position);
  };
  try {
    visit(text, { onError }, { disallowComments: true, allowTrailingComma: false, allowEmptyContent: false });
  } catch (error) {
    // The parser is recursive, so deep nesting can overflow the stack. The error detail then has no position.
    if (position === "" && !(error instanceof RangeError)) throw error;
  }
  return `The body is not valid JSON${position}.`;
}
