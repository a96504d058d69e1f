import { eventually } from "@pragma/runtime/testing/eventually";
import { createExampleNormalizer } from "./example-normalizer.ts";

/** The URL of the API in the documentation. */
export const documentedApiUrl = "http://127.0.0.1:4000";

interface RecordedRequest {
  method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  path: string;
  headers?: Record<string, string>;
  body?: unknown;
  /** The API key; null to send no key. Default: the key that `getDefaultKey` of the recorder returns. */
  key?: string | null;
  /** Whether the ETags are recorded as they are, because they are the same in each run. */
  hasStableEtag?: boolean;
}

/** A request and its response (`reply`), in the format of the example files. */
export interface RecordedHttpExchange {
  request: { method: string; path: string; headers: Record<string, string>; body?: unknown };
  reply: { status: number; headers: Record<string, string>; body: unknown };
}

/** The response headers that are recorded, because the documentation shows them. */
const documentedHeaders = [
  "etag",
  "location",
  "retry-after",
  "idempotency-replayed",
  "ratelimit-limit",
  "ratelimit-policy",
];

/** Replaces every ETag, because the ETags of a resource differ in each run. */
const placeholderEtag = '"mC5uX0hQ2rW8"';

/** Fixed values of the fields that have a different value in each run, by field name. */
const fixedFieldValues: Record<string, unknown> = { uptime: 86_400, milliseconds: 38, averageMilliseconds: 38 };

export type DocumentationExampleRecorder = ReturnType<typeof createExampleRecorder>;

/** Returns a recorder, which sends requests and records them with their responses. Recorded values are normalized. */
export function createExampleRecorder(url: string, getDefaultKey: () => string) {
  const normalizer = createExampleNormalizer();
  const recordedExamples = new Map<string, unknown>();

  /** Sends a request without recording it. Returns the response and its body: the parsed JSON, or text such as CSV. */
  async function sendRequest({ method = "GET", path, headers = {}, body, key = getDefaultKey() }: RecordedRequest) {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: {
        ...(key !== null && { authorization: `Bearer ${key}` }),
        ...(body !== undefined && { "content-type": "application/json" }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const isJson = /[/+]json\b/.test(response.headers.get("content-type") ?? "");
    return { response, body: text === "" ? null : isJson ? JSON.parse(text) : text };
  }

  return {
    sendRequest,
    normalize: normalizer.normalize,
    keepIds: normalizer.keepIds,
    setTime: normalizer.setTime,
    /** Sends a request, and records it with its response under a name. Returns the response body. */
    async recordExchange(name: string, request: RecordedRequest) {
      if (recordedExamples.has(name)) throw new Error(`The example ${name} exists already.`);
      const { method = "GET", path, headers = {}, key, hasStableEtag = false } = request;
      // How long a report takes differs in each run, so tills are read once their reports are computed.
      const { response, body } =
        method === "GET"
          ? await eventually(`${path} without pending reports`, async () => {
              const read = await sendRequest(request);
              return !hasReportState(read.body, "pending") && read;
            })
          : await sendRequest(request);
      const shownKey = key === null ? {} : { authorization: "Bearer <your key>" };
      const exchange: RecordedHttpExchange = {
        request: {
          method,
          path,
          headers: {
            ...shownKey,
            ...headers,
            ...("if-none-match" in headers && !hasStableEtag && { "if-none-match": placeholderEtag }),
          },
          ...(request.body !== undefined && { body: request.body }),
        },
        reply: {
          status: response.status,
          headers: pickDocumentedHeaders(response, hasStableEtag),
          body,
        },
      };
      // A report can be computed before a repeated push.
      if (method !== "GET" && hasReportState(body, "done")) {
        exchange.reply.body = { ...body, reportState: "pending" };
        exchange.reply.headers["retry-after"] = "2";
      }
      recordedExamples.set(name, normalizer.normalize(withFixedFieldValues(exchange)));
      return body;
    },
    /** Records a value under a name, without sending a request. */
    recordExample(name: string, value: unknown) {
      recordedExamples.set(name, normalizer.normalize(withFixedFieldValues(value)));
    },
    /** Replaces a recorded example with the result of a function. */
    updateExample(name: string, update: (example: unknown) => unknown) {
      recordedExamples.set(name, update(recordedExamples.get(name)));
    },
    recordedExamples,
  };
}

const hasReportState = (body: unknown, state: string) => JSON.stringify(body).includes(`"reportState":"${state}"`);

function pickDocumentedHeaders({ headers }: Response, hasStableEtag: boolean): Record<string, string> {
  const documented = [...headers].filter(([name]) => documentedHeaders.includes(name));
  return Object.fromEntries(
    documented.map(([name, value]) => [name, name === "etag" && !hasStableEtag ? placeholderEtag : value]),
  );
}

function withFixedFieldValues<Value>(value: Value): Value {
  return JSON.parse(
    JSON.stringify(value, (name, part) =>
      name in fixedFieldValues && typeof part === "number" ? fixedFieldValues[name] : part,
    ),
  );
}
