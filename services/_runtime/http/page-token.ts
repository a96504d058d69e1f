import { hash } from "node:crypto";
import { ApiError } from "@pragma/contracts/errors";
import { z } from "zod";

/** The schemas of instants and dates in page tokens. They reject the year 0000, which PostgreSQL cannot represent. */
export const pageTokenInstantSchema = z.iso.datetime().regex(/^(?!0000).{20,35}$/);
export const pageTokenDateSchema = z.iso.date().regex(/^(?!0000)/);

/** Short hashes of the path, as `list`, and of the value of each filter that is set. */
export type ListFingerprint = Record<string, string>;

export const listFingerprintSchema = z.record(z.string().max(64), z.string().max(64));

/** Returns the fingerprint of a list. Equal values of a filter have the same hash, also ids with other letter case. */
export function computeListFingerprint(path: string, filters: Record<string, unknown>): ListFingerprint {
  const fingerprint: ListFingerprint = { list: hashFilter(path.toLowerCase().replace(/\/$/, "")) };
  for (const [name, value] of Object.entries(filters)) {
    if (value === undefined || value === null) continue;
    const text = JSON.stringify(value);
    fingerprint[name] = hashFilter(/^"[\da-f-]{36}"$/i.test(text) ? text.toLowerCase() : text);
  }
  return fingerprint;
}

/** Short, because a token is part of a URL. It only has to differ for the values that one client sends. */
const hashFilter = (text: string) => hash("sha256", text, "base64url").slice(0, 6);

/** @throws `ApiError` invalid_page_token if a token was created for another list or other filters, which it names. */
export function requireSameList(ofToken: ListFingerprint, ofRequest: ListFingerprint): void {
  if (ofToken.list !== ofRequest.list) {
    throw new ApiError("invalid_page_token", {
      detail:
        "This page token is from another list. Send it to the path that returned it, or request the first page of this list without a token.",
    });
  }
  const names = [...new Set([...Object.keys(ofToken), ...Object.keys(ofRequest)])];
  const changed = names.filter((name) => ofToken[name] !== ofRequest[name]);
  if (changed.length === 0) return;
  throw new ApiError("invalid_page_token", {
    detail: `This page token was created with other filters. Send the same ${changed.join(", ")} as in the request that returned the token, or request the first page without a token.`,
    issues: changed.map((path) => ({
      in: "query",
      path,
      code: "mismatch",
      message: describeChangedFilter(path, ofToken[path] !== undefined, ofRequest[path] !== undefined),
    })),
  });
}

function describeChangedFilter(name: string, wasSet: boolean, isSet: boolean): string {
  if (!wasSet) return `Must be omitted, because the page token was created without ${name}`;
  return isSet
    ? `Must be the ${name} with which the page token was created`
    : `Must be sent with the value with which the page token was created`;
}

/** Returns an opaque token for the page that begins after a position in a list. */
export function encodePageToken(position: Record<string, string | number | ListFingerprint>): string {
  return Buffer.from(JSON.stringify(position)).toString("base64url");
}

/** Returns the position in a token. @throws `ApiError` invalid_page_token if the token does not match the schema. */
export function decodePageToken<Schema extends z.ZodType>(token: string, positionSchema: Schema): z.output<Schema> {
  try {
    return positionSchema.parse(JSON.parse(Buffer.from(token, "base64url").toString("utf8")));
  } catch (cause) {
    throw new ApiError("invalid_page_token", {
      detail: "Send the nextPageToken of the previous page unchanged, or request the first page without a token.",
      cause,
    });
  }
}
