import { createExampleNormalizer } from "./example-normalizer.ts";

/** Where the documentation says that the API is. */
export const documentedApiUrl = "http://127.0.0.1:4000";

/** What is asked, as the documentation shows it. */
interface RecordedRequest {
  method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  path: string;
  headers?: Record<string, string>;
  body?: unknown;
  /** Null: none. */
  key?: string | null;
}

/** A request and its reply, as they went. */
export interface RecordedExchange {
  request: { method: string; path: string; headers: Record<string, string>; body?: unknown };
  reply: { status: number; headers: Record<string, string>; body: unknown };
}

/** Headers of replies that the documentation speaks of. */
const documentedHeaders = [
  "etag",
  "location",
  "retry-after",
  "idempotency-replayed",
  "ratelimit-limit",
  "ratelimit-policy",
];

/** In the place of every entity tag. */
const placeholderEtag = '"mC5uX0hQ2rW8"';

/** Fields that differ from run to run by nature, with what is told of them. */
const fixedFieldValues: Record<string, unknown> = { uptime: 86_400, milliseconds: 38, averageMilliseconds: 38 };

export type ExampleRecorder = ReturnType<typeof createExampleRecorder>;

/** Asks the product, and remembers under names what was asked and answered, made the same in each run. */
export function createExampleRecorder(url: string, ownKey: () => string) {
  const normalizer = createExampleNormalizer();
  const recordedExamples = new Map<string, unknown>();

  /** Asks, and gives the reply's body as it came. */
  async function ask({ method = "GET", path, headers = {}, body, key = ownKey() }: RecordedRequest) {
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
    return { response, body: text === "" ? null : JSON.parse(text) };
  }

  return {
    ask,
    normalize: normalizer.normalize,
    keepIds: normalizer.keepIds,
    /** Asks as `ask` does, and tells of it under a name. */
    async recordExchange(name: string, asked: RecordedRequest) {
      if (recordedExamples.has(name)) throw new Error(`There is an example named ${name} already.`);
      const { response, body } = await ask(asked);
      const { method = "GET", path, headers = {}, key } = asked;
      const shownKey = key === null ? {} : { authorization: "Bearer <your key>" };
      const exchange: RecordedExchange = {
        request: {
          method,
          path,
          headers: { ...shownKey, ...headers, ...("if-none-match" in headers && { "if-none-match": placeholderEtag }) },
          ...(asked.body !== undefined && { body: asked.body }),
        },
        reply: {
          status: response.status,
          headers: pickDocumentedHeaders(response),
          body,
        },
      };
      recordedExamples.set(name, normalizer.normalize(withFixedFieldValues(exchange)));
      return body;
    },
    /** Tells something under a name. */
    recordExample(name: string, value: unknown) {
      recordedExamples.set(name, normalizer.normalize(withFixedFieldValues(value)));
    },
    told: () => [...recordedExamples],
  };
}

function pickDocumentedHeaders({ headers }: Response): Record<string, string> {
  const told = [...headers].filter(([name]) => documentedHeaders.includes(name));
  return Object.fromEntries(told.map(([name, value]) => [name, name === "etag" ? placeholderEtag : value]));
}

function withFixedFieldValues<Value>(value: Value): Value {
  return JSON.parse(
    JSON.stringify(value, (name, part) =>
      name in fixedFieldValues && typeof part === "number" ? fixedFieldValues[name] : part,
    ),
  );
}
