import type { MaybeOptionalInit, ParseAs, ParseAsResponse } from "openapi-fetch";
import createFetchClient, { type Middleware } from "openapi-fetch";
import type {
  HttpMethod,
  OkStatus,
  PathsWithMethod,
  RequiredKeysOf,
  ResponseObjectMap,
} from "openapi-typescript-helpers";
import { createErrorFromResponse, NoResponse } from "./api-problem.ts";
import type { components, paths as FullPaths } from "./generated/full-api.ts";
import type { paths as PublicPaths } from "./generated/public-api.ts";
import { abortableDelay, createRetryingFetch, type FetchFunction } from "./retrying-fetch.ts";

/** The result of a successful call. `data` is always present, because a failed call throws an error. */
interface ApiCallResult<Data> {
  data: Data;
  /** The HTTP response, for its status and headers. Its body has already been read into `data`. */
  response: Response;
}

/** The body of one response: undefined if it has none, and never if it has another content type than JSON. */
type JsonBodyOf<ApiResponse> = ApiResponse extends { content: { "application/json": infer Body } }
  ? Body
  : ApiResponse extends { content: Record<string, unknown> }
    ? never
    : undefined;

/** The JSON of an operation's successful responses; never if the operation has only other content types. */
type JsonOf<Operation, Responses = ResponseObjectMap<Operation>> = {
  [Status in keyof Responses & OkStatus]: JsonBodyOf<Responses[Status]>;
}[keyof Responses & OkStatus];

/**
 * The type of an operation's successful response body. It is JSON, also if the caller could request another content type
 * with `Accept`, unless `Init` specifies with `parseAs` how the body is parsed.
 */
export type ResponseDataOf<Operation, Init> = ParseAsResponse<JsonOf<Operation>, Init>;

/**
 * The input that an operation requires if its response can be text or a file: how the body is parsed. Without it, the client
 * would parse a file as JSON.
 */
export type ParseAsArgument<Operation> = [JsonOf<Operation>] extends [never]
  ? { parseAs: Exclude<ParseAs, "json"> }
  : Operation extends { responses: { 200: { content: { "application/octet-stream": unknown } } } }
    ? { parseAs: ParseAs }
    : unknown;

/** The last argument of a call, as a tuple. The argument is optional if the operation requires no input. */
export type ApiClientMethodInitArgument<Init> = RequiredKeysOf<Init> extends never ? [init?: Init] : [init: Init];

/** A function that calls the operation with one HTTP method at the given path of the OpenAPI document. */
export type ApiClientMethod<Paths extends object, Method extends HttpMethod> = <
  Path extends PathsWithMethod<Paths, Method>,
  Init extends MaybeOptionalInit<Paths[Path], Method & keyof Paths[Path]> &
    ParseAsArgument<Paths[Path][Method & keyof Paths[Path]]>,
>(
  path: Path,
  ...init: ApiClientMethodInitArgument<Init>
) => Promise<ApiCallResult<ResponseDataOf<Paths[Path][Method & keyof Paths[Path]], Init>>>;

/** A page of any list, limited to the fields with which the client iterates over the list. */
interface UntypedPage {
  data: unknown[];
  nextPageToken: string | null;
}

/** The type of a page of the list at a path; `never` if the path is not a paginated list. */
type PageAtPath<Paths, Path extends keyof Paths> = Extract<
  ResponseDataOf<Paths[Path]["get" & keyof Paths[Path]], object>,
  UntypedPage
>;

/** The paths of paginated lists. */
type ListPath<Paths extends object> = {
  [Path in PathsWithMethod<Paths, "get">]: [PageAtPath<Paths, Path>] extends [never] ? never : Path;
}[PathsWithMethod<Paths, "get">];

type ListInit<Paths extends object, Path extends ListPath<Paths>> = MaybeOptionalInit<
  Paths[Path],
  "get" & keyof Paths[Path]
>;

export interface ListIterators<Paths extends object> {
  /** Iterates over the pages of a list. Requests a page only when the loop needs it. Default page size: 100 items. */
  pages<Path extends ListPath<Paths>, Init extends ListInit<Paths, Path>>(
    path: Path,
    ...init: ApiClientMethodInitArgument<Init>
  ): AsyncGenerator<PageAtPath<Paths, Path>, void>;
  /** Iterates over the items of all pages of a list. */
  items<Path extends ListPath<Paths>, Init extends ListInit<Paths, Path>>(
    path: Path,
    ...init: ApiClientMethodInitArgument<Init>
  ): AsyncGenerator<PageAtPath<Paths, Path>["data"][number], void>;
}

type UntypedInit = { params?: { query?: Record<string, unknown> } };
type UntypedGet = (path: unknown, init: UntypedInit) => Promise<{ data: UntypedPage }>;

/**
 * Returns functions that iterate over lists with page tokens. Page indexes are not used, because items added during the
 * iteration would move other items to the next page, so that the iteration would repeat these items.
 */
function createListIterators<Paths extends object>(get: ApiClientMethod<Paths, "get">): ListIterators<Paths> {
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

/** The types of the API's schemas, by schema name in the API reference. Example: `ApiSchemaTypes["ReportV2"]`. */
export type ApiSchemaTypes = components["schemas"];

export interface ApiClientOptions {
  /** The URL of the API without a path, such as `http://localhost:4000`. */
  baseUrl: string;
  apiKey: string;
  /** The function with which the client sends a request. Default: the built-in `fetch`. */
  fetch?: FetchFunction;
  /**
   * Maximum number of retries of a call. 0 disables retries. Default: 5. The delays of five retries take about 8 to
   * 16 seconds in total, or longer if the API requests longer delays.
   */
  retries?: number;
  /** The function that waits between two attempts. Tests replace it, so that they do not wait. */
  wait?: (milliseconds: number) => Promise<unknown>;
}

/**
 * A client of the API that uses one API key. A call throws `ApiProblem` when the API responds with an error,
 * `UnexpectedResponseError` when the response does not come from the API, `NoResponse` when no response arrives,
 * `NotModifiedError` when the ETag in its `If-None-Match` is current, and the signal's reason when its `signal` is
 * aborted.
 */
export interface ApiClient<Paths extends object> extends ListIterators<Paths> {
  GET: ApiClientMethod<Paths, "get">;
  POST: ApiClientMethod<Paths, "post">;
  PUT: ApiClientMethod<Paths, "put">;
  PATCH: ApiClientMethod<Paths, "patch">;
  DELETE: ApiClientMethod<Paths, "delete">;
}

/** A client of the operations for partners and point-of-sale apps. */
export type PublicApiClient = ApiClient<PublicPaths>;
/** A client of all operations. Operations for operators require an API key with the scope `admin`. */
export type AdminApiClient = ApiClient<FullPaths>;

/** Returns a client of the operations for partners and point-of-sale apps. */
export const createApiClient: (options: ApiClientOptions) => PublicApiClient = createTypedClient;

/** Returns a client of all operations, including the operations for operators. */
export const createAdminApiClient: (options: ApiClientOptions) => AdminApiClient = createTypedClient;

function createTypedClient<Paths extends object>(options: ApiClientOptions): ApiClient<Paths> {
  const { baseUrl, apiKey, fetch: send = (request) => fetch(request), retries = 5, wait = abortableDelay } = options;
  const client = createFetchClient<Paths>({
    baseUrl,
    headers: { authorization: `Bearer ${apiKey}` },
    fetch: createRetryingFetch(send, { retries, wait }),
  });
  client.use(idempotencyKeyMiddleware, problemMiddleware);
  // The cast is safe, because `problemMiddleware` throws for each error response, so that calls return only successes.
  const calls = client as unknown as Omit<ApiClient<Paths>, keyof ListIterators<Paths>>;
  const { GET, POST, PUT, PATCH, DELETE } = calls;
  return { GET, POST, PUT, PATCH, DELETE, ...createListIterators(GET) };
}

/** Adds an Idempotency-Key to POST requests without one, so that a retry after a lost response has no second effect. */
const idempotencyKeyMiddleware: Middleware = {
  onRequest({ request }) {
    if (request.method === "POST" && !request.headers.has("idempotency-key"))
      request.headers.set("idempotency-key", crypto.randomUUID());
  },
};

/** Throws an error if the response is not successful or if no response arrives. */
const problemMiddleware: Middleware = {
  async onResponse({ request, response }) {
    if (!response.ok) throw await createErrorFromResponse(describeCall(request), response);
  },
  onError({ request, error }) {
    if (!request.signal.aborted) return new NoResponse(describeCall(request), error);
  },
};

function describeCall({ method, url }: Request): string {
  const { pathname, search } = new URL(url);
  return `${method} ${pathname}${search}`;
}
