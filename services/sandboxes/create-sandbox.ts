import { createHash, randomBytes, randomUUID } from "node:crypto";
import { type AdminApiClient, createAdminApiClient } from "@pragma/client/api-client";
import { ApiError } from "@pragma/contracts/errors";
import { sandboxServiceConsumerName } from "@pragma/contracts/sandbox";
import { buildSandboxCompanyNumbers } from "@pragma/contracts/siren";
import { lockInTransaction } from "@pragma/runtime/database/postgres";
import { getClientIpNetwork } from "@pragma/runtime/http/client-network";
import { demoConsumerScopes, demoRestaurantSeed } from "@pragma/simulator/demo-location";
import { buildLocationSettings, ensureApiConsumerWithScopes } from "@pragma/simulator/import-and-configure-location";
import { generateRestaurant } from "@pragma/simulator/restaurant";
import type { SandboxServices } from "./context.ts";

const dayMs = 24 * 60 * 60 * 1000;

/** The consumer of the clients' keys. */
export const sandboxConsumerName = "Sandbox";
const sandboxRateLimit = { perSecond: 10, burst: 100 };

/** A creation that takes longer has failed. What it created is then removed, in milliseconds. */
const creationTimeoutMs = 2 * 60 * 1000;

/** The client answers at once, so that a creation fails soon instead of repeating requests. */
const creationRetries = 1;

/**
 * Creates the location of a sandbox and its API key, which is not stored. Its data are added in the background.
 *
 * @throws `ApiError` too_many_sandboxes, and service_unavailable if the API does not create the location or its keys.
 */
export async function createSandbox(services: SandboxServices, clientAddress: string) {
  const { db, config, encryption } = services;
  const operatorApi = createAdminApiClient({ ...services.operatorAccess, retries: creationRetries });
  const expiresAt = new Date(Date.now() + config.SANDBOX_LIFETIME_DAYS * dayMs);
  const id = await insertSandbox(services, { clientAddress, expiresAt });
  try {
    const [location] = await Promise.all([createSandboxLocation({ operatorApi }, id), services.ensureConsumers()]);
    await db.sql`update sandboxes set location_id = ${location.id} where id = ${id}`;
    const createKey = async (consumerName: string) => {
      const body = { locationId: location.id, consumerName, expiresAt: expiresAt.toISOString() };
      return (await operatorApi.POST("/v1/auth/keys", { body })).data.apiKey;
    };
    const [apiKey, ownKey] = await Promise.all([createKey(sandboxConsumerName), createKey(sandboxServiceConsumerName)]);
    await db.sql`
      update sandboxes set state = 'filling', encrypted_key = ${encryption.encrypt(ownKey)}, due_at = now(),
        location_name = ${location.name}, time_zone = ${location.timezone}, currency_code = ${location.currencyCode}
      where id = ${id}`;
    services.poll();
    return { apiKey, location, expiresAt };
  } catch (cause) {
    await db.sql`update sandboxes set due_at = now() where id = ${id}`.catch(() => {});
    throw new ApiError("service_unavailable", {
      detail: "The sandbox could not be created. Try again shortly.",
      cause,
    });
  }
}

/**
 * Creates the location of a sandbox. A repeated call returns the same location, so that the location of a creation that
 * was interrupted can be found and removed.
 */
export async function createSandboxLocation({ operatorApi }: Pick<SandboxServices, "operatorApi">, sandboxId: string) {
  const locationSettings = buildLocationSettings(generateRestaurant(demoRestaurantSeed));
  const owner = "sandboxes";
  const { data } = await operatorApi.POST("/v1/locations", {
    body: { application: "POPINA", organizationId: owner, agencyId: owner, isSandbox: true, locationSettings },
    headers: { "idempotency-key": `sandbox-${sandboxId}` },
  });
  const { siretCode, tvaCode } = buildSandboxCompanyNumbers(data.id);
  await operatorApi.PATCH("/v1/locations/{id}", {
    params: { path: { id: data.id } },
    body: { locationSettings: { siretCode, tvaCode } },
  });
  const { locationName: name, timezone } = locationSettings;
  return { id: data.id, name, timezone, currencyCode: "EUR" };
}

/** Inserts the row of a new sandbox, unless there are too many. Returns its id. */
async function insertSandbox(
  { db, config, encryption }: SandboxServices,
  { clientAddress, expiresAt }: { clientAddress: string; expiresAt: Date },
): Promise<string> {
  const { MAX_SANDBOXES: maximum, MAX_SANDBOXES_PER_ADDRESS: maximumPerAddress } = config;
  const clientNetworkHash = createHash("sha256").update(getClientIpNetwork(clientAddress)).digest("hex");
  return db.transaction(async (tx) => {
    // So that concurrent requests cannot exceed the limits.
    await lockInTransaction(tx, db, "new sandbox");
    const [counts] = await tx<
      [{ living: number; ofAddress: number; nextExpiry: Date | null; nextOfAddress: Date | null }]
    >`
      select count(*) filter (where state <> 'removed')::int as living,
        min(expires_at) filter (where state <> 'removed') as next_expiry,
        count(*) filter (where ${isRecentOfAddress()})::int as of_address,
        min(created_at + interval '1 day') filter (where ${isRecentOfAddress()}) as next_of_address
      from sandboxes`;
    if (counts.ofAddress >= maximumPerAddress)
      throw createTooManyError(counts.nextOfAddress, {
        detail: `${maximumPerAddress} sandboxes were created from your network in the last 24 hours, which is the maximum.`,
        limit: { name: "sandboxes_per_address", maximum: maximumPerAddress, unit: "sandboxes per day" },
      });
    if (counts.living >= maximum)
      throw createTooManyError(counts.nextExpiry, {
        detail: `There are ${maximum} sandboxes, which is the maximum of this installation.`,
        limit: { name: "sandboxes", maximum, unit: "sandboxes" },
      });
    const sandbox = {
      ...{ id: randomUUID(), state: "creating", expiresAt, clientNetworkHash },
      inboxToken: randomBytes(32).toString("base64url"),
      encryptedInboxSecret: encryption.encrypt(randomBytes(32).toString("hex")),
      dueAt: new Date(Date.now() + creationTimeoutMs),
    };
    await tx`insert into sandboxes ${tx(sandbox)}`;
    return sandbox.id;

    function isRecentOfAddress() {
      return tx`client_network_hash = ${clientNetworkHash} and created_at > now() - interval '1 day'`;
    }
  });
}

function createTooManyError(
  retryAt: Date | null,
  { detail, limit }: { detail: string; limit: { name: string; maximum: number; unit: string } },
): ApiError {
  const seconds = Math.max(1, Math.ceil(((retryAt?.getTime() ?? 0) - Date.now()) / 1000));
  const until = retryAt ? ` You can create one at ${retryAt.toISOString()}.` : "";
  return new ApiError("too_many_sandboxes", {
    ...{ detail: `${detail}${until}`, limit, headers: { "retry-after": String(seconds) } },
  });
}

/** Returns a function that creates the consumers of the keys, or corrects their scopes and rate limit, once in a process. */
export function createConsumerEnsurer(operatorApi: AdminApiClient): () => Promise<void> {
  const ensureConsumers = async () => {
    const id = await ensureApiConsumerWithScopes(operatorApi, sandboxConsumerName, demoConsumerScopes);
    await operatorApi.PATCH("/v1/consumers/{id}", { params: { path: { id } }, body: { rateLimit: sandboxRateLimit } });
    await ensureApiConsumerWithScopes(operatorApi, sandboxServiceConsumerName, demoConsumerScopes);
  };
  let ensured: Promise<void> | undefined;
  return () => {
    ensured ??= ensureConsumers().catch((error) => {
      ensured = undefined;
      throw error;
    });
    return ensured;
  };
}
