import { connect } from "@nats-io/transport-node";
import { Redis } from "ioredis";
import postgres from "postgres";
import type { ServerKind } from "./find-servers.ts";

const timeoutMs = 5_000;

/**
 * Whether a server of each kind answers at a URL. It does, too, when it refuses the log-in, or when its certificate is
 * for others to check; NATS needs JetStream.
 */
export const isAnswering: Record<ServerKind, (url: string) => Promise<boolean>> = {
  async postgres(url) {
    const sql = postgres(url, { max: 1, connect_timeout: timeoutMs / 1000, fetch_types: false });
    try {
      await sql`select 1`;
      return true;
    } catch (error) {
      return isRefusal(error);
    } finally {
      await sql.end({ timeout: 0 });
    }
  },
  async nats(url) {
    try {
      const connection = await connect({ servers: url, timeout: timeoutMs, reconnect: false });
      const hasJetStream = connection.info?.jetstream === true;
      await connection.close();
      return hasJetStream;
    } catch (error) {
      return isRefusal(error);
    }
  },
  async redis(url) {
    const client = new Redis(url, { lazyConnect: true, connectTimeout: timeoutMs, retryStrategy: () => null });
    let failure: unknown;
    client.on("error", (error) => {
      failure = error;
    });
    try {
      await client.ping();
      return true;
    } catch (error) {
      return isRefusal(failure ?? error);
    } finally {
      client.disconnect();
    }
  },
};

/** Whether a server has said that it would not: something listens, and it is of the right kind. */
function isRefusal(error: unknown): boolean {
  const { name, code = "" } = error as Error & { code?: string };
  const isStarting = code === "57P03";
  if (["PostgresError", "ReplyError", "AuthorizationError"].includes(name)) return !isStarting;
  return /CERT|SIGN|TLS|SSL/.test(code);
}
