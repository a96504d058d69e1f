import type { RawHttpResponse } from "./raw-http-client.ts";

/** Matches the names of headers whose values can differ between the responses to equal requests. */
const volatileHeaderPattern = /^(?:date|x-request-id|ratelimit-.*|traceparent)$/;

/**
 * Removes the connection headers of an error response. They depend on timing, because the server closes the connection
 * only if it has not yet read the whole rejected body.
 */
export function omitConnectionHeaders({ headers, ...response }: RawHttpResponse): RawHttpResponse {
  if (response.status < 400) return { ...response, headers };
  return { ...response, headers: headers.filter(([name]) => name !== "connection" && name !== "keep-alive") };
}

export function normalizeResponse({ status, headers, body }: RawHttpResponse): RawHttpResponse {
  const requestId = headers.find(([name]) => name === "x-request-id")?.[1] ?? "no request id";
  // The uptime is different in each response, so the length of the body can also be different.
  const isHealthResponse = body.includes('"uptime":');
  return {
    status,
    headers: headers
      .filter(([name]) => !(volatileHeaderPattern.test(name) || (isHealthResponse && name === "content-length")))
      .map(([name, value]) => [name, name === "retry-after" && isUntilNextDay(value) ? "until the next day" : value]),
    body: body
      .replace(requestId, "request id")
      .replace(/"uptime":[\d.]+/, '"uptime":0')
      .replaceAll(/"lastUsedAt":"[^"]+"/g, '"lastUsedAt":"recently"'),
  };
}

/** Returns whether this is the number of seconds until the next day (UTC) began or begins, within half a minute. */
function isUntilNextDay(seconds: string): boolean {
  const secondsPerDay = 86_400;
  const remainder = (Date.now() / 1_000 + Number(seconds)) % secondsPerDay;
  return Math.min(remainder, secondsPerDay - remainder) < 30;
}

/**
 * Returns the response without its ETag, with placeholders instead of ids, API keys and recent times. Equal ids get the
 * same placeholder.
 */
export function maskVolatileResponseValues({ status, headers, body }: RawHttpResponse): object {
  const names = new Map<string, string>();
  const text = JSON.stringify({ headers: headers.filter(([name]) => name !== "etag"), body });
  const replaced = text
    .replaceAll(/\b[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}\b|pragma_\w+/g, (id) => {
      if (!names.has(id)) names.set(id, `#${names.size + 1}`);
      return names.get(id) ?? id;
    })
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, (time) => (Date.now() - Date.parse(time) < 120_000 ? "now" : time));
  return { status, ...JSON.parse(replaced) };
}

/**
 * Returns what two responses with different data have in common: the status, the headers without the values that depend
 * on the data, and the field types of the body. For an error, returns the problem without its detail and request id
 * instead of the field types. Returns a body that is not JSON unchanged.
 */
export function describeResponseShape({ status, headers, body }: RawHttpResponse): object {
  const contentHeaderPattern = /^(?:content-length|etag|location|api-key-expires-at)$/;
  const comparedHeaders = headers.map(([name, value]) => [name, contentHeaderPattern.test(name) ? "some" : value]);
  const type = headers.find(([name]) => name === "content-type")?.[1] ?? "";
  if (!/json/.test(type) || body === "") return { status, headers: comparedHeaders, body };
  const { detail, requestId, ...parsed } = JSON.parse(body);
  return {
    status,
    headers: comparedHeaders,
    body: status >= 400 ? omitIssueValues(parsed) : describeFieldTypes(parsed),
  };
}

/** Returns the problem with each message cut before "; got", because the value after it comes from the request. */
function omitIssueValues({ errors, ...problem }: { errors?: { message: string }[] }): object {
  return { ...problem, errors: errors?.map((issue) => ({ ...issue, message: issue.message.split("; got")[0] })) };
}

function describeFieldTypes(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, 1).map(describeFieldTypes);
  if (typeof value !== "object" || value === null) return value === null ? null : typeof value;
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, describeFieldTypes(field)]));
}
