import { ApiError } from "@pragma/contracts/errors";
import { type ParseError, parse, printParseErrorCode } from "jsonc-parser";

const utf8 = new TextDecoder("utf-8", { fatal: true });

/** Parses a JSON body; throws `ApiError` malformed_json that says where it breaks. */
export function parseJson(bytes: Uint8Array): unknown {
  if (bytes.byteLength === 0) throw new ApiError("malformed_json", { detail: "The body is empty; JSON was expected." });
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch (cause) {
    throw new ApiError("malformed_json", { detail: "The body is not UTF-8 text.", cause });
  }
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new ApiError("malformed_json", { detail: whereItBreaks(text), cause });
  }
}

function whereItBreaks(text: string): string {
  const first = firstError(text);
  if (!first) return "The body is not valid JSON.";
  const before = text.slice(0, first.offset);
  const line = before.split("\n").length;
  const column = first.offset - before.lastIndexOf("\n");
  return `The body is not valid JSON: ${printParseErrorCode(first.error)} at position ${first.offset} (line ${line}, column ${column}).`;
}

function firstError(text: string): ParseError | undefined {
  const errors: ParseError[] = [];
  try {
    parse(text, errors, { disallowComments: true, allowTrailingComma: false, allowEmptyContent: false });
  } catch (error) {
    // This parser goes down the stack with each level of nesting; what it found until then still counts.
    if (!(error instanceof RangeError)) throw error;
  }
  return errors[0];
}
