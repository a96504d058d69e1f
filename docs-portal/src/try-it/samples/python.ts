import {
  buildCodeSampleRequestBody,
  type CodeSampleInput,
  codeSampleResponseFileName,
  indentAllButFirstLine,
} from "./sample.ts";

/** Returns the request as Python code without dependencies. */
export function generatePythonSample({ request, responseKind }: CodeSampleInput): string {
  const { method, url, headers } = request;
  const body = buildCodeSampleRequestBody(request);
  const options = [
    ...(method === "GET" ? [] : [`method=${JSON.stringify(method)},`]),
    ...(Object.keys(headers).length === 0 ? [] : [`headers=${indentAllButFirstLine(pythonLiteral(headers), 4)},`]),
    ...(body === undefined ? [] : [`data=${indentAllButFirstLine(renderBody(body), 4)},`]),
  ];
  const needsJson = responseKind === "json" || (body !== undefined && "value" in body);
  return [
    ...(needsJson ? ["import json"] : []),
    "import urllib.error",
    "import urllib.request\n",
    "request = urllib.request.Request(",
    ...[`${JSON.stringify(url)},`, ...options].map((line) => `    ${line}`),
    ")",
    "try:",
    ...readResponse[responseKind].map((line) => `    ${line}`),
    "except urllib.error.HTTPError as error:",
    '    raise SystemExit(f"{error.code} {error.read().decode()}")',
  ].join("\n");
}

const readResponse = {
  json: ["with urllib.request.urlopen(request, timeout=35) as response:", "    print(json.load(response))"],
  file: [
    `with urllib.request.urlopen(request, timeout=35) as response, open("${codeSampleResponseFileName}", "wb") as file:`,
    "    file.write(response.read())",
  ],
  empty: ["urllib.request.urlopen(request, timeout=35).close()"],
  stream: [
    "with urllib.request.urlopen(request, timeout=35) as response:",
    "    for line in response:",
    '        print(line.decode(), end="", flush=True)',
  ],
};

function renderBody(body: NonNullable<ReturnType<typeof buildCodeSampleRequestBody>>): string {
  if ("file" in body) return `open(${JSON.stringify(body.file)}, "rb").read()`;
  return "text" in body ? `${JSON.stringify(body.text)}.encode()` : `json.dumps(${pythonLiteral(body.value)}).encode()`;
}

/** Returns a JSON value as a Python literal, on several lines if it is a list or a dict. */
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
  return `${open}\n${parts.map((part) => `    ${indentAllButFirstLine(part, 4)},`).join("\n")}\n${close}`;
}
