import type { ApiRequest } from "../compose-request.ts";
import type { ResponseKind } from "../operation.ts";

/** The input of a code sample. */
export interface SampleInput {
  request: ApiRequest;
  responseKind: ResponseKind;
}

/** The request body in a sample: a value, a text if it is not JSON, or a file name if it is long. */
export type SampleBody = { value: unknown } | { text: string } | { file: string };

/** The file in which a sample saves a response that is not JSON. */
export const responseFile = "response.txt";

/** Maximum length of a body within a sample, in characters. A sample reads a longer body from a file. */
const maxInlineCharacters = 1_500;

export function sampleBodyOf({ body }: ApiRequest): SampleBody | undefined {
  if (body === undefined) return undefined;
  if (body.length > maxInlineCharacters) return { file: "body.json" };
  try {
    return { value: JSON.parse(body) };
  } catch {
    return { text: body };
  }
}

/** Returns the text with each line except the first indented. */
export function indent(text: string, spaces: number): string {
  return text.replaceAll("\n", `\n${" ".repeat(spaces)}`);
}
