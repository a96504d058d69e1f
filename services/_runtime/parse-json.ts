import { ApiError } from "@pragma/contracts/errors";
import { type ParseErrorCode, printParseErrorCode, visit } from "jsonc-parser";

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
  const { code, offset, line, column } = first;
  return `The body is not valid JSON: ${printParseErrorCode(code)} at position ${offset} (line ${line}, column ${column}).`;
}

/** Thrown to stop at the first error: a large body may have millions. */
class FoundError extends Error {
  readonly place: PlaceOfError;
  constructor(place: PlaceOfError) {
    super();
    this.place = place;
  }
}

interface PlaceOfError {
  code: ParseErrorCode;
  offset: number;
  line: number;
  column: number;
}

function firstError(text: string): PlaceOfError | undefined {
  try {
    const onError = (code: ParseErrorCode, offset: number, _length: number, line: number, character: number) => {
      throw new FoundError({ code, offset, line: line + 1, column: character + 1 });
    };
    visit(text, { onError }, { disallowComments: true, allowTrailingComma: false, allowEmptyContent: false });
  } catch (error) {
    if (error instanceof FoundError) return error.place;
    // This parser goes down the stack with each level of nesting.
    if (!(error instanceof RangeError)) throw error;
  }
  return undefined;
}
