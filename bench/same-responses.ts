import { randomUUID } from "node:crypto";
import { request } from "undici";

/** A server that is asked, and how. */
export interface ComparedServer {
  origin: string;
  headers: Record<string, string>;
}

interface ComparedRequest {
  path: string;
  headers?: Record<string, string>;
  /** Whether the replies are compared by their status alone. */
  isStatusOnly?: boolean;
}

/** Checks that sides answer questions with the same status and the same bytes: else they are not worth comparing. */
export async function expectSameResponses(sides: ComparedServer[], questions: ComparedRequest[]): Promise<void> {
  for (const { path, headers, isStatusOnly = false } of questions) {
    // The same for all, since both come back in replies.
    const same = { "x-request-id": randomUUID(), host: "bench.example" };
    const replies = await Promise.all(
      sides.map(async (side) => {
        const asked = { headers: { ...side.headers, ...same, ...headers } };
        const { statusCode, body } = await request(side.origin + path, asked);
        const text = await body.text();
        return { statusCode, text };
      }),
    );
    const [first] = replies;
    for (const { statusCode, text } of replies) {
      const isSame = statusCode === first?.statusCode && (isStatusOnly || text === first.text);
      if (!isSame) {
        const shown = replies.map((reply) => `${reply.statusCode} ${reply.text.slice(0, 300)}`);
        throw new Error(`GET ${path} is answered differently:\n${shown.join("\n")}`);
      }
    }
  }
}
