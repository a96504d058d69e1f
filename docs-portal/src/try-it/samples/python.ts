import { indented, replyFile, type SampleOf, sampleBodyOf } from "./sample.ts";

/** The request with what Python has built in. */
export function pythonSample({ request, replies }: SampleOf): string {
  const { method, url, headers } = request;
  const body = sampleBodyOf(request);
  const options = [
    ...(method === "GET" ? [] : [`method=${JSON.stringify(method)},`]),
    ...(Object.keys(headers).length === 0 ? [] : [`headers=${indented(pythonLiteral(headers), 4)},`]),
    ...(body === undefined ? [] : [`data=${indented(bodyOf(body), 4)},`]),
  ];
  const needsJson = replies === "json" || (body !== undefined && "value" in body);
  return [
    ...(needsJson ? ["import json"] : []),
    "import urllib.request\n",
    "request = urllib.request.Request(",
    ...[`${JSON.stringify(url)},`, ...options].map((line) => `    ${line}`),
    ")",
    ...reading[replies],
  ].join("\n");
}

const reading = {
  json: ["with urllib.request.urlopen(request, timeout=30) as response:", "    print(json.load(response))"],
  file: [
    `with urllib.request.urlopen(request, timeout=30) as response, open("${replyFile}", "wb") as file:`,
    "    file.write(response.read())",
  ],
  nothing: ["urllib.request.urlopen(request, timeout=30).close()"],
  stream: [
    "with urllib.request.urlopen(request, timeout=30) as response:",
    "    for line in response:",
    '        print(line.decode(), end="", flush=True)',
  ],
};

function bodyOf(body: NonNullable<ReturnType<typeof sampleBodyOf>>): string {
  if ("file" in body) return `open(${JSON.stringify(body.file)}, "rb").read()`;
  return "text" in body ? `${JSON.stringify(body.text)}.encode()` : `json.dumps(${pythonLiteral(body.value)}).encode()`;
}

/** A JSON value as Python writes it, over several lines where it has parts. */
function pythonLiteral(value: unknown): string {
  if (value === null) return "None";
  if (value === true) return "True";
  if (value === false) return "False";
  if (typeof value !== "object") return JSON.stringify(value);
  const isList = Array.isArray(value);
  const parts = isList
    ? value.map((part) => pythonLiteral(part))
    : Object.entries(value).map(([name, part]) => `${JSON.stringify(name)}: ${pythonLiteral(part)}`);
  const [open, close] = isList ? ["[", "]"] : ["{", "}"];
  if (parts.length === 0) return `${open}${close}`;
  return `${open}\n${parts.map((part) => `    ${indented(part, 4)},`).join("\n")}\n${close}`;
}
