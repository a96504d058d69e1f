import type { ApiRequest } from "../compose-request.ts";
import type { ReplyKind } from "../operation.ts";

/** What a sample is made from. */
export interface SampleOf {
  request: ApiRequest;
  replies: ReplyKind;
}

/** The body for a sample: a value, or text where it is no JSON, or nothing but the name of a file where it is long. */
export type SampleBody = { value: unknown } | { text: string } | { file: string };

/** What a sample saves a reply as that is no JSON. */
export const replyFile = "reply.txt";

/** Characters of JSON above which a sample reads the body from a file. */
const longest = 1_500;

export function sampleBodyOf({ body }: ApiRequest): SampleBody | undefined {
  if (body === undefined) return undefined;
  if (body.length > longest) return { file: "body.json" };
  try {
    return { value: JSON.parse(body) };
  } catch {
    return { text: body };
  }
}

/** Puts spaces before each line but the first. */
export function indented(text: string, spaces: number): string {
  return text.replaceAll("\n", `\n${" ".repeat(spaces)}`);
}
