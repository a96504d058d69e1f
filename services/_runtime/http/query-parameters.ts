import { appendReceivedValue, type RequestIssue } from "@pragma/contracts/errors";
import { isListParameter } from "@pragma/contracts/list-parameter";
import type { z } from "zod";

/** The query of a request: the first value of each parameter, and the names that the operation does not know. */
export interface RequestQuery {
  values: Record<string, string>;
  repeated: ReadonlyMap<string, number>;
  unknownNames: readonly string[];
}

/** How the client wants unknown query parameters to be handled: as errors, or ignored. */
export type HandlingPreference = "strict" | "lenient";

const noNames: ReadonlySet<string> = new Set();
const emptyQuery: RequestQuery = { values: {}, repeated: new Map(), unknownNames: [] };

/** Returns the query of a URL. Ignores parameters without a name. `knownNames` are the parameters of the operation. */
export function parseQuery(url: string, knownNames = noNames): RequestQuery {
  const start = url.indexOf("?");
  if (start === -1) return emptyQuery;
  const end = url.indexOf("#", start);
  const values: Record<string, string> = {};
  const repeated = new Map<string, number>();
  const unknownNames = new Set<string>();
  for (const [name, value] of new URLSearchParams(url.slice(start + 1, end === -1 ? undefined : end))) {
    if (!knownNames.has(name)) {
      if (name !== "") unknownNames.add(name);
    } else if (values[name] === undefined) values[name] = value;
    else repeated.set(name, (repeated.get(name) ?? 1) + 1);
  }
  return { values, repeated, unknownNames: [...unknownNames] };
}

/** Clients disagree about the meaning of repeated parameters, so a guess would silently drop values. */
export function listRepeatedParameterIssues(
  repeated: RequestQuery["repeated"],
  parameters: Readonly<Record<string, z.core.$ZodType>>,
): RequestIssue[] {
  return [...repeated].map(([name, count]) => ({
    in: "query",
    path: name,
    code: "repeated_parameter",
    message: appendReceivedValue(
      isListParameter(parameters[name])
        ? `Must not be repeated. Send it once, with its values separated by commas: ${name}=first,second`
        : "Must not be repeated. Send it once, with one value",
      `${count} times`,
    ),
  }));
}

/** The parsing of longer headers could take long, and no client sends them. */
const maxPreferLength = 512;

/** Returns the first preference `handling` of a Prefer header (RFC 7240), or undefined if it has none. */
export function parseHandlingPreference(header: string | undefined): HandlingPreference | undefined {
  if (header === undefined || header.length > maxPreferLength) return undefined;
  // A quoted value has the same meaning as a token. Other quoted values could contain separators.
  const unquoted = header.replaceAll(/"((?:[^"\\]|\\.)*)"/g, (_, text: string) =>
    /^\w*$/.test(text) ? text : "quoted",
  );
  for (const preference of unquoted.split(",")) {
    const [name, value] = (preference.split(";")[0] ?? "").split("=").map((part) => part.trim().toLowerCase());
    if (name === "handling") return value === "strict" || value === "lenient" ? value : undefined;
  }
  return undefined;
}

export function listUnknownParameterIssues(unknownNames: readonly string[], knownNames = noNames): RequestIssue[] {
  const supported = knownNames.size === 0 ? "none" : [...knownNames].join(", ");
  return unknownNames.map((name) => ({
    in: "query",
    path: truncateName(name),
    code: "unknown_parameter",
    message: `Is not a parameter of this operation. Remove it, or correct its name. Supported parameters: ${supported}`,
  }));
}

const maxNameLength = 64;
const maxIgnoredNamesLength = 1_000;

/** Returns the headers `preference-applied` and `x-ignored-parameters`, which lists names in percent-encoding. */
export function buildQueryHandlingHeaders(
  unknownNames: readonly string[],
  preference: HandlingPreference | undefined,
): Record<string, string> | undefined {
  const isIgnoring = unknownNames.length > 0 && preference !== "strict";
  if (!isIgnoring && preference === undefined) return undefined;
  return {
    ...(isIgnoring && { "x-ignored-parameters": formatIgnoredNames(unknownNames) }),
    ...(preference && { "preference-applied": `handling=${preference}` }),
  };
}

function formatIgnoredNames(names: readonly string[]): string {
  let text = "";
  for (const name of names) {
    const next = `${text && ", "}${encodeURIComponent(truncateName(name))}`;
    if (text.length + next.length > maxIgnoredNamesLength) return `${text}, ...`;
    text += next;
  }
  return text;
}

/** Returns the first characters of a name, without half a surrogate pair, which cannot be encoded. */
function truncateName(name: string): string {
  return name.slice(0, maxNameLength).replace(/[\uD800-\uDBFF]$/, "");
}
