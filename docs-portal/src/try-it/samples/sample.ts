import type { ApiRequest } from "../compose-request.ts";
import type { ResponseKind } from "../operation.ts";

/** The request that a code sample sends, and the kind of response that the sample reads. */
export interface SampleInput {
  request: ApiRequest;
  responseKind: ResponseKind;
}

/** The request body in a sample: a JSON value, other text, or the name of the file from which the sample reads it. */
export type SampleBody = { value: unknown } | { text: string } | { file: string };

/** The file in which a sample saves a response that is not JSON. */
export const responseFile = "response.txt";

/** Maximum length of a body in the code of a sample, in characters. A sample reads a longer body from a file. */
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

/** Returns the text with every line except the first line indented. */
export function indent(text: string, spaces: number): string {
  return text.replaceAll("\n", `\n${" ".repeat(spaces)}`);
}
