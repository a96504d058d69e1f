import { useApi } from "../api/use-api.ts";
import { hasAnyScope } from "../session/session.ts";
import { useFormats, useSession } from "../session/session-context.tsx";
import { text } from "../text/text.ts";
import { CopyRequest } from "../ui/copy-button.tsx";
import { Facts } from "../ui/facts.tsx";
import { Loaded } from "../ui/loaded.tsx";
import { Moment } from "../ui/moment.tsx";
import { Section } from "../ui/section.tsx";
import { KeyState } from "./key-state.tsx";
import { ScopeList } from "./scope-list.tsx";

/** The key that is signed in: its consumer, what it may do, for which location and until when. */
export function OwnKey() {
  const { number } = useFormats();
  const { key } = useSession();
  const query = useApi(["key", "current"], (api) => api.GET("/v1/auth/keys/current"));
  return (
    <Section title={text.keys.own} actions={<CopyRequest url={query.data?.url} />}>
      {!hasAnyScope(key, "keys:write") && (
        <p className="section-hint">{key.location?.isSandbox ? text.keys.renewSandbox : text.keys.renew}</p>
      )}
      <Loaded query={query}>
        {({ prefix, consumer, location, scopes, rateLimit, createdAt, expiresAt }) => (
          <Facts
            facts={[
              [
                text.key.prefix,
                <span key="prefix">
                  <code>{prefix}…</code>{" "}
                  <KeyState apiKey={{ createdAt, revokedAt: null, expiresAt, overlapEndsAt: null }} />
                </span>,
              ],
              [text.key.consumer, consumer.name],
              [text.key.location, location ? (location.name ?? text.shell.unnamedLocation) : text.keys.noLocation],
              [text.key.timeZone, location?.timezone],
              [text.key.currency, location?.currencyCode],
              [text.key.expires, expiresAt === null ? text.key.never : <Moment key="expires" at={expiresAt} />],
              [text.key.rateLimit, text.key.perSecond(number(rateLimit.perSecond), number(rateLimit.burst))],
              [text.keys.scopesOf, <ScopeList key="scopes" scopes={scopes} />],
              [text.keys.created, <Moment key="created" at={createdAt} />],
            ]}
          />
        )}
      </Loaded>
    </Section>
  );
}
