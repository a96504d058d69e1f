import { createSettler } from "./settle.ts";

/** Where the documentation says that the API is. */
export const shownUrl = "http://127.0.0.1:4000";

/** What is asked, as the documentation shows it. */
interface Asked {
  method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  path: string;
  headers?: Record<string, string>;
  body?: unknown;
  /** Null: none. */
  key?: string | null;
}

/** A request and its reply, as they went. */
export interface Exchange {
  request: { method: string; path: string; headers: Record<string, string>; body?: unknown };
  reply: { status: number; headers: Record<string, string>; body: unknown };
}

/** Headers of replies that the documentation speaks of. */
const toldHeaders = ["etag", "location", "retry-after", "idempotency-replayed", "ratelimit-limit", "ratelimit-policy"];

/** In the place of every entity tag. */
const shownTag = '"mC5uX0hQ2rW8"';

/** Fields that differ from run to run by nature, with what is told of them. */
const restless: Record<string, unknown> = { uptime: 86_400, milliseconds: 38, averageMilliseconds: 38 };

export type Recorder = ReturnType<typeof createRecorder>;

/** Asks the product, and remembers under names what was asked and answered, made the same in each run. */
export function createRecorder(url: string, ownKey: () => string) {
  const settler = createSettler();
  const told = new Map<string, unknown>();

  /** Asks, and gives the reply's body as it came. */
  async function ask({ method = "GET", path, headers = {}, body, key = ownKey() }: Asked) {
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
    settle: settler.settle,
    keep: settler.keep,
    /** Asks as `ask` does, and tells of it under a name. */
    async exchange(name: string, asked: Asked) {
      if (told.has(name)) throw new Error(`There is an example named ${name} already.`);
      const { response, body } = await ask(asked);
      const { method = "GET", path, headers = {}, key } = asked;
      const shownKey = key === null ? {} : { authorization: "Bearer <your key>" };
      const exchange: Exchange = {
        request: {
          method,
          path,
          headers: { ...shownKey, ...headers, ...("if-none-match" in headers && { "if-none-match": shownTag }) },
          ...(asked.body !== undefined && { body: asked.body }),
        },
        reply: {
          status: response.status,
          headers: toldHeadersOf(response),
          body,
        },
      };
      told.set(name, settler.settle(quiet(exchange)));
      return body;
    },
    /** Tells something under a name. */
    tell(name: string, value: unknown) {
      told.set(name, settler.settle(quiet(value)));
    },
    told: () => [...told],
  };
}

function toldHeadersOf({ headers }: Response): Record<string, string> {
  const told = [...headers].filter(([name]) => toldHeaders.includes(name));
  return Object.fromEntries(told.map(([name, value]) => [name, name === "etag" ? shownTag : value]));
}

function quiet<Value>(value: Value): Value {
  return JSON.parse(
    JSON.stringify(value, (name, part) => (name in restless && typeof part === "number" ? restless[name] : part)),
  );
}
