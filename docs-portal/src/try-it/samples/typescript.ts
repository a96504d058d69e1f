import { indented, replyFile, type SampleOf, sampleBodyOf } from "./sample.ts";

/** The request with what browsers and Node.js have built in. */
export function typescriptSample({ request, replies }: SampleOf): string {
  const { method, url, headers } = request;
  const body = sampleBodyOf(request);
  const init = [
    ...(method === "GET" ? [] : [`method: ${JSON.stringify(method)},`]),
    ...(Object.keys(headers).length === 0 ? [] : [`headers: ${indented(objectOf(headers), 2)},`]),
    ...(body === undefined ? [] : [`body: ${indented(bodyOf(body), 2)},`]),
  ];
  const call = init.length === 0 ? JSON.stringify(url) : `${JSON.stringify(url)}, {\n  ${init.join("\n  ")}\n}`;
  const imported = [
    ...(body !== undefined && "file" in body ? ["readFile"] : []),
    ...(replies === "file" ? ["writeFile"] : []),
  ].join(", ");
  return [
    ...(imported === "" ? [] : [`import { ${imported} } from "node:fs/promises";\n`]),
    `const response = await fetch(${call});`,
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is code of the sample
    "if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);",
    ...reading[replies],
  ].join("\n");
}

const reading = {
  json: ["console.log(await response.json());"],
  file: [`await writeFile("${replyFile}", Buffer.from(await response.arrayBuffer()));`],
  nothing: [],
  stream: [
    "const text = response.body!.pipeThrough(new TextDecoderStream());",
    "for await (const part of text) console.log(part);",
  ],
};

function bodyOf(body: NonNullable<ReturnType<typeof sampleBodyOf>>): string {
  if ("file" in body) return `await readFile(${JSON.stringify(body.file)})`;
  return "text" in body ? JSON.stringify(body.text) : `JSON.stringify(${JSON.stringify(body.value, null, 2)})`;
}

function objectOf(headers: Record<string, string>): string {
  const lines = Object.entries(headers).map(
    ([name, value]) => `  ${/^[a-z]+$/.test(name) ? name : JSON.stringify(name)}: ${JSON.stringify(value)},`,
  );
  return `{\n${lines.join("\n")}\n}`;
}
