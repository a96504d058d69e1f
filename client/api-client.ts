import type { FetchResponse, MaybeOptionalInit } from "openapi-fetch";
import createFetchClient, { type Middleware } from "openapi-fetch";
import type { HttpMethod, MediaType, PathsWithMethod, RequiredKeysOf } from "openapi-typescript-helpers";
import { errorFromResponse, NoResponse } from "./api-problem.ts";
import type { components, paths as FullPaths } from "./generated/full-api.ts";
import type { paths as PublicPaths } from "./generated/public-api.ts";
import { abortableDelay, createRetryingFetch, type SendRequest } from "./retrying-fetch.ts";

/** A call's outcome: what does not succeed is thrown, so `data` is always there. */
interface ApiCallResult<Data> {
  data: Data;
  /** For its status and headers; the body has been read. */
  response: Response;
}

/** What an operation answers on success, read as `Init` says. */
export type ResponseDataOf<Operation, Init> =
  Operation extends Record<string | number, unknown>
    ? Extract<FetchResponse<Operation, Init, MediaType>, { error?: never }>["data"]
    : never;

/** The last argument of a call: left out when the operation needs nothing. */
export type RequestInitArgument<Init> = RequiredKeysOf<Init> extends never ? [init?: Init] : [init: Init];

/** The calls with one method: each takes a path of the document, and its parameters and body. */
export type ApiCall<Paths extends object, Method extends HttpMethod> = <
  Path extends PathsWithMethod<Paths, Method>,
  Init extends MaybeOptionalInit<Paths[Path], Method & keyof Paths[Path]>,
>(
  path: Path,
  ...init: RequestInitArgument<Init>
) => Promise<ApiCallResult<ResponseDataOf<Paths[Path][Method & keyof Paths[Path]], Init>>>;

/** As much of a list's page as going through it takes. */
interface UntypedPage {
  data: unknown[];
  nextPageToken: string | null;
}

/** A page of the list at a path. */
type PageAtPath<Paths, Path extends keyof Paths> = Extract<
  ResponseDataOf<Paths[Path]["get" & keyof Paths[Path]], object>,
  UntypedPage
>;

/** The paths of a document that answer with pages. */
type ListPath<Paths extends object> = {
  [Path in PathsWithMethod<Paths, "get">]: [PageAtPath<Paths, Path>] extends [never] ? never : Path;
}[PathsWithMethod<Paths, "get">];

type ListInit<Paths extends object, Path extends ListPath<Paths>> = MaybeOptionalInit<
  Paths[Path],
  "get" & keyof Paths[Path]
>;

export interface ListIterators<Paths extends object> {
  /** The pages of a list, from the first to the last, each asked for when it is wanted. 100 items each unless `size` says less. */
  pages<Path extends ListPath<Paths>, Init extends ListInit<Paths, Path>>(
    path: Path,
    ...init: RequestInitArgument<Init>
  ): AsyncGenerator<PageAtPath<Paths, Path>, void>;
  /** The items of a list, one by one, through all its pages. */
  items<Path extends ListPath<Paths>, Init extends ListInit<Paths, Path>>(
    path: Path,
    ...init: RequestInitArgument<Init>
  ): AsyncGenerator<PageAtPath<Paths, Path>["data"][number], void>;
}

type UntypedInit = { params?: { query?: Record<string, unknown> } };
type UntypedGet = (path: unknown, init: UntypedInit) => Promise<{ data: UntypedPage }>;

/**
 * Goes through lists by the token that each page gives for the next one. What comes into the list meanwhile moves
 * nothing: no item is met twice or passed over.
 */
function createListIterators<Paths extends object>(get: ApiCall<Paths, "get">): ListIterators<Paths> {
  const getAny = get as unknown as UntypedGet;

  async function* pages(path: unknown, init: UntypedInit = {}) {
    let token: string | null = null;
    do {
      const query = { size: 100, ...init.params?.query, ...(token !== null && { pageToken: token }) };
      const { data } = await getAny(path, { ...init, params: { ...init.params, query } });
      yield data;
      token = data.nextPageToken;
    } while (token !== null);
  }

  async function* items(path: unknown, init: UntypedInit = {}) {
    for await (const { data } of pages(path, init)) yield* data;
  }

  return { pages, items } as unknown as ListIterators<Paths>;
}

/** What the API takes and gives, by the names of the reference: `Schemas["ReportV2"]`. */
export type ApiSchemas = components["schemas"];

export interface ApiClientOptions {
  /** Where the API answers, such as `http://localhost:4000`. */
  baseUrl: string;
  apiKey: string;
  /** Sends a request; the built-in `fetch` unless given. */
  fetch?: SendRequest;
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
export interface ApiClient<Paths extends object> extends ListIterators<Paths> {
  GET: ApiCall<Paths, "get">;
  POST: ApiCall<Paths, "post">;
  PUT: ApiCall<Paths, "put">;
  PATCH: ApiCall<Paths, "patch">;
  DELETE: ApiCall<Paths, "delete">;
}

/** What partners and POS apps use. */
export type PublicApiClient = ApiClient<PublicPaths>;
/** Everything, with what operators use: needs a key with the scopes of an operator. */
export type AdminApiClient = ApiClient<FullPaths>;

/** A client of the operations that partners and POS apps use. */
export function createApiClient(options: ApiClientOptions): PublicApiClient {
  return createTypedClient<PublicPaths>(options);
}

/** A client of every operation. */
export function createAdminApiClient(options: ApiClientOptions): AdminApiClient {
  return createTypedClient<FullPaths>(options);
}

function createTypedClient<Paths extends object>(options: ApiClientOptions): ApiClient<Paths> {
  const { baseUrl, apiKey, fetch: send = (request) => fetch(request), retries = 5, wait = abortableDelay } = options;
  const client = createFetchClient<Paths>({
    baseUrl,
    headers: { authorization: `Bearer ${apiKey}` },
    fetch: createRetryingFetch(send, { retries, wait }),
  });
  client.use(idempotencyKeyMiddleware, problemMiddleware);
  // With `problems` in use only successes come back.
  const calls = client as unknown as Omit<ApiClient<Paths>, keyof ListIterators<Paths>>;
  const { GET, POST, PUT, PATCH, DELETE } = calls;
  return { GET, POST, PUT, PATCH, DELETE, ...createListIterators(GET) };
}

/** Lets a POST whose answer was lost be sent again: it has its effect once. */
const idempotencyKeyMiddleware: Middleware = {
  onRequest({ request }) {
    if (request.method === "POST" && !request.headers.has("idempotency-key"))
      request.headers.set("idempotency-key", crypto.randomUUID());
  },
};

/** Throws what is no success. */
const problemMiddleware: Middleware = {
  async onResponse({ request, response }) {
    if (!response.ok) throw await errorFromResponse(describeCall(request), response);
  },
  onError({ request, error }) {
    if (!request.signal.aborted) return new NoResponse(describeCall(request), error);
  },
};

function describeCall({ method, url }: Request): string {
  const { pathname, search } = new URL(url);
  return `${method} ${pathname}${search}`;
}
