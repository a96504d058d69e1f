import type { FetchResponse, MaybeOptionalInit } from "openapi-fetch";
import type { HttpMethod, MediaType, PathsWithMethod, RequiredKeysOf } from "openapi-typescript-helpers";

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
