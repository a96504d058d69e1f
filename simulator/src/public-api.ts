import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";

interface Call<Body> {
  method?: "GET" | "POST" | "PUT" | "PATCH";
  path: string;
  /** Sent as JSON. */
  body?: unknown;
  /** The body of a success, to be read with this schema. */
  reply: z.ZodType<Body>;
}

/** A reply that the API gave instead of what was asked for. */
class RefusedCall extends Error {
  override name = "RefusedCall";
  readonly status: number;

  constructor(call: string, status: number, body: string) {
    super(`${call} answered ${status}: ${reasonIn(body)}`);
    this.status = status;
  }
}

export interface ApiOptions {
  /** Where the API answers, such as http://localhost:4000. */
  url: string;
  apiKey: string;
  fetch?: typeof fetch;
  /** How long to wait, in milliseconds. */
  wait?: (milliseconds: number) => Promise<unknown>;
}

/** The public HTTP API, under one key. */
export class PublicApi {
  readonly #options: Required<ApiOptions>;

  constructor(options: ApiOptions) {
    this.#options = { fetch: globalThis.fetch, wait: sleep, ...options };
  }

  /** The same API under another key. */
  withKey(apiKey: string): PublicApi {
    return new PublicApi({ ...this.#options, apiKey });
  }

  wait(milliseconds: number): Promise<unknown> {
    return this.#options.wait(milliseconds);
  }

  /**
   * Makes a call, again when the API is busy or cannot be reached for a moment. Throws `RefusedCall` when it does not
   * succeed.
   */
  async call<Body>({ method = "GET", path, body, reply }: Call<Body>): Promise<Body> {
    const response = await this.#send(method, path, body);
    const text = await response.text();
    if (!response.ok) throw new RefusedCall(`${method} ${path}`, response.status, text);
    try {
      return reply.parse(text === "" ? undefined : JSON.parse(text));
    } catch (cause) {
      throw new Error(`${method} ${path} answered ${response.status} with something unexpected`, { cause });
    }
  }

  /** As `call`, but null when the API answers with one of the given statuses. */
  async callUnless<Body>(statuses: readonly number[], call: Call<Body>): Promise<Body | null> {
    try {
      return await this.call(call);
    } catch (error) {
      if (error instanceof RefusedCall && statuses.includes(error.status)) return null;
      throw error;
    }
  }

  async #send(method: string, path: string, body: unknown): Promise<Response> {
    const { url, apiKey, fetch, wait } = this.#options;
    const init: RequestInit = { method, headers: { authorization: `Bearer ${apiKey}` } };
    if (body !== undefined) {
      init.body = JSON.stringify(body);
      init.headers = { ...init.headers, "content-type": "application/json" };
    }
    for (let attempt = 1; ; attempt++) {
      const isLast = attempt === mostAttempts;
      try {
        const response = await fetch(`${url}${path}`, init);
        if (!passing.has(response.status) || isLast) return response;
        await response.body?.cancel();
        await wait(secondsToWait(response, attempt) * 1000);
      } catch (error) {
        if (isLast) throw new Error(`${method} ${url}${path} could not be sent`, { cause: error });
        await wait(attempt * 1000);
      }
    }
  }
}

/** Statuses of an API that is busy for a moment. */
const passing = new Set([429, 502, 503, 504]);

const mostAttempts = 6;

function secondsToWait(response: Response, attempt: number): number {
  const asked = Number(response.headers.get("retry-after"));
  return asked > 0 && asked <= 30 ? asked : attempt;
}

const problem = z.object({ title: z.string(), detail: z.string().optional(), requestId: z.string().optional() });

function reasonIn(body: string): string {
  try {
    const { title, detail, requestId } = problem.parse(JSON.parse(body));
    return [title, detail, requestId && `(request ${requestId})`].filter(Boolean).join(" ");
  } catch {
    return body.slice(0, 200) || "nothing more";
  }
}
