import createFetchClient, { type Middleware } from "openapi-fetch";
import { errorOf } from "./api-problem.ts";
import type { Call } from "./calls.ts";
import type { components, paths as FullPaths } from "./generated/full-api.ts";
import type { paths as PublicPaths } from "./generated/public-api.ts";
import { type Lists, listsOf } from "./pages.ts";
import { retryingFetch, type Send, waitFor } from "./retrying-fetch.ts";
import { NoReply } from "./unanswered.ts";

/** What the API takes and gives, by the names of the reference: `Schemas["ReportV2"]`. */
export type Schemas = components["schemas"];

export interface ClientOptions {
  /** Where the API answers, such as `http://localhost:4000`. */
  baseUrl: string;
  apiKey: string;
  /** Sends a request; the built-in `fetch` unless given. */
  fetch?: Send;
  /** How often a call is tried again at most, over some fifteen seconds or as long as the API asks; 5 unless given, 0 for never. */
  retries?: number;
  /** Waits between two attempts, in milliseconds. For tests, which do not want to. */
  wait?: (milliseconds: number) => Promise<unknown>;
}

/**
 * The API under one key. Each call throws `ApiProblem` when the API refuses it, `UnexpectedReply` when something else
 * answers, `NoReply` when nobody does, `NotModified` when its `If-None-Match` names what is there, and the reason of its
 * `signal` once that is given.
 */
export interface Client<Paths extends object> extends Lists<Paths> {
  GET: Call<Paths, "get">;
  POST: Call<Paths, "post">;
  PUT: Call<Paths, "put">;
  PATCH: Call<Paths, "patch">;
  DELETE: Call<Paths, "delete">;
}

/** What partners and POS apps use. */
export type PublicClient = Client<PublicPaths>;
/** Everything, with what operators use: needs a key with the scopes of an operator. */
export type AdminClient = Client<FullPaths>;

/** A client of the operations that partners and POS apps use. */
export function createClient(options: ClientOptions): PublicClient {
  return clientOf<PublicPaths>(options);
}

/** A client of every operation. */
export function createAdminClient(options: ClientOptions): AdminClient {
  return clientOf<FullPaths>(options);
}

function clientOf<Paths extends object>(options: ClientOptions): Client<Paths> {
  const { baseUrl, apiKey, fetch: send = (request) => fetch(request), retries = 5, wait = waitFor } = options;
  const client = createFetchClient<Paths>({
    baseUrl,
    headers: { authorization: `Bearer ${apiKey}` },
    fetch: retryingFetch(send, { retries, wait }),
  });
  client.use(idempotencyKeys, problems);
  // With `problems` in use only successes come back.
  const calls = client as unknown as Omit<Client<Paths>, keyof Lists<Paths>>;
  const { GET, POST, PUT, PATCH, DELETE } = calls;
  return { GET, POST, PUT, PATCH, DELETE, ...listsOf(GET) };
}

/** Lets a POST whose answer was lost be sent again: it has its effect once. */
const idempotencyKeys: Middleware = {
  onRequest({ request }) {
    if (request.method === "POST" && !request.headers.has("idempotency-key"))
      request.headers.set("idempotency-key", crypto.randomUUID());
  },
};

/** Throws what is no success. */
const problems: Middleware = {
  async onResponse({ request, response }) {
    if (!response.ok) throw await errorOf(callOf(request), response);
  },
  onError({ request, error }) {
    if (!request.signal.aborted) return new NoReply(callOf(request), error);
  },
};

function callOf({ method, url }: Request): string {
  const { pathname, search } = new URL(url);
  return `${method} ${pathname}${search}`;
}
