import { ApiError } from "@pragma/contracts/errors";

/** What a request asks for: the path as it is matched and sent on, and the query with its `?`. */
export interface Target {
  path: string;
  search: string;
}

/** The path of `OPTIONS *`, which asks about the server as a whole. */
export const everything = "/*";

/** A path that means what it says: no dots, no escapes, no backslashes. */
const plainPath = /^\/[\w/-]*$/;

/**
 * Reads the target of a request line. Dot segments are resolved here, so that the path by which a request is routed is
 * the one that its service sees.
 *
 * @throws `ApiError` invalid_request when it is no address.
 */
export function readTarget(url: string): Target {
  const query = url.indexOf("?");
  const path = query === -1 ? url : url.slice(0, query);
  if (path === "*") return { path: everything, search: "" };
  if (plainPath.test(path)) return { path, search: query === -1 ? "" : url.slice(query) };
  try {
    const { pathname, search } = new URL(path.startsWith("/") ? `http://gateway${url}` : url);
    return { path: pathname, search };
  } catch (cause) {
    throw new ApiError("invalid_request", { detail: "The address of the request cannot be read.", cause });
  }
}
