import { ApiError } from "@pragma/contracts/errors";
import { z } from "zod";

/** The schemas of instants and dates in page tokens. They reject the year 0000, which PostgreSQL cannot represent. */
export const pageTokenInstantSchema = z.iso.datetime().regex(/^(?!0000).{20,35}$/);
export const pageTokenDateSchema = z.iso.date().regex(/^(?!0000)/);

/** Returns an opaque token for the page that begins after a position in a list. */
export function encodePageToken(position: Record<string, string | number>): string {
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
