import type { FetchResponse, MaybeOptionalInit } from "openapi-fetch";
import createFetchClient, { type Middleware } from "openapi-fetch";
import type { HttpMethod, MediaType, PathsWithMethod, RequiredKeysOf } from "openapi-typescript-helpers";
import { errorOf, NoReply } from "./api-problem.ts";
import type { components, paths as FullPaths } from "./generated/full-api.ts";
import type { paths as PublicPaths } from "./generated/public-api.ts";
import { retryingFetch, type Send, waitFor } from "./retrying-fetch.ts";

/** A call's outcome: what does not succeed is thrown, so `data` is always there. */
interface Success<Data> {
  data: Data;
  /** For its status and headers; the body has been read. */
  response: Response;
}

/** What an operation answers on success, read as `Init` says. */
export type DataOf<Operation, Init> =
  Operation extends Record<string | number, unknown>
    ? Extract<FetchResponse<Operation, Init, MediaType>, { error?: never }>["data"]
    : never;

/** The last argument of a call: left out when the operation needs nothing. */
export type InitArgument<Init> = RequiredKeysOf<Init> extends never ? [init?: Init] : [init: Init];

/** The calls with one method: each takes a path of the document, and its parameters and body. */
export type Call<Paths extends object, Method extends HttpMethod> = <
  Path extends PathsWithMethod<Paths, Method>,
  Init extends MaybeOptionalInit<Paths[Path], Method & keyof Paths[Path]>,
>(
  path: Path,
  ...init: InitArgument<Init>
) => Promise<Success<DataOf<Paths[Path][Method & keyof Paths[Path]], Init>>>;

/** As much of a list's page as going through it takes. */
interface AnyPage {
  data: unknown[];
  nextPageToken: string | null;
}

/** A page of the list at a path. */
type PageAt<Paths, Path extends keyof Paths> = Extract<DataOf<Paths[Path]["get" & keyof Paths[Path]], object>, AnyPage>;

/** The paths of a document that answer with pages. */
type ListPath<Paths extends object> = {
  [Path in PathsWithMethod<Paths, "get">]: [PageAt<Paths, Path>] extends [never] ? never : Path;
}[PathsWithMethod<Paths, "get">];

type ListInit<Paths extends object, Path extends ListPath<Paths>> = MaybeOptionalInit<
  Paths[Path],
  "get" & keyof Paths[Path]
>;

export interface Lists<Paths extends object> {
  /** The pages of a list, from the first to the last, each asked for when it is wanted. 100 items each unless `size` says less. */
  pages<Path extends ListPath<Paths>, Init extends ListInit<Paths, Path>>(
    path: Path,
    ...init: InitArgument<Init>
  ): AsyncGenerator<PageAt<Paths, Path>, void>;
  /** The items of a list, one by one, through all its pages. */
  items<Path extends ListPath<Paths>, Init extends ListInit<Paths, Path>>(
    path: Path,
    ...init: InitArgument<Init>
  ): AsyncGenerator<PageAt<Paths, Path>["data"][number], void>;
}

type AnyInit = { params?: { query?: Record<string, unknown> } };
type AnyGet = (path: unknown, init: AnyInit) => Promise<{ data: AnyPage }>;

/**
 * Goes through lists by the token that each page gives for the next one. What comes into the list meanwhile moves
 * nothing: no item is met twice or passed over.
 */
function listsOf<Paths extends object>(get: Call<Paths, "get">): Lists<Paths> {
  const getAny = get as unknown as AnyGet;

  async function* pages(path: unknown, init: AnyInit = {}) {
    let token: string | null = null;
    do {
      const query = { size: 100, ...init.params?.query, ...(token !== null && { pageToken: token }) };
      const { data } = await getAny(path, { ...init, params: { ...init.params, query } });
      yield data;
      token = data.nextPageToken;
    } while (token !== null);
  }

  async function* items(path: unknown, init: AnyInit = {}) {
    for await (const { data } of pages(path, init)) yield* data;
  }

  return { pages, items } as unknown as Lists<Paths>;
}

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
