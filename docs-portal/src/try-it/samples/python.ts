import type { ResponseKind } from "../operation.ts";
import {
  buildCodeSampleRequestBody,
  type CodeSampleInput,
  codeSampleResponseFileName,
  indentAllButFirstLine,
  isConditionalRequest,
  notModifiedText,
} from "./sample.ts";

/** Returns the request as Python code without dependencies. */
export function generatePythonSample({ request, responseKind, printedHeaders = [] }: CodeSampleInput): string {
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
    ...renderResponseReading(responseKind, printedHeaders).map((line) => `    ${line}`),
    "except urllib.error.HTTPError as error:",
    ...(isConditionalRequest(request) ? ["    if error.code != 304:", `    ${exit}`, notModified] : [exit]),
  ].join("\n");
}

const exit = '    raise SystemExit(f"{error.code} {error.read().decode()}")';
/** Python raises an error for the status 304, although it means that the request was successful. */
const notModified = `    print("${notModifiedText}")`;

function renderResponseReading(responseKind: ResponseKind, printedHeaders: readonly string[]): string[] {
  const file = responseKind === "file" ? `, open("${codeSampleResponseFileName}", "wb") as file` : "";
  const lines = [
    ...printedHeaders.map((name) => `print("${name}:", response.headers["${name}"])`),
    ...readResponse[responseKind],
  ];
  if (lines.length === 0) return ["urllib.request.urlopen(request, timeout=35).close()"];
  return [
    `with urllib.request.urlopen(request, timeout=35) as response${file}:`,
    ...lines.map((line) => `    ${line}`),
  ];
}

const readResponse = {
  json: ["print(json.load(response))"],
  file: ["file.write(response.read())"],
  empty: [],
  stream: ["for line in response:", '    print(line.decode(), end="", flush=True)'],
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
