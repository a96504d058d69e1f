import type { Database } from "@pragma/runtime/postgres";
import type { Vault } from "@pragma/runtime/vault";
import { LRUCache } from "lru-cache";
import { type EndpointFault, faultOfUrl } from "../endpoint/check-endpoint.ts";
import { type EndpointRow, findEndpoints } from "../queries/endpoints.ts";
import { batched } from "./batched.ts";

/** What is needed to send to an endpoint. */
export interface EndpointFacts {
  revision: number;
  url: URL;
  /** Why nothing may be posted there, if so: it was registered when it still was allowed. */
  fault: EndpointFault | undefined;
  /** Sent as the header authorization. */
  apiKey: string | null;
  /** The latest first. */
  secrets: { secret: string; expiresAt: number }[];
}

/** Endpoints as they were when last looked at. */
export interface EndpointDirectory {
  /** The endpoint as it was at this revision of the webhook or later; of any when it is left out. Undefined when there is none. */
  find(webhookId: string, revision?: number): Promise<EndpointFacts | undefined>;
}

interface DirectoryOptions {
  db: Database;
  vault: Vault;
  /** Whether https is demanded. */
  httpsOnly: boolean;
  /** Told of a webhook whose endpoint is another than before. */
  onMoved(webhookId: string): void;
}

export function openEndpointDirectory({ db, vault, httpsOnly, onMoved }: DirectoryOptions): EndpointDirectory {
  const known = new LRUCache<string, EndpointFacts>({ max: 20_000 });
  const load = batched(
    async (webhookIds: string[]) => {
      const rows = new Map((await findEndpoints(db.sql, webhookIds)).map((row) => [row.webhookId, row]));
      return webhookIds.map((id) => rows.get(id));
    },
    { size: 200, atATime: 2 },
  );
  return {
    async find(webhookId, revision = 0) {
      const before = known.get(webhookId);
      if (before && before.revision >= revision) return before;
      const row = await load(webhookId);
      if (!row) return undefined;
      const facts = open(row, { vault, httpsOnly });
      known.set(webhookId, facts);
      if (before && before.url.href !== facts.url.href) onMoved(webhookId);
      return facts;
    },
  };
}

function open(
  { revision, endpointUrl, sealedApiKey, secrets }: EndpointRow,
  { vault, httpsOnly }: Pick<DirectoryOptions, "vault" | "httpsOnly">,
): EndpointFacts {
  return {
    revision,
    url: new URL(endpointUrl),
    fault: faultOfUrl(endpointUrl, { httpsOnly }),
    apiKey: sealedApiKey === null ? null : vault.open(sealedApiKey),
    secrets: secrets.map(({ sealed, expiresAt }) => ({
      secret: vault.open(sealed),
      expiresAt: expiresAt === null ? Number.POSITIVE_INFINITY : Date.parse(expiresAt),
    })),
  };
}
