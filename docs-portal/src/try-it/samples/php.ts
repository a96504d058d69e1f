import { indented, replyFile, type SampleOf, sampleBodyOf } from "./sample.ts";

/** The request with what PHP has built in. */
export function phpSample({ request, replies }: SampleOf): string {
  const { method, url, headers } = request;
  const body = sampleBodyOf(request);
  const options = [
    `'method' => ${quoted(method)},`,
    ...(Object.keys(headers).length === 0 ? [] : [`'header' => ${indented(headerList(headers), 4)},`]),
    ...(body === undefined ? [] : [`'content' => ${indented(bodyOf(body), 4)},`]),
    ...(replies === "stream"
      ? ["'protocol_version' => '1.0', // in 1.1 PHP holds back what comes in small parts"]
      : []),
  ];
  return [
    "<?php",
    "",
    "$context = stream_context_create(['http' => [",
    ...options.map((option) => `    ${option}`),
    "]]);",
    ...(replies === "stream"
      ? [
          `$reply = fopen(${quoted(url)}, 'r', false, $context);`,
          failing,
          "while (($line = fgets($reply)) !== false) echo $line;",
        ]
      : [`$reply = file_get_contents(${quoted(url)}, false, $context);`, failing, ...reading[replies]]),
  ].join("\n");
}

const failing = "if ($reply === false) throw new RuntimeException(error_get_last()['message']);";

const reading = {
  json: ["print_r(json_decode($reply, true));"],
  file: [`file_put_contents('${replyFile}', $reply);`],
  nothing: [],
};

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
