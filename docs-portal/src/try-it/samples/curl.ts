import { replyFile, type SampleOf, sampleBodyOf } from "./sample.ts";

/** The request for a shell. */
export function curlSample({ request, replies }: SampleOf): string {
  const { method, url, headers } = request;
  const body = sampleBodyOf(request);
  const isUsual = method === (body === undefined ? "GET" : "POST");
  const options = [replies === "stream" ? "-N" : undefined, isUsual ? undefined : `-X ${method}`, quoted(url)].filter(
    (option) => option !== undefined,
  );
  const lines = [
    `curl ${options.join(" ")}`,
    ...Object.entries(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
  ];
  if (replies === "file") lines.push(`-o ${replyFile}`);
  if (body !== undefined) lines.push(`--data-binary ${"file" in body ? `@${body.file}` : quoted(request.body ?? "")}`);
  return lines.join(" \\\n  ");
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
