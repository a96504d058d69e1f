import { isUtf8 } from "node:buffer";
import { maxSandboxMessages, type SandboxMessage } from "@pragma/contracts/sandbox";
import type { Database, SqlClient } from "@pragma/runtime/database/postgres";
import type { SandboxWithLocation } from "./sandboxes.ts";

interface NewMessage {
  sandbox: Pick<SandboxWithLocation, "id" | "locationId">;
  headers: Record<string, string>;
  body: Uint8Array;
  verificationError: string | null;
}

type MessageRow = Omit<SandboxMessage, "receivedAt" | "isVerified" | "bodyBase64"> & {
  createdAt: Date;
  bodyBytes: Uint8Array | null;
};

/** With a byte order mark, which is a part of the body. Bytes that are not valid UTF-8 become U+FFFD. */
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/**
 * Stores a message, and deletes all but the newest ones of the inbox. Returns the status of the response, which is 500 for
 * one more message if deliveries should fail.
 */
export async function insertMessage(
  db: Database,
  { sandbox: { id, locationId }, headers, body, verificationError }: NewMessage,
): Promise<number> {
  return db.transaction(async (tx) => {
    // Locks the row also if nothing should fail, because concurrent deletions of the oldest messages could deadlock.
    const [sandbox] = await tx<{ failingDeliveries: number }[]>`
      select failing_deliveries from sandboxes where id = ${id} for no key update`;
    const isFailing = (sandbox?.failingDeliveries ?? 0) > 0;
    if (isFailing) await tx`update sandboxes set failing_deliveries = failing_deliveries - 1 where id = ${id}`;
    const responseStatus = isFailing ? 500 : 204;
    const text = decoder.decode(body);
    // PostgreSQL cannot store NUL in a text.
    const bodyBytes = text.includes("\0") || !isUtf8(body) ? body : null;
    const content = { headers: tx.json(headers), body: bodyBytes ? "" : text, bodyBytes };
    await tx`insert into messages ${tx({ locationId, ...content, verificationError, responseStatus })}`;
    await tx`
      delete from messages where location_id = ${locationId} and (created_at, id) in (
        select created_at, id from messages where location_id = ${locationId}
        order by created_at desc, id desc offset ${maxSandboxMessages}
      )`;
    return responseStatus;
  });
}

export const buildMessageListSql = (sql: SqlClient, locationId: string) => ({
  columns: sql`id, created_at, headers, body, body_bytes, verification_error, response_status`,
  table: sql`messages`,
  where: sql`location_id = ${locationId}`,
  toItem: ({
    createdAt,
    bodyBytes,
    ...message
  }: MessageRow): Omit<SandboxMessage, "receivedAt"> & { receivedAt: Date } => ({
    ...message,
    ...(bodyBytes && { body: decoder.decode(bodyBytes) }),
    bodyBase64: bodyBytes && !isUtf8(bodyBytes) ? Buffer.from(bodyBytes).toString("base64") : null,
    receivedAt: createdAt,
    isVerified: message.verificationError === null,
  }),
});
