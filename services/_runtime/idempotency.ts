import { createHash } from "node:crypto";
import { ApiError } from "@pragma/contracts/errors";
import type { Principal } from "@pragma/contracts/principal";
import { consumeDailyQuota, type DailyQuota } from "./daily-quota.ts";
import { advisoryLockKey, type Database, type Transaction } from "./postgres.ts";
import type { Reply } from "./reply.ts";
import type { Vault } from "./vault.ts";

/** Answers a request that carries an Idempotency-Key once, and again as it was answered. */
export interface Idempotency {
  /**
   * Runs `effect` and keeps its reply in the effect's own transaction: either both are there or neither. The same key
   * within 24 hours gets the kept reply, and nothing happens. Of a large reply, or beyond the day's bytes, the body is
   * not kept: the same key then gets 204 with the other headers of the first reply.
   *
   * @throws `ApiError` quota_exceeded when the location has used its keys of today; `ApiError` idempotency_key_reused when the key came with another request before;
   * idempotency_key_in_use while the first request is being answered.
   */
  once(request: IdempotentRequest, effect: () => Promise<Reply>): Promise<Reply>;
}

export interface IdempotentRequest {
  key: string;
  principal: Principal;
  /** Method and address. */
  operation: string;
  body: Uint8Array;
}

/** How many keys a location may use, and how much of the replies to them is kept. */
export interface IdempotencyLimits {
  keysPerDay: DailyQuota;
  /** Of replies that are kept with their body. */
  bytesPerDay: DailyQuota;
  /** The largest body that is kept, in bytes. */
  maxReplyBytes: number;
}

/** How long a reply is kept. */
const keptFor = "24 hours";

export function openIdempotency(database: Database, vault: Vault, limits: IdempotencyLimits): Idempotency {
  /** Known without asking the database: a repetition does not take a connection to learn that it has to wait. */
  const answering = new Set<string>();

  async function isKept(tx: Transaction, locationId: string, { body }: Reply): Promise<boolean> {
    if (body === null) return true;
    if (typeof body !== "string") return false;
    const amount = Buffer.byteLength(body);
    if (amount > limits.maxReplyBytes) return false;
    return consumeDailyQuota(tx, { locationId, quota: limits.bytesPerDay, amount }).then(
      () => true,
      (error) => {
        if (error instanceof ApiError) return false;
        throw error;
      },
    );
  }

  return {
    async once({ key, principal, operation, body }, effect) {
      const owner = `${principal.location?.id ?? "none"} ${principal.consumer}`;
      const name = `${owner} ${key}`;
      if (answering.has(name)) throw inUse();
      answering.add(name);
      const fingerprint = createHash("sha256").update(`${operation}\n`).update(body).digest("hex");
      return database
        .ambientTransaction(async (tx) => {
          const lock = advisoryLockKey(`idempotency ${database.schema} ${name}`);
          const [row] = await tx<{ mine: boolean }[]>`select pg_try_advisory_xact_lock(${lock}::bigint) as mine`;
          if (!row?.mine) throw inUse();
          const [kept] = await tx<{ fingerprint: string; status: number; sealed_reply: string }[]>`
          select fingerprint, status, sealed_reply from idempotency_keys
          where owner = ${owner} and key = ${key} and answered_at > now() - ${keptFor}::interval`;
          if (kept && kept.fingerprint !== fingerprint) throw reused();
          if (kept) return replayed(kept.status, vault.open(kept.sealed_reply));
          const reply = await effect();
          const locationId = principal.location?.id ?? principal.keyId;
          await consumeDailyQuota(tx, { locationId, quota: limits.keysPerDay, amount: 1 });
          const { status, headers, body } = (await isKept(tx, locationId, reply)) ? reply : withoutBody(reply);
          const sealed = vault.seal(JSON.stringify({ headers, body }));
          await tx`
          insert into idempotency_keys ${tx({ owner, key, fingerprint, status, sealed_reply: sealed })}
          on conflict (owner, key) do update set
            fingerprint = excluded.fingerprint, status = excluded.status, sealed_reply = excluded.sealed_reply,
            answered_at = now()`;
          return reply;
        })
        .finally(() => answering.delete(name));
    },
  };
}

/** What is kept of a reply that is too large. */
function withoutBody({ headers: { "content-type": _, ...headers } }: Reply): Reply {
  return { status: 204, body: null, headers };
}

function replayed(status: number, json: string): Reply {
  const { headers, body } = JSON.parse(json) as Pick<Reply, "headers"> & { body: string | null };
  return { status, body, headers: { ...headers, "idempotency-replayed": "true" } };
}

function inUse(): ApiError {
  return new ApiError("idempotency_key_in_use", {
    detail: "The first request with this Idempotency-Key is being answered. Ask again in a moment.",
    headers: { "retry-after": "1" },
  });
}

function reused(): ApiError {
  return new ApiError("idempotency_key_reused", {
    detail: "This Idempotency-Key came with another request before. Give each request a key of its own.",
  });
}
