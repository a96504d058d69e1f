import { createHash } from "node:crypto";
import { ApiError } from "@pragma/contracts/errors";
import type { Principal } from "@pragma/contracts/principal";
import type { RuntimeConfig } from "../config/runtime-config.ts";
import type { Database, SqlTransaction } from "../database/postgres.ts";
import { consumeDailyQuota, tryConsumeDailyQuota } from "../limits/daily-quota.ts";
import type { Encryption } from "../security/encryption.ts";
import type { RouteResponse } from "./route-response.ts";

/**
 * Answers a request that carries an Idempotency-Key once, and again as it was answered.
 *
 * It reserves the key, has the request handled, and keeps the reply in the transaction of its effect: either both are
 * there or neither. The same key within 24 hours gets the kept reply, and nothing happens. Of a large reply, or beyond
 * the day's bytes, the body is not kept: the same key then gets 204 with the other headers of the first reply.
 *
 * A key is in one of these states, each of them committed:
 * - `answered_at` is null: reserved. Others with the key are refused. When its process is gone, or `reserved_at` is longer
 *   ago than the lease, the next request takes it over; should the first one still go on, its transaction does not commit.
 * - `answered_at` is set: the effect is there, and so is its reply.
 *
 * @throws `ApiError` quota_exceeded when the location has used its keys of today; idempotency_key_reused when the key
 * came with another request before; idempotency_key_in_use while the first request is being answered.
 */
export type IdempotencyHandler = (request: IdempotentRequest, handle: TransactionalHandler) => Promise<RouteResponse>;

/**
 * Handles a request. Of the database that it is given it may use one transaction, which commits together with the reply:
 * what the reply says has to be known without further waiting once that transaction's work is done.
 */
type TransactionalHandler = (database: Database) => Promise<RouteResponse>;

interface IdempotentRequest {
  key: string;
  principal: Principal;
  /** Method and address. */
  operation: string;
  body: Uint8Array;
}

/** How long a reply is kept. */
const responseRetention = "24 hours";

/** How long a reservation counts at most: longer than a request takes. */
const leaseSeconds = 60;

/** A key that this request has reserved. */
interface KeyReservation {
  owner: string;
  key: string;
  reservation: string;
}

export function createIdempotencyHandler(
  database: Database,
  encryption: Encryption,
  limits: RuntimeConfig,
): IdempotencyHandler {
  const { sql } = database;
  const dailyKeyQuota = { name: "idempotency_keys", maximum: limits.IDEMPOTENCY_KEYS_PER_DAY, unit: "keys" };
  /** Of replies that are kept with their body. */
  const dailyByteQuota = { name: "idempotency_bytes", maximum: limits.IDEMPOTENCY_BYTES_PER_DAY, unit: "bytes" };

  /** Returns undefined when the key is answered or reserved already. */
  async function reserveKey(owner: string, key: string, fingerprint: string): Promise<KeyReservation | undefined> {
    const [row] = await sql<{ reservation: string }[]>`
      insert into idempotency_keys as held (owner, key, fingerprint, answered_at, reservation, holder, reserved_at)
      values (
        ${owner}, ${key}, ${fingerprint}, null, gen_random_uuid(), current_setting('application_name'), now()
      )
      on conflict (owner, key) do update set
        fingerprint = excluded.fingerprint, status = null, sealed_reply = null, answered_at = null,
        reservation = excluded.reservation, holder = excluded.holder, reserved_at = excluded.reserved_at
      where held.answered_at <= now() - ${responseRetention}::interval
        or held.answered_at is null and (
          held.reserved_at < now() - make_interval(secs => ${leaseSeconds})
          or not exists (select 1 from pg_stat_activity where application_name = held.holder)
        )
      returning reservation`;
    return row && { owner, key, reservation: row.reservation };
  }

  /** Keeps the reply, unless another request has taken the key over. */
  async function completeReservation(
    tx: SqlTransaction,
    { owner, key, reservation }: KeyReservation,
    { locationId, reply }: { locationId: string; reply: RouteResponse },
  ): Promise<void> {
    await consumeDailyQuota(tx, { locationId, quota: dailyKeyQuota, amount: 1 });
    const { status, headers, body } = (await shouldKeepBody(tx, locationId, reply)) ? reply : withoutBody(reply);
    const encryptedResponse = encryption.encrypt(JSON.stringify({ headers, body }));
    const { count } = await tx`
      update idempotency_keys set status = ${status}, sealed_reply = ${encryptedResponse}, answered_at = now()
      where owner = ${owner} and key = ${key} and reservation = ${reservation}`;
    if (count === 0) throw createKeyInUseError();
  }

  async function shouldKeepBody(tx: SqlTransaction, locationId: string, { body }: RouteResponse): Promise<boolean> {
    if (body === null) return true;
    if (typeof body !== "string") return false;
    const amount = Buffer.byteLength(body);
    return (
      amount <= limits.IDEMPOTENCY_REPLY_BYTES &&
      tryConsumeDailyQuota(tx, { locationId, quota: dailyByteQuota, amount })
    );
  }

  /** Frees the key of a request that had no effect. While the database is away it is tried again, until the lease is over. */
  async function releaseReservation(heldReservation: KeyReservation, attemptsLeft = leaseSeconds): Promise<void> {
    const { owner, key, reservation } = heldReservation;
    try {
      await sql`
        delete from idempotency_keys
        where owner = ${owner} and key = ${key} and reservation = ${reservation} and answered_at is null`;
    } catch {
      if (attemptsLeft > 0) setTimeout(() => releaseReservation(heldReservation, attemptsLeft - 1), 1_000).unref();
    }
  }

  return async ({ key, principal, operation, body }, handle) => {
    const owner = `${principal.location?.id ?? "none"} ${principal.consumer}`;
    const fingerprint = createHash("sha256").update(`${operation}\n`).update(body).digest("hex");
    const reserved = await reserveKey(owner, key, fingerprint);
    if (!reserved) {
      const [stored] = await sql<{ fingerprint: string; status: number; sealedReply: string }[]>`
        select fingerprint, status, sealed_reply from idempotency_keys
        where owner = ${owner} and key = ${key} and answered_at is not null`;
      if (!stored) throw createKeyInUseError();
      if (stored.fingerprint !== fingerprint) {
        throw new ApiError("idempotency_key_reused", {
          detail: "This Idempotency-Key came with another request before. Give each request a key of its own.",
        });
      }
      const reply: Omit<RouteResponse, "status"> = JSON.parse(encryption.decrypt(stored.sealedReply));
      return { ...reply, status: stored.status, headers: { ...reply.headers, "idempotency-replayed": "true" } };
    }

    const locationId = principal.location?.id ?? principal.keyId;
    let committed: Promise<void> | undefined;
    const transaction: Database["transaction"] = (work) =>
      new Promise((resolve, reject) => {
        if (committed) throw new Error("A request with an Idempotency-Key has one transaction.");
        committed = database.transaction(async (tx) => {
          resolve(await work(tx));
          await completeReservation(tx, reserved, { locationId, reply: await responsePromise });
        });
        committed.catch(reject);
      });
    const responsePromise = handle({ ...database, transaction });
    try {
      const reply = await responsePromise;
      await (committed ?? database.transaction((tx) => completeReservation(tx, reserved, { locationId, reply })));
      return reply;
    } catch (error) {
      await Promise.allSettled([committed]);
      await releaseReservation(reserved);
      throw error;
    }
  };
}

/** What is kept of a reply that is too large. */
function withoutBody({ headers: { "content-type": _, ...headers } }: RouteResponse): RouteResponse {
  return { status: 204, body: null, headers };
}

function createKeyInUseError(): ApiError {
  return new ApiError("idempotency_key_in_use", {
    detail: "The first request with this Idempotency-Key is being answered. Ask again in a moment.",
  });
}
