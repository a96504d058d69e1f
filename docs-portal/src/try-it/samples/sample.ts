import type { TryItRequest } from "../compose-request.ts";
import type { ResponseKind } from "../operation.ts";

/** The request that a code sample sends, and the kind of response that the sample reads. */
export interface CodeSampleInput {
  request: TryItRequest;
  responseKind: ResponseKind;
  /** The names of the response headers that the sample prints, in lower case. Default: none. */
  printedHeaders?: readonly string[];
}

/** The request body in a sample: a JSON value, other text, or the name of the file from which the sample reads it. */
export type CodeSampleRequestBody = { value: unknown } | { text: string } | { file: string };

/** The file in which a sample saves a response that is neither JSON nor a stream. */
export const codeSampleResponseFileName = "response.txt";

/** Maximum length of a body in the code of a sample, in characters. A sample reads a longer body from a file. */
const maxInlineCharacters = 1_500;

export function buildCodeSampleRequestBody({ body }: TryItRequest): CodeSampleRequestBody | undefined {
  if (body === undefined) return undefined;
  if (body.length > maxInlineCharacters) return { file: "body.json" };
  try {
    return { value: JSON.parse(body) };
  } catch {
    return { text: body };
  }
}

/** Returns whether the response can be 304, which has no body and is not an error. */
export function isConditionalRequest({ headers }: TryItRequest): boolean {
  return Object.keys(headers).some((name) => name.toLowerCase() === "if-none-match");
}

/** The text that a sample prints if the status is 304. */
export const notModifiedText = "Not modified";

/** Returns the text with every line except the first line indented. */
export function indentAllButFirstLine(text: string, spaces: number): string {
  return text.replaceAll("\n", `\n${" ".repeat(spaces)}`);
}
