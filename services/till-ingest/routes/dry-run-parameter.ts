import type { RequestIssueCode } from "@pragma/contracts/errors";
import { createInvalidRequestError } from "@pragma/runtime/http/request-issues";

/** Returns the names of all query parameters that mean `dryRun`, however they are misspelled. */
function findDryRunParameterNames({ searchParams }: URL): string[] {
  const simplify = (name: string) => name.toLowerCase().replaceAll(/[^a-z0-9]/g, "");
  return [...searchParams.keys()].filter((name) => simplify(name).includes("dryrun"));
}

function createDryRunError(path: string, code: RequestIssueCode, message: string) {
  return createInvalidRequestError([{ in: "query", path, code, message }]);
}

/**
 * Rejects a push whose parameter `dryRun` is misspelled or repeated. Unknown parameters are otherwise ignored, but this
 * till would be stored.
 *
 * @throws `ApiError` invalid_request.
 */
export function requireClearDryRun(url: URL): void {
  const names = findDryRunParameterNames(url);
  const message = "Send `dryRun` once, and with this name. Nothing was stored";
  const wrongName = names.find((name) => name !== "dryRun");
  if (wrongName !== undefined) throw createDryRunError(wrongName, "unknown_parameter", message);
  if (names.length > 1) throw createDryRunError("dryRun", "duplicate", message);
}

/**
 * Rejects a request with the parameter `dryRun`, or a misspelling, to an operation without dry runs. The parameter would
 * otherwise be ignored, and the tills would be changed.
 *
 * @throws `ApiError` invalid_request.
 */
export function rejectDryRun(url: URL): void {
  const [name] = findDryRunParameterNames(url);
  if (name === undefined) return;
  const message = "Only a push (`POST /v2/tills` or `POST /v1/tills`) can be a dry run. Nothing was changed";
  throw createDryRunError(name, "unknown_parameter", message);
}
