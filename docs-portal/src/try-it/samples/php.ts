import {
  buildCodeSampleRequestBody,
  type CodeSampleInput,
  codeSampleResponseFileName,
  indentAllButFirstLine,
  isConditionalRequest,
  notModifiedText,
} from "./sample.ts";

/** Returns the request as PHP code without dependencies. */
export function generatePhpSample({ request, responseKind, printedHeaders = [] }: CodeSampleInput): string {
  const { method, url, headers } = request;
  const body = buildCodeSampleRequestBody(request);
  const options = [
    `'method' => ${quote(method)},`,
    ...(Object.keys(headers).length === 0 ? [] : [`'header' => ${indentAllButFirstLine(renderHeaders(headers), 4)},`]),
    ...(body === undefined ? [] : [`'content' => ${indentAllButFirstLine(renderBody(body), 4)},`]),
    "'ignore_errors' => true, // Otherwise, the body of an error response could not be read.",
    ...(responseKind === "stream" ? ["'protocol_version' => '1.0', // With HTTP/1.1, PHP buffers small chunks."] : []),
  ];
  return [
    "<?php",
    "",
    "$context = stream_context_create(['http' => [",
    ...options.map((option) => `    ${option}`),
    "]]);",
    `$response = fopen(${quote(url)}, 'r', false, $context);`,
    ...throwOnFailure,
    ...printedHeaders.map((name) => `echo implode("\\n", preg_grep('/^${name}:/i', $headers)), "\\n";`),
    ...(isConditionalRequest(request)
      ? [
          "if ($status === '304') {",
          `    echo "${notModifiedText}\\n";`,
          "} else {",
          ...readResponse[responseKind].map((line) => `    ${line}`),
          "}",
        ]
      : readResponse[responseKind]),
  ].join("\n");
}

const throwOnFailure = [
  "if ($response === false) throw new RuntimeException(error_get_last()['message']);",
  "$headers = stream_get_meta_data($response)['wrapper_data'];",
  "$status = explode(' ', $headers[0])[1];",
  'if ($status >= 400) throw new RuntimeException("$status " . stream_get_contents($response));',
];

const readResponse = {
  json: ["print_r(json_decode(stream_get_contents($response), true));"],
  file: [`file_put_contents('${codeSampleResponseFileName}', $response);`],
  empty: [],
  stream: ["while (($line = fgets($response)) !== false) echo $line;"],
};

function renderBody(body: NonNullable<ReturnType<typeof buildCodeSampleRequestBody>>): string {
  if ("file" in body) return `file_get_contents(${quote(body.file)})`;
  return "text" in body ? quote(body.text) : `json_encode(${phpLiteral(body.value)})`;
}

function renderHeaders(headers: Record<string, string>): string {
  const lines = Object.entries(headers).map(([name, value]) => `    ${quote(`${name}: ${value}`)},`);
  return `[\n${lines.join("\n")}\n]`;
}

/** Returns a JSON value as a PHP literal, on several lines if it is an array or an object. */
function phpLiteral(value: unknown): string {
  if (typeof value === "string") return quote(value);
  if (value === null || typeof value !== "object") return String(value);
  const parts = Array.isArray(value)
    ? value.map((part) => phpLiteral(part))
    : Object.entries(value).map(([name, part]) => `${quote(name)} => ${phpLiteral(part)}`);
  // An empty object must be a stdClass, because json_encode converts an empty PHP array to a JSON array.
  if (parts.length === 0) return Array.isArray(value) ? "[]" : "new stdClass()";
  return `[\n${parts.map((part) => `    ${indentAllButFirstLine(part, 4)},`).join("\n")}\n]`;
}

function quote(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}
