import { createSecretKey, type KeyObject } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { WebhooksDependencies } from "../dependencies.ts";
import { findWebhookUrlSyntaxIssue, type WebhookEndpointRejection } from "../endpoints/check-endpoint.ts";
import { getSigningKey } from "../messages/signing-secret.ts";
import { batchCalls } from "./batch-calls.ts";

/** The address of an endpoint, and the credentials for sending to it. */
export interface EndpointCredentials {
  locationId: string;
  /** The revision of the webhook when the endpoint was loaded. */
  revision: number;
  url: URL;
  /**
   * What is wrong with the URL, to which nothing is then posted; undefined when the URL is allowed. A registered URL
   * can become forbidden when the rules change. The addresses of the host are checked only when connecting.
   */
  issue: WebhookEndpointRejection | undefined;
  /** Whether messages to the endpoint count toward the daily quota of a sandbox. */
  hasMessageQuota: boolean;
  /** The value of the authorization header; null when this header is not sent. */
  apiKey: string | null;
  /** The keys of the signing secrets, newest first. Expired secrets may be included. */
  secrets: { secret: KeyObject; expiresAt: number }[];
}

export type WebhookEndpointLookup = ReturnType<typeof createWebhookEndpointCache>;

interface EndpointRow {
  webhookId: string;
  locationId: string;
  revision: number;
  url: string;
  hasMessageQuota: boolean;
  encryptedApiKey: string | null;
  secrets: { encryptedSecret: string; expiresAt: string | null }[];
}

/** Returns a function that loads and caches endpoints. Calls `onUrlChanged` if the URL of a cached endpoint changed. */
export function createWebhookEndpointCache(
  { db, log, encryption, endpointRules }: WebhooksDependencies,
  { onUrlChanged }: { onUrlChanged(webhookId: string): void },
) {
  const cache = new LRUCache<string, EndpointCredentials>({ max: 20_000 });
  /** The keys by encrypted secret, so that the webhooks of a recipient share them, and with them the signatures. */
  const keys = new LRUCache<string, KeyObject>({
    max: 20_000,
    memoMethod: (encryptedSecret) => createSecretKey(getSigningKey(encryption.decrypt(encryptedSecret))),
  });
  const loadBatched = batchCalls(loadAll, { maxBatchSize: 200, maxConcurrentBatches: 2 });

  async function loadAll(webhookIds: string[]): Promise<(EndpointCredentials | undefined)[]> {
    const rows = await db.sql<EndpointRow[]>`
      select
        w.id as webhook_id, w.location_id, w.revision, w.endpoint_url as url, w.has_message_quota,
        r.encrypted_api_key,
        (
          select json_agg(
            json_build_object('encryptedSecret', s.encrypted_secret, 'expiresAt', s.expires_at) order by s.version desc
          )
          from signing_secrets s where s.location_id = r.location_id and s.recipient_id = r.id
        ) as secrets
      from webhooks w join recipients r on r.location_id = w.location_id and r.id = w.recipient_id
      where w.id = any(${webhookIds}::uuid[]) and w.state <> 'deleted'`;
    const endpoints = new Map(
      rows.map(({ webhookId, url, encryptedApiKey, secrets, ...row }): [string, EndpointCredentials] => {
        const credentials = {
          apiKey: encryptedApiKey === null ? null : encryption.decrypt(encryptedApiKey),
          secrets: secrets.map(({ encryptedSecret, expiresAt }) => ({
            secret: keys.memo(encryptedSecret),
            expiresAt: expiresAt === null ? Number.POSITIVE_INFINITY : Date.parse(expiresAt),
          })),
        };
        const issue = findWebhookUrlSyntaxIssue(url, endpointRules);
        return [webhookId, { ...row, url: new URL(url), issue, ...credentials }];
      }),
    );
    return webhookIds.map((id) => endpoints.get(id));
  }

  /**
   * Returns the endpoint of a webhook at the given revision or a later revision. Without a revision, the endpoint may be
   * an outdated copy from the cache. Returns undefined if the webhook does not exist or cannot be loaded. Never rejects.
   */
  return async (webhookId: string, revision = 0): Promise<EndpointCredentials | undefined> => {
    const cached = cache.get(webhookId);
    if (cached && cached.revision >= revision) return cached;
    const endpoint = await loadBatched(webhookId).catch((err: unknown) => {
      log.warn({ err, webhookId }, "failed to load endpoint");
      return undefined;
    });
    if (!endpoint) return undefined;
    cache.set(webhookId, endpoint);
    if (cached && cached.url.href !== endpoint.url.href) onUrlChanged(webhookId);
    return endpoint;
  };
}
