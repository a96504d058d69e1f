import { indented, type SampleOf, sampleBodyOf } from "./sample.ts";

/** The request with PHP's curl extension. */
export function phpSample({ request, replies }: SampleOf): string {
  const { method, url, headers } = request;
  const body = sampleBodyOf(request);
  const options = [
    ...(method === "GET" ? [] : [`CURLOPT_CUSTOMREQUEST => ${quoted(method)},`]),
    ...(Object.keys(headers).length === 0 ? [] : [`CURLOPT_HTTPHEADER => ${indented(headerList(headers), 4)},`]),
    ...(body === undefined ? [] : [`CURLOPT_POSTFIELDS => ${indented(bodyOf(body), 4)},`]),
    "CURLOPT_FAILONERROR => true,",
    ...(replies === "stream"
      ? ["CURLOPT_WRITEFUNCTION => function ($curl, $part) { echo $part; return strlen($part); },"]
      : ["CURLOPT_RETURNTRANSFER => true,"]),
  ];
  return [
    "<?php",
    "",
    `$curl = curl_init(${quoted(url)});`,
    "curl_setopt_array($curl, [",
    ...options.map((option) => `    ${option}`),
    "]);",
    "$reply = curl_exec($curl);",
    "if ($reply === false) throw new RuntimeException(curl_error($curl));",
    ...(replies === "json" ? ["print_r(json_decode($reply, true));"] : []),
  ].join("\n");
}

function bodyOf(body: NonNullable<ReturnType<typeof sampleBodyOf>>): string {
  if ("file" in body) return `file_get_contents(${quoted(body.file)})`;
  return "text" in body ? quoted(body.text) : `json_encode(${phpLiteral(body.value)})`;
}

function headerList(headers: Record<string, string>): string {
  const lines = Object.entries(headers).map(([name, value]) => `    ${quoted(`${name}: ${value}`)},`);
  return `[\n${lines.join("\n")}\n]`;
}

/** A JSON value as PHP writes it, over several lines where it has parts. */
function phpLiteral(value: unknown): string {
  if (typeof value === "string") return quoted(value);
  if (value === null || typeof value !== "object") return String(value);
  const parts = Array.isArray(value)
    ? value.map((part) => phpLiteral(part))
    : Object.entries(value).map(([name, part]) => `${quoted(name)} => ${phpLiteral(part)}`);
  // An empty array would be written as a list.
  if (parts.length === 0) return Array.isArray(value) ? "[]" : "new stdClass()";
  return `[\n${parts.map((part) => `    ${indented(part, 4)},`).join("\n")}\n]`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}
