import operations from "virtual:operations";

interface FailedRequest {
  method: string;
  /** The path, in which `{hidden}` replaces what the API does not store. */
  path: string;
  issues?: readonly { in: string; path: string }[];
}

/**
 * Returns the URL of the form with which the documentation sends a request to this operation, with the known parameters of
 * the path; undefined if no operation has this method and path. The invalid parameters of the query are empty in the URL,
 * so that the form shows their fields among the first. `docsUrl` is that of the guides, beside which the reference is.
 */
export function findTryItUrl({ method, path, issues = [] }: FailedRequest, docsUrl: string): string | undefined {
  const parts = splitPath(path);
  const [best] = operations
    .filter((operation) => operation.method === method)
    .flatMap((operation) => {
      const parameters = matchPath(splitPath(operation.path), parts);
      return parameters ? [{ page: operation.page, parameters }] : [];
    })
    // `/deliveries/replay` is that operation, and not the delivery with the ID "replay".
    .sort((one, other) => one.parameters.length - other.parameters.length);
  if (!best) return undefined;
  const known = best.parameters.filter(([, value]) => !/^\{.*\}$/.test(value));
  // The path of an issue can go on to an item of a list, such as `measures.0`.
  const invalid = issues.flatMap((issue) => (issue.in === "query" ? (issue.path.match(/^\w+/) ?? []) : []));
  const query = new URLSearchParams([["try", "true"], ...known, ...[...new Set(invalid)].map((name) => [name, ""])]);
  return `${docsUrl.replace(/\/docs$/, "")}/${best.page}?${query}`;
}

const splitPath = (path: string): string[] => path.replace(/\/$/, "").split("/");

/** Returns the parameters of a path with their values; undefined if it is another path. */
function matchPath(template: readonly string[], parts: readonly string[]): [name: string, value: string][] | undefined {
  if (template.length !== parts.length) return undefined;
  const parameters: [string, string][] = [];
  for (const [index, expected] of template.entries()) {
    const part = parts[index] ?? "";
    if (expected.startsWith("{")) parameters.push([expected.slice(1, -1), decode(part)]);
    else if (expected !== part) return undefined;
  }
  return parameters;
}

/** Returns the decoded part of a path, or the part itself if it is not encoded correctly, which may be why it failed. */
function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
