import type { Database } from "@pragma/runtime/postgres";
import { LRUCache } from "lru-cache";
import { findMessages, type MessageRow } from "../queries/endpoints.ts";
import { batched } from "./batched.ts";

/** A message as it is sent. */
export interface Message {
  body: Uint8Array;
  /** Of what it tells of (W3C). */
  traceparent: string | null;
}

/** What is sent, kept at hand: one message goes to several endpoints at about the same time. */
export interface MessageBodies {
  /** Rejects when there is no such message. */
  find(messageId: string): Promise<Message>;
  /** Notes a message that is about to be sent. */
  note(message: MessageRow): void;
}

const mostBytes = 64 * 1024 * 1024;

export function openMessageBodies(db: Database): MessageBodies {
  const known = new LRUCache<string, Message>({
    maxSize: mostBytes,
    sizeCalculation: ({ body }) => body.byteLength + 300,
  });
  const load = batched(
    async (messageIds: string[]) => {
      const messages = await findMessages(db.sql, [...new Set(messageIds)]);
      return messageIds.map((id) => messages.get(id));
    },
    { size: 20, atATime: 2 },
  );
  function note({ id, body, traceparent }: MessageRow): Message {
    const message = { body: Buffer.from(body, "utf8"), traceparent };
    known.set(id, message);
    return message;
  }
  return {
    async find(messageId) {
      const message = known.get(messageId);
      if (message) return message;
      const row = await load(messageId);
      if (!row) throw new Error(`There is no message ${messageId}.`);
      return note(row);
    },
    note,
  };
}
