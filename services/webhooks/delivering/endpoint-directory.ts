import { LRUCache } from "lru-cache";
import { type EndpointFault, faultOfUrl } from "../endpoint/check-endpoint.ts";
import type { Foundation } from "../webhooks.ts";
import { batched } from "./batched.ts";

/** What is needed to send to an endpoint. */
export interface Endpoint {
  /** Of its webhook. */
  revision: number;
  url: URL;
  /** Why nothing may be posted there, if so: it was registered when it still was allowed. */
  fault: EndpointFault | undefined;
  /** Sent as the header authorization. */
  apiKey: string | null;
  /** The latest first. */
  secrets: { secret: string; expiresAt: number }[];
}

/**
 * Returns the endpoint of a webhook as it was at this revision or later; at any when it is left out. Undefined when there
 * is no such webhook, or it could not be read, which is logged. Never rejects.
 */
export type FindEndpoint = (webhookId: string, revision?: number) => Promise<Endpoint | undefined>;

interface Row {
  webhookId: string;
  revision: number;
  url: string;
  sealedApiKey: string | null;
  secrets: { sealed: string; expiresAt: string | null }[];
}

/** Remembers endpoints as they were when last looked at. `onMoved` is told of a webhook whose endpoint is another than before. */
export function openEndpointDirectory(
  { db, log, vault, endpoints: { httpsOnly } }: Foundation,
  { onMoved }: { onMoved(webhookId: string): void },
): FindEndpoint {
  const known = new LRUCache<string, Endpoint>({ max: 20_000 });
  const load = batched(loadAll, { size: 200, concurrency: 2 });

  async function loadAll(webhookIds: string[]): Promise<(Endpoint | undefined)[]> {
    const rows = await db.sql<Row[]>`
      select
        w.id as webhook_id, w.revision, w.endpoint_url as url, r.sealed_api_key,
        (
          select json_agg(json_build_object('sealed', s.sealed_secret, 'expiresAt', s.expires_at) order by s.number desc)
          from recipient_secrets s where s.recipient_id = r.id
        ) as secrets
      from webhooks w join recipients r on r.id = w.recipient_id
      where w.id = any(${webhookIds}::uuid[]) and w.state <> 'deleted'`;
    const endpoints = new Map(rows.map((row) => [row.webhookId, decrypt(row)]));
    return webhookIds.map((id) => endpoints.get(id));
  }

  function decrypt({ revision, url, sealedApiKey, secrets }: Row): Endpoint {
    return {
      revision,
      url: new URL(url),
      fault: faultOfUrl(url, { httpsOnly }),
      apiKey: sealedApiKey === null ? null : vault.open(sealedApiKey),
      secrets: secrets.map(({ sealed, expiresAt }) => ({
        secret: vault.open(sealed),
        expiresAt: expiresAt === null ? Number.POSITIVE_INFINITY : Date.parse(expiresAt),
      })),
    };
  }

  return async (webhookId, revision = 0) => {
    const before = known.get(webhookId);
    if (before && before.revision >= revision) return before;
    const endpoint = await load(webhookId).catch((err: unknown) => {
      log.warn({ err, webhookId }, "endpoint not read");
      return undefined;
    });
    if (!endpoint) return undefined;
    known.set(webhookId, endpoint);
    if (before && before.url.href !== endpoint.url.href) onMoved(webhookId);
    return endpoint;
  };
}
