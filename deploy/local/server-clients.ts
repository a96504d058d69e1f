import { connect } from "@nats-io/transport-node";
import { Redis } from "ioredis";
import postgres from "postgres";
import type { ServerKind } from "./find-servers.ts";

const timeoutMs = 5_000;

/** By kind: whether the server at a URL is of use. Rejects when it cannot be reached, or refuses. */
const clients: Record<ServerKind, (url: string) => Promise<boolean>> = {
  async postgres(url) {
    const sql = postgres(url, { max: 1, connect_timeout: timeoutMs / 1000, fetch_types: false });
    await sql`select 1`.finally(() => sql.end({ timeout: 0 }));
    return true;
  },
  async nats(url) {
    const connection = await connect({ servers: url, timeout: timeoutMs, reconnect: false });
    const hasJetStream = connection.info?.jetstream === true;
    await connection.close();
    return hasJetStream;
  },
  async redis(url) {
    const client = new Redis(url, { lazyConnect: true, connectTimeout: timeoutMs, retryStrategy: () => null });
    try {
      // The command fails for lack of a connection; why there is none is an event.
      await new Promise((resolve, reject) => client.on("error", reject).ping().then(resolve, reject));
      return true;
    } finally {
      client.disconnect();
    }
  },
};

/**
 * Whether a server of this kind answers at a URL. It does, too, when it refuses the log-in, or when its certificate is
 * for others to check; NATS needs JetStream.
 */
export function isAnswering(kind: ServerKind, url: string): Promise<boolean> {
  return clients[kind](url).catch(isRefusal);
}

/** Whether a server has said that it would not: something listens, and it is of the right kind. */
function isRefusal({ name, code = "" }: Error & { code?: string }): boolean {
  const isStarting = code === "57P03";
  if (["PostgresError", "ReplyError", "AuthorizationError"].includes(name)) return !isStarting;
  return /CERT|SIGN|TLS|SSL/.test(code);
}
