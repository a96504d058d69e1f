import { hash } from "node:crypto";
import { ApiError } from "@pragma/contracts/errors";

/**
 * The next entry to return of the change feed of a location, or of all locations. Rows get new positions when they change,
 * but the entries of a position never change, so a cursor never expires.
 */
export interface ChangeCursor {
  /** The lowest position of the next row. */
  position: number;
  /** The number of entries of the row with this position that were already returned. */
  offset: number;
}

const version = 1;
const contentLength = 13;
const checksumLength = 6;

/**
 * Returns the opaque text of a cursor. It contains a checksum with the id of the feed, which is the location or the id of
 * the feed of all locations. A cursor that was changed, truncated, or returned for another feed is therefore recognized.
 * It is no secret, because a cursor gives access to nothing.
 */
export function encodeChangeCursor(feedId: string, { position, offset }: ChangeCursor): string {
  const content = Buffer.alloc(contentLength);
  content.writeUInt8(version, 0);
  content.writeBigUInt64BE(BigInt(position), 1);
  content.writeUInt32BE(offset, 9);
  return Buffer.concat([content, computeChecksum(feedId, content)]).toString("base64url");
}

/** Returns the cursor in a text. @throws `ApiError` invalid_cursor if the feed has no such cursor. */
export function decodeChangeCursor(feedId: string, text: string): ChangeCursor {
  const bytes = Buffer.from(text, "base64url");
  const content = bytes.subarray(0, contentLength);
  const isValid =
    bytes.length === contentLength + checksumLength &&
    bytes.toString("base64url") === text &&
    content.readUInt8(0) === version &&
    computeChecksum(feedId, content).equals(bytes.subarray(contentLength));
  if (!isValid) throw createInvalidCursorError();
  return { position: Number(content.readBigUInt64BE(1)), offset: content.readUInt32BE(9) };
}

export const createInvalidCursorError = (): ApiError =>
  new ApiError("invalid_cursor", {
    detail:
      "Send a cursor that this API returned for the same location, or for all locations, unchanged. To begin again, omit `after` and compare your copy with all entries.",
  });

const computeChecksum = (feedId: string, content: Uint8Array): Buffer =>
  hash("sha256", Buffer.concat([Buffer.from(`change cursor ${feedId.toLowerCase()} `), content]), "buffer").subarray(
    0,
    checksumLength,
  );
