import { maxSandboxMessages, type SandboxMessage } from "@pragma/contracts/sandbox";
import type { Database, SqlClient } from "@pragma/runtime/database/postgres";
import type { SandboxWithLocation } from "./sandboxes.ts";

interface NewMessage {
  sandbox: Pick<SandboxWithLocation, "id" | "locationId">;
  headers: Record<string, string>;
  body: string;
  verificationError: string | null;
}

type MessageRow = Omit<SandboxMessage, "receivedAt" | "isVerified"> & { createdAt: Date };

/**
 * Stores a message, and deletes all but the newest ones of the inbox. Returns the status of the response, which is 500 for
 * one more message if deliveries should fail.
 */
export async function insertMessage(
  db: Database,
  { sandbox: { id, locationId }, headers, body, verificationError }: NewMessage,
): Promise<number> {
  return db.transaction(async (tx) => {
    const failing = await tx`
      update sandboxes set failing_deliveries = failing_deliveries - 1 where id = ${id} and failing_deliveries > 0`;
    const responseStatus = failing.count > 0 ? 500 : 204;
    const storable = body.replaceAll("\0", "");
    await tx`
      insert into messages ${tx({ locationId, headers: tx.json(headers), body: storable, verificationError, responseStatus })}`;
    await tx`
      delete from messages where location_id = ${locationId} and (created_at, id) in (
        select created_at, id from messages where location_id = ${locationId}
        order by created_at desc, id desc offset ${maxSandboxMessages}
      )`;
    return responseStatus;
  });
}

export const buildMessageListSql = (sql: SqlClient, locationId: string) => ({
  columns: sql`id, created_at, headers, body, verification_error, response_status`,
  table: sql`messages`,
  where: sql`location_id = ${locationId}`,
  toItem: ({ createdAt, ...message }: MessageRow): Omit<SandboxMessage, "receivedAt"> & { receivedAt: Date } => ({
    ...message,
    receivedAt: createdAt,
    isVerified: message.verificationError === null,
  }),
});
