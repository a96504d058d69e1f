import { randomUUID } from "node:crypto";
import { request } from "undici";

/** A server and the headers of requests to it. */
export interface ComparedServer {
  origin: string;
  headers: Record<string, string>;
}

interface ComparedRequest {
  path: string;
  headers?: Record<string, string>;
  /** Whether only the status of the responses is compared. */
  isStatusOnly?: boolean;
}

/**
 * Checks that the servers are comparable. @throws Error unless all servers return the same status for each
 * request and, unless `isStatusOnly` is set, the same body.
 */
export async function requireSameResponses(servers: ComparedServer[], requests: ComparedRequest[]): Promise<void> {
  for (const { path, headers, isStatusOnly = false } of requests) {
    // Responses contain the values of both headers, so all servers must receive the same values.
    const sharedHeaders = { "x-request-id": randomUUID(), host: "bench.example" };
    const responses = await Promise.all(
      servers.map(async (server) => {
        const options = { headers: { ...server.headers, ...sharedHeaders, ...headers } };
        const { statusCode, body } = await request(server.origin + path, options);
        const text = await body.text();
        return { statusCode, text };
      }),
    );
    const [first] = responses;
    for (const { statusCode, text } of responses) {
      const isSame = statusCode === first?.statusCode && (isStatusOnly || text === first.text);
      if (!isSame) {
        const shown = responses.map((response) => `${response.statusCode} ${response.text.slice(0, 300)}`);
        throw new Error(`GET ${path} returns different responses:\n${shown.join("\n")}`);
      }
    }
  }
}
