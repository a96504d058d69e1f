import { LRUCache } from "lru-cache";
import type { WebhooksDependencies } from "../dependencies.ts";
import { checkEndpointUrl, type EndpointIssue } from "../endpoints/check-endpoint.ts";
import { batchCalls } from "./batch-calls.ts";

/** What is needed to send to an endpoint. */
export interface WebhookEndpoint {
  /** Of its webhook. */
  revision: number;
  url: URL;
  /** Why nothing may be posted there, if so: it was registered when it still was allowed. */
  issue: EndpointIssue | undefined;
  /** Sent as the header authorization. */
  apiKey: string | null;
  /** The latest first. */
  secrets: { secret: string; expiresAt: number }[];
}

/**
 * Returns the endpoint of a webhook as it was at this revision or later; at any when it is left out. Undefined when there
 * is no such webhook, or it could not be read, which is logged. Never rejects.
 */
export type FindWebhookEndpoint = (webhookId: string, revision?: number) => Promise<WebhookEndpoint | undefined>;

interface EndpointRow {
  webhookId: string;
  revision: number;
  url: string;
  sealedApiKey: string | null;
  secrets: { sealed: string; expiresAt: string | null }[];
}

/** Remembers endpoints as they were when last looked at. `onMoved` is told of a webhook whose endpoint is another than before. */
export function createEndpointCache(
  { db, log, encryption, endpointRules: { isHttpsRequired } }: WebhooksDependencies,
  { onMoved: onUrlChanged }: { onMoved(webhookId: string): void },
): FindWebhookEndpoint {
  const cache = new LRUCache<string, WebhookEndpoint>({ max: 20_000 });
  const loadBatched = batchCalls(loadAll, { maxBatchSize: 200, maxConcurrentBatches: 2 });

  async function loadAll(webhookIds: string[]): Promise<(WebhookEndpoint | undefined)[]> {
    const rows = await db.sql<EndpointRow[]>`
      select
        w.id as webhook_id, w.revision, w.endpoint_url as url, r.sealed_api_key,
        (
          select json_agg(json_build_object('sealed', s.sealed_secret, 'expiresAt', s.expires_at) order by s.number desc)
          from recipient_secrets s where s.recipient_id = r.id
        ) as secrets
      from webhooks w join recipients r on r.id = w.recipient_id
      where w.id = any(${webhookIds}::uuid[]) and w.state <> 'deleted'`;
    const endpoints = new Map(rows.map((row) => [row.webhookId, toWebhookEndpoint(row)]));
    return webhookIds.map((id) => endpoints.get(id));
  }

  function toWebhookEndpoint({ revision, url, sealedApiKey, secrets }: EndpointRow): WebhookEndpoint {
    return {
      revision,
      url: new URL(url),
      issue: checkEndpointUrl(url, { isHttpsRequired }),
      apiKey: sealedApiKey === null ? null : encryption.decrypt(sealedApiKey),
      secrets: secrets.map(({ sealed, expiresAt }) => ({
        secret: encryption.decrypt(sealed),
        expiresAt: expiresAt === null ? Number.POSITIVE_INFINITY : Date.parse(expiresAt),
      })),
    };
  }

  return async (webhookId, revision = 0) => {
    const cached = cache.get(webhookId);
    if (cached && cached.revision >= revision) return cached;
    const endpoint = await loadBatched(webhookId).catch((err: unknown) => {
      log.warn({ err, webhookId }, "endpoint not read");
      return undefined;
    });
    if (!endpoint) return undefined;
    cache.set(webhookId, endpoint);
    if (cached && cached.url.href !== endpoint.url.href) onUrlChanged(webhookId);
    return endpoint;
  };
}
