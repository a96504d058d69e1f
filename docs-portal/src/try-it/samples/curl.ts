import {
  buildCodeSampleRequestBody,
  type CodeSampleInput,
  codeSampleResponseFileName,
  isConditionalRequest,
} from "./sample.ts";

/** Returns the request as a curl command. */
export function generateCurlSample({ request, responseKind, printedHeaders = [] }: CodeSampleInput): string {
  const { method, url, headers } = request;
  const body = buildCodeSampleRequestBody(request);
  const isDefaultMethod = method === (body === undefined ? "GET" : "POST");
  const options = [
    // Without -i, curl would print nothing if the status is 304.
    printedHeaders.length > 0 || isConditionalRequest(request) ? "-i" : undefined,
    responseKind === "stream" ? "-N" : undefined,
    isDefaultMethod ? undefined : `-X ${method}`,
    quote(url),
  ].filter((option) => option !== undefined);
  const lines = [
    `curl ${options.join(" ")}`,
    ...Object.entries(headers).map(([name, value]) => `-H ${quote(`${name}: ${value}`)}`),
  ];
  if (responseKind === "file") lines.push(`-o ${codeSampleResponseFileName}`);
  if (body !== undefined) lines.push(`--data-binary ${"file" in body ? `@${body.file}` : quote(request.body ?? "")}`);
  return lines.join(" \\\n  ");
}

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
