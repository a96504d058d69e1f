import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { useApi } from "../api/use-api.ts";
import { hasAnyScope } from "../session/session.ts";
import { useSession } from "../session/session-context.tsx";
import { text } from "../text/text.ts";
import { Badge } from "../ui/badge.tsx";
import { Button } from "../ui/button.tsx";
import { CopyRequest } from "../ui/copy-button.tsx";
import { Filters } from "../ui/fields.tsx";
import { Loaded } from "../ui/loaded.tsx";
import { Ago, Moment } from "../ui/moment.tsx";
import { Pagination } from "../ui/pagination.tsx";
import { Section } from "../ui/section.tsx";
import { type ApiKey, getKeyState, isWorking, nameOfLocation } from "./api-key.ts";
import { KeyState } from "./key-state.tsx";
import { LocationField } from "./location-field.tsx";
import { RevokeKeyDialog } from "./revoke-key-dialog.tsx";
import { RotateKeyDialog } from "./rotate-key-dialog.tsx";
import { ScopeList } from "./scope-list.tsx";
import { useSandboxIds } from "./use-sandbox-ids.ts";

const route = getRouteApi("/keys");
const pageSize = 25;

/** All keys that the signed-in key may manage, newest first. */
export function KeyList() {
  const { key } = useSession();
  const { location, page = 0 } = route.useSearch();
  const navigate = route.useNavigate();
  const [rotated, setRotated] = useState<ApiKey | null>(null);
  const [revoked, setRevoked] = useState<ApiKey | null>(null);
  const sandboxIds = useSandboxIds();
  const query = useApi(["keys", location, page], (api) =>
    api.GET("/v1/auth/keys", {
      params: { query: { ...(location && { locationId: location }), index: page, size: pageSize } },
    }),
  );
  return (
    <Section title={text.keys.list} actions={<CopyRequest url={query.data?.url} />}>
      {hasAnyScope(key, "locations:any") && hasAnyScope(key, "locations:write") && (
        <Filters>
          <LocationField
            anyLabel={text.keys.anyLocation}
            value={location}
            onChange={(chosen) => void navigate({ search: { location: chosen } })}
          />
        </Filters>
      )}
      <Loaded query={query}>
        {({ data, meta }) => (
          <>
            {data.length === 0 && <p className="empty">{text.keys.empty}</p>}
            <ul className="cards">
              {data.map((apiKey) => (
                <KeyCard
                  key={apiKey.id}
                  apiKey={apiKey}
                  isSandbox={apiKey.locationId !== null && sandboxIds.has(apiKey.locationId)}
                  onRotate={() => setRotated(apiKey)}
                  onRevoke={() => setRevoked(apiKey)}
                />
              ))}
            </ul>
            <Pagination meta={meta} />
          </>
        )}
      </Loaded>
      {rotated && <RotateKeyDialog apiKey={rotated} onClose={() => setRotated(null)} />}
      {revoked && <RevokeKeyDialog apiKey={revoked} onClose={() => setRevoked(null)} />}
    </Section>
  );
}

interface KeyCardProps {
  apiKey: ApiKey;
  isSandbox: boolean;
  onRotate: () => void;
  onRevoke: () => void;
}

function KeyCard({ apiKey, isSandbox, onRotate, onRevoke }: KeyCardProps) {
  const { key } = useSession();
  const { prefix, consumerName, scopes, createdAt, lastUsedAt } = apiKey;
  const name = `${prefix}…`;
  return (
    <li className="card">
      <div className="card-header">
        <KeyState apiKey={apiKey} />
        <strong className="card-title">
          {consumerName} <code>{name}</code> {apiKey.id === key.id && <Badge tone="info">{text.keys.thisKey}</Badge>}
        </strong>
        {isWorking(apiKey) && (
          <div className="actions">
            <Button onPress={onRotate} aria-label={text.keys.rotateOf(name)}>
              {text.keys.rotate}
            </Button>
            <Button variant="danger" onPress={onRevoke} aria-label={text.keys.revokeOf(name)}>
              {text.keys.revoke}
            </Button>
          </div>
        )}
      </div>
      <p className="card-meta">
        <span>
          {nameOfLocation(apiKey)} {isSandbox && <Badge tone="neutral">{text.keys.sandbox}</Badge>}
        </span>
        <span>
          {lastUsedAt === null ? (
            text.keys.neverUsed
          ) : (
            <>
              {text.keys.lastUsed} <Ago at={lastUsedAt} />
            </>
          )}
        </span>
        <KeyEnd apiKey={apiKey} />
        <span>
          {text.keys.created} <Moment at={createdAt} />
        </span>
      </p>
      <details>
        <summary>{text.keys.scopeCount(scopes.length)}</summary>
        <ScopeList scopes={scopes} />
      </details>
    </li>
  );
}

/** Until when the key works, or since when it does not. */
function KeyEnd({ apiKey }: { apiKey: ApiKey }) {
  const state = getKeyState(apiKey);
  const { expiresAt, revokedAt } = apiKey;
  const at = revokedAt ?? expiresAt;
  if (at === null) return <span>{text.keys.neverExpires}</span>;
  const labels = {
    active: text.keys.expires,
    expiring: text.keys.expires,
    overlapping: text.keys.worksUntil,
    replaced: text.keys.stoppedAt,
    expired: text.keys.expired,
    revoked: text.keys.revokedAt,
  };
  return (
    <span className={state === "expiring" ? "warm" : undefined}>
      {labels[state]} <Moment at={at} />
    </span>
  );
}
