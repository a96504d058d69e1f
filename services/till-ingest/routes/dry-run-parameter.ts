import { createInvalidRequestError } from "@pragma/runtime/http/request-issues";

/** Returns the names of all query parameters that mean `dryRun`, however they are misspelled. */
function findDryRunParameterNames({ searchParams }: URL): string[] {
  const simplify = (name: string) => name.toLowerCase().replaceAll(/[^a-z0-9]/g, "");
  return [...searchParams.keys()].filter((name) => simplify(name).includes("dryrun"));
}

/**
 * Rejects a push with a misspelled or repeated `dryRun`, which would store the till. @throws `ApiError`
 * invalid_request.
 */
export function requireClearDryRun(url: URL): void {
  const names = findDryRunParameterNames(url);
  const wrongName = names.find((name) => name !== "dryRun");
  if (wrongName === undefined && names.length <= 1) return;
  const code = wrongName === undefined ? "duplicate" : "unknown_parameter";
  const message = "Send `dryRun` once, and with this name. Nothing was stored";
  throw createInvalidRequestError([{ in: "query", path: wrongName ?? "dryRun", code, message }]);
}

/** Rejects `dryRun` in operations without dry runs, which would change tills. @throws `ApiError` invalid_request. */
export function rejectDryRun(url: URL): void {
  const [path] = findDryRunParameterNames(url);
  if (path === undefined) return;
  const message = "Only a push (`POST /v2/tills` or `POST /v1/tills`) can be a dry run. Nothing was changed";
  throw createInvalidRequestError([{ in: "query", path, code: "unknown_parameter", message }]);
}
