import { indented, type SampleOf, sampleBodyOf } from "./sample.ts";

/** The request with the requests package. */
export function pythonSample({ request, replies }: SampleOf): string {
  const { method, url, headers } = request;
  const body = sampleBodyOf(request);
  // requests sets this header for what it writes itself.
  const { "content-type": contentType, ...own } = headers;
  const sent = body !== undefined && "value" in body ? own : headers;
  const lines = [
    `${JSON.stringify(url)},`,
    ...(Object.keys(sent).length === 0 ? [] : [`headers=${indented(pythonLiteral(sent), 4)},`]),
    ...(body === undefined ? [] : [`${indented(bodyOf(body), 4)},`]),
    ...(replies === "stream" ? ["stream=True,"] : ["timeout=30,"]),
  ];
  return [
    "import requests\n",
    `response = requests.${method.toLowerCase()}(`,
    ...lines.map((line) => `    ${line}`),
    ")",
    "response.raise_for_status()",
    ...reading[replies],
  ].join("\n");
}

const reading = {
  json: ["print(response.json())"],
  nothing: [],
  stream: ["for line in response.iter_lines(decode_unicode=True):", "    print(line)"],
};

function bodyOf(body: NonNullable<ReturnType<typeof sampleBodyOf>>): string {
  if ("file" in body) return `data=open(${JSON.stringify(body.file)}, "rb")`;
  return "text" in body ? `data=${JSON.stringify(body.text)}` : `json=${pythonLiteral(body.value)}`;
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
