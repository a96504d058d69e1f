import type { Database } from "@pragma/runtime/postgres";
import { LRUCache } from "lru-cache";
import { findBodies } from "../queries/endpoints.ts";
import { batched } from "./batched.ts";

/** What is sent, kept at hand: one message goes to several endpoints at about the same time. */
export interface MessageBodies {
  /** Rejects when there is no such message. */
  find(messageId: string): Promise<Uint8Array>;
  /** Notes a message that is about to be sent. */
  note(messageId: string, body: string): void;
}

const mostBytes = 64 * 1024 * 1024;

export function openMessageBodies(db: Database): MessageBodies {
  const known = new LRUCache<string, Buffer>({
    maxSize: mostBytes,
    sizeCalculation: (body) => body.byteLength + 200,
  });
  const load = batched(
    async (messageIds: string[]) => {
      const bodies = await findBodies(db.sql, [...new Set(messageIds)]);
      return messageIds.map((id) => bodies.get(id));
    },
    { size: 20, atATime: 2 },
  );
  function note(messageId: string, body: string): Buffer {
    const bytes = Buffer.from(body, "utf8");
    known.set(messageId, bytes);
    return bytes;
  }
  return {
    async find(messageId) {
      const bytes = known.get(messageId);
      if (bytes) return bytes;
      const body = await load(messageId);
      if (body === undefined) throw new Error(`There is no message ${messageId}.`);
      return note(messageId, body);
    },
    note,
  };
}
