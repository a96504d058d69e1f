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
  let place = "";
  const onError = (code: ParseErrorCode, offset: number, _length: number, line: number, character: number) => {
    place = `: ${printParseErrorCode(code)} at position ${offset} (line ${line + 1}, column ${character + 1})`;
    // The first error ends the search: a large body may have millions.
    throw new Error(place);
  };
  try {
    visit(text, { onError }, { disallowComments: true, allowTrailingComma: false, allowEmptyContent: false });
  } catch (error) {
    // This parser goes down the stack with each level of nesting.
    if (place === "" && !(error instanceof RangeError)) throw error;
  }
  return `The body is not valid JSON${place}.`;
}
