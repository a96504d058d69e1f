import {
  buildCodeSampleRequestBody,
  type CodeSampleInput,
  codeSampleResponseFileName,
  indentAllButFirstLine,
  isConditionalRequest,
  notModifiedText,
} from "./sample.ts";

/**
 * Returns the request as TypeScript code without dependencies. The code runs in browsers and Node.js, or only in
 * Node.js if it reads the body from a file or writes the response to a file.
 */
export function generateTypescriptSample({ request, responseKind, printedHeaders = [] }: CodeSampleInput): string {
  const { method, url, headers } = request;
  const body = buildCodeSampleRequestBody(request);
  const init = [
    ...(method === "GET" ? [] : [`method: ${JSON.stringify(method)},`]),
    ...(Object.keys(headers).length === 0 ? [] : [`headers: ${indentAllButFirstLine(renderHeaders(headers), 2)},`]),
    ...(body === undefined ? [] : [`body: ${indentAllButFirstLine(renderBody(body), 2)},`]),
  ];
  const call = init.length === 0 ? JSON.stringify(url) : `${JSON.stringify(url)}, {\n  ${init.join("\n  ")}\n}`;
  const imported = [
    ...(body !== undefined && "file" in body ? ["readFile"] : []),
    ...(responseKind === "file" ? ["writeFile"] : []),
  ].join(", ");
  const readLines = [
    ...printedHeaders.map((name) => `console.log("${name}:", response.headers.get("${name}"));`),
    ...readResponse[responseKind],
  ];
  return [
    ...(imported === "" ? [] : [`import { ${imported} } from "node:fs/promises";\n`]),
    `const response = await fetch(${call});`,
    ...(isConditionalRequest(request)
      ? [
          "if (response.status === 304) {",
          `  console.log("${notModifiedText}");`,
          "} else {",
          ...[throwOnFailure, ...readLines].map((line) => `  ${line}`),
          "}",
        ]
      : [throwOnFailure, ...readLines]),
  ].join("\n");
}

// biome-ignore lint/suspicious/noTemplateCurlyInString: the placeholder is part of the sample's code
const throwOnFailure = "if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);";

const readResponse = {
  json: ["console.log(await response.json());"],
  file: [`await writeFile("${codeSampleResponseFileName}", Buffer.from(await response.arrayBuffer()));`],
  empty: [],
  stream: [
    "const text = response.body!.pipeThrough(new TextDecoderStream());",
    "for await (const part of text) console.log(part);",
  ],
};

function renderBody(body: NonNullable<ReturnType<typeof buildCodeSampleRequestBody>>): string {
  if ("file" in body) return `await readFile(${JSON.stringify(body.file)})`;
  return "text" in body ? JSON.stringify(body.text) : `JSON.stringify(${JSON.stringify(body.value, null, 2)})`;
}

function renderHeaders(headers: Record<string, string>): string {
  const lines = Object.entries(headers).map(
    ([name, value]) => `  ${/^[a-z]+$/.test(name) ? name : JSON.stringify(name)}: ${JSON.stringify(value)},`,
  );
  return `{\n${lines.join("\n")}\n}`;
}
