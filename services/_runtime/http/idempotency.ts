import { createHash, randomUUID } from "node:crypto";
import { ApiError } from "@pragma/contracts/errors";
import type { Principal } from "@pragma/contracts/principal";
import { consumeDailyQuotaOrThrow, tryConsumeDailyQuota } from "../admission/daily-quota.ts";
import type { CommonServiceConfig } from "../config/runtime-config.ts";
import type { Database, SqlTransaction } from "../database/postgres.ts";
import type { LocationOrderIds } from "../messaging/erased-orders.ts";
import type { Encryption } from "../security/encryption.ts";
import type { RouteHandlerResponse } from "./route-response.ts";

export type IdempotencyHandler = ReturnType<typeof createIdempotencyHandler>;

/** May use one transaction of `database`, and must not wait for its commit, which waits for the response. */
type TransactionalHandler = (database: Database) => Promise<RouteHandlerResponse>;

interface IdempotentRequest {
  key: string;
  principal: Principal;
  operation: string;
  body: Uint8Array;
}

/** How long a response is stored, as a PostgreSQL interval. */
const responseRetention = "24 hours";

/** How long a reservation is valid, in seconds. Longer than the longest request. */
const leaseSeconds = 60;

interface KeyReservation {
  owner: string;
  key: string;
  reservationId: string;
}

/**
 * Returns a function that handles a request with an Idempotency-Key only once. For 24 hours, a repeated request gets the
 * stored response. A transaction of the handler also stores the response; without one, it is stored afterwards.
 *
 * A body is not stored if it is not text, is too large or exceeds the daily quota of bytes. A repeated request then gets
 * status 204, with the headers except content-type, and also after an erasure (`deleteResponsesWithOrders`).
 *
 * In a row of `idempotent_requests` without `completed_at`, the key is reserved. If the process of that request has ended
 * or the lease has expired, the next request reserves the key, and the first one can no longer commit.
 *
 * @throws `ApiError` quota_exceeded when the location has no keys left for today (UTC); idempotency_key_reused when the
 * key was used with a different request; idempotency_key_in_use while the first request is in progress.
 */
export function createIdempotencyHandler(database: Database, encryption: Encryption, limits: CommonServiceConfig) {
  const { sql } = database;
  const dailyKeyQuota = { name: "idempotency_keys", maximum: limits.IDEMPOTENCY_MAX_KEYS_PER_DAY, unit: "keys" };
  const dailyByteQuota = { name: "idempotency_bytes", maximum: limits.IDEMPOTENCY_MAX_BYTES_PER_DAY, unit: "bytes" };

  /** Reserves a key. Returns undefined if another request holds a valid reservation or its response is still stored. */
  async function reserveKey(owner: string, key: string, fingerprint: string): Promise<KeyReservation | undefined> {
    const reservationId = randomUUID();
    try {
      const { count } = await sql`
        insert into idempotent_requests as existing
          (owner, key, fingerprint, completed_at, reservation_id, process_name, reserved_at)
        values (
          ${owner}, ${key}, ${fingerprint}, null, ${reservationId}, current_setting('application_name'), now()
        )
        on conflict (owner, key) do update set
          fingerprint = excluded.fingerprint, status = null, encrypted_response = null, completed_at = null,
          location_id = null, order_ids = null, reservation_id = excluded.reservation_id,
          process_name = excluded.process_name, reserved_at = excluded.reserved_at
        where existing.completed_at <= now() - ${responseRetention}::interval
          or existing.completed_at is null and (
            existing.reserved_at < now() - make_interval(secs => ${leaseSeconds})
            or not exists (select 1 from pg_stat_activity where application_name = existing.process_name)
          )`;
      return count === 1 ? { owner, key, reservationId } : undefined;
    } catch (error) {
      // If the connection was lost, the reservation may have been committed.
      await releaseReservation({ owner, key, reservationId });
      throw error;
    }
  }

  /** @throws `ApiError` quota_exceeded; idempotency_key_in_use if another request has since reserved the key. */
  async function completeReservation(
    tx: SqlTransaction,
    { owner, key, reservationId }: KeyReservation,
    { locationId, response }: { locationId: string; response: RouteHandlerResponse },
  ): Promise<void> {
    await consumeDailyQuotaOrThrow(tx, { locationId, quota: dailyKeyQuota, amount: 1 });
    const { "content-type": _, ...headersWithoutType } = response.headers;
    const { status, headers, body } = (await shouldStoreBody(tx, locationId, response))
      ? response
      : { status: 204, headers: headersWithoutType, body: null };
    const encryptedResponse = encryption.encrypt(JSON.stringify({ headers, body }));
    const orders = body === null ? undefined : response.ordersInBody;
    const { count } = await tx`
      update idempotent_requests
      set status = ${status}, encrypted_response = ${encryptedResponse}, completed_at = now(),
        location_id = ${orders?.locationId ?? null}, order_ids = ${(orders?.orderIds as string[]) ?? null}::uuid[]
      where owner = ${owner} and key = ${key} and reservation_id = ${reservationId}`;
    if (count === 0) throw createKeyInUseError();
  }

  async function shouldStoreBody(
    tx: SqlTransaction,
    locationId: string,
    { body }: RouteHandlerResponse,
  ): Promise<boolean> {
    if (body === null) return true;
    if (typeof body !== "string") return false;
    const amount = Buffer.byteLength(body);
    return (
      amount <= limits.IDEMPOTENCY_RESPONSE_MAX_BYTES &&
      tryConsumeDailyQuota(tx, { locationId, quota: dailyByteQuota, amount })
    );
  }

  /** Deletes the reservation of a failed request. If this fails, retries in the background until the lease expires. */
  async function releaseReservation(heldReservation: KeyReservation, attemptsLeft = leaseSeconds): Promise<void> {
    const { owner, key, reservationId } = heldReservation;
    try {
      await sql`
        delete from idempotent_requests
        where owner = ${owner} and key = ${key} and reservation_id = ${reservationId} and completed_at is null`;
    } catch {
      if (attemptsLeft > 0) setTimeout(() => releaseReservation(heldReservation, attemptsLeft - 1), 1_000).unref();
    }
  }

  return async (
    { key, principal, operation, body }: IdempotentRequest,
    handle: TransactionalHandler,
  ): Promise<RouteHandlerResponse> => {
    const owner = `${principal.location?.id ?? "none"} ${principal.consumer}`;
    const fingerprint = createHash("sha256").update(`${operation}\n`).update(body).digest("hex");
    const reserved = await reserveKey(owner, key, fingerprint);
    if (!reserved) {
      const [stored] = await sql<{ fingerprint: string; status: number; encryptedResponse: string | null }[]>`
        select fingerprint, status, encrypted_response from idempotent_requests
        where owner = ${owner} and key = ${key} and completed_at is not null`;
      if (!stored) throw createKeyInUseError();
      if (stored.fingerprint !== fingerprint) {
        throw new ApiError("idempotency_key_reused", {
          detail:
            "This Idempotency-Key was used with a different request. Use a new key for each operation, and repeat a key only with the same request.",
        });
      }
      const replayed = { "idempotency-replayed": "true" };
      // An erasure has deleted the response.
      if (stored.encryptedResponse === null) return { status: 204, body: null, headers: replayed };
      const response: Omit<RouteHandlerResponse, "status"> = JSON.parse(encryption.decrypt(stored.encryptedResponse));
      return { ...response, status: stored.status, headers: { ...response.headers, ...replayed } };
    }

    const locationId = principal.location?.id ?? principal.keyId;
    let committed: Promise<void> | undefined;
    const transaction: Database["transaction"] = (work) =>
      new Promise((resolve, reject) => {
        if (committed) throw new Error("A request with an Idempotency-Key may use only one transaction.");
        committed = database.transaction(async (tx) => {
          resolve(await work(tx));
          await completeReservation(tx, reserved, { locationId, response: await responsePromise });
        });
        committed.catch(reject);
      });
    const responsePromise = handle({ ...database, transaction });
    try {
      const response = await responsePromise;
      await (committed ?? database.transaction((tx) => completeReservation(tx, reserved, { locationId, response })));
      return response;
    } catch (error) {
      await Promise.allSettled([committed]);
      await releaseReservation(reserved);
      throw error;
    }
  };
}

/**
 * Deletes the stored responses that contain personal data of these orders. Their keys stay used, so that a repeated
 * request does not take effect again. Requests in progress must not be able to return these orders.
 */
export async function deleteResponsesWithOrders(
  tx: SqlTransaction,
  { locationId, orderIds }: LocationOrderIds,
): Promise<void> {
  await tx`
    update idempotent_requests set encrypted_response = null, location_id = null, order_ids = null
    where location_id = ${locationId} and order_ids && ${orderIds as string[]}::uuid[]`;
}

function createKeyInUseError(): ApiError {
  return new ApiError("idempotency_key_in_use", {
    detail: "The first request with this Idempotency-Key is still in progress. Retry shortly.",
  });
}
