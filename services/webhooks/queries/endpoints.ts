import type { Sql } from "@pragma/runtime/postgres";

/** What is needed to send to a webhook's endpoint. Secrets are encrypted, the latest first. */
export interface EndpointRow {
  webhookId: string;
  revision: number;
  endpointUrl: string;
  sealedApiKey: string | null;
  secrets: { sealed: string; expiresAt: string | null }[];
}

/** The endpoints of these webhooks, but for those that are deleted. */
export async function findEndpoints(sql: Sql, webhookIds: string[]): Promise<EndpointRow[]> {
  return sql<EndpointRow[]>`
    select
      w.id as "webhookId", w.revision, w.endpoint_url as "endpointUrl", r.sealed_api_key as "sealedApiKey",
      (
        select json_agg(json_build_object('sealed', s.sealed_secret, 'expiresAt', s.expires_at) order by s.number desc)
        from recipient_secrets s where s.recipient_id = r.id
      ) as secrets
    from webhooks w join recipients r on r.id = w.recipient_id
    where w.id = any(${webhookIds}::uuid[]) and w.state <> 'deleted'`;
}
