import type { ApiSchemaTypes } from "@pragma/client";
import { getRouteApi } from "@tanstack/react-router";
import { useApi } from "../api/use-api.ts";
import { useFormats } from "../session/session-context.tsx";
import { text } from "../text/text.ts";
import { Badge } from "../ui/badge.tsx";
import { CopyButton, CopyRequest } from "../ui/copy-button.tsx";
import { Facts } from "../ui/facts.tsx";
import { Loaded } from "../ui/loaded.tsx";
import { Pagination } from "../ui/pagination.tsx";
import { Section } from "../ui/section.tsx";

type Message = ApiSchemaTypes["SandboxMessage"];

const route = getRouteApi("/sandbox");
const pageSize = 20;
const refetchMs = 3_000;

/** The webhook messages that the sandbox received, as they arrive. */
export function Inbox({ sandbox }: { sandbox: ApiSchemaTypes["Sandbox"] }) {
  const { page } = route.useSearch();
  const query = useApi(
    ["sandbox messages", page],
    (api) => api.GET("/v1/sandboxes/current/messages", { params: { query: { index: page ?? 0, size: pageSize } } }),
    { refetchMs },
  );
  const { inbox } = text.sandbox;
  const { state, webhookId, failingDeliveries } = sandbox;
  return (
    <Section
      title={inbox.title}
      actions={
        <>
          {failingDeliveries > 0 && <Badge tone="warning">{inbox.failing(failingDeliveries)}</Badge>}
          <CopyRequest url={query.data?.url} />
        </>
      }
    >
      <p className="muted">{inbox.hint}</p>
      {state === "ready" && webhookId === null && <p className="notice notice-warning">{inbox.noWebhook}</p>}
      <Loaded query={query}>
        {({ data, meta }) => (
          <>
            {data.length === 0 && <p className="empty">{state === "ready" ? inbox.empty : inbox.emptyWhileFilling}</p>}
            <ul className="cards">
              {data.map((message) => (
                <li key={message.id} className="card">
                  <MessageDetails message={message} />
                </li>
              ))}
            </ul>
            <Pagination meta={meta} />
          </>
        )}
      </Loaded>
    </Section>
  );
}

function MessageDetails({ message }: { message: Message }) {
  const { timeWithSeconds } = useFormats();
  const { receivedAt, isVerified, verificationError, responseStatus, headers, bodyBase64 } = message;
  const { event, body } = readBody(message.body);
  const { inbox } = text.sandbox;
  return (
    <>
      <div className="card-header">
        <strong className="card-title">{event ?? inbox.unknownEvent}</strong>
        <Badge tone={isVerified ? "good" : "bad"}>{isVerified ? inbox.verified : inbox.notVerified}</Badge>
        <Badge tone={responseStatus < 300 ? "neutral" : "warning"}>{inbox.responded(responseStatus)}</Badge>
        <time className="muted" dateTime={receivedAt}>
          {timeWithSeconds(receivedAt)}
        </time>
      </div>
      {verificationError !== null && <p className="bad">{verificationError}</p>}
      <details className="sandbox-message">
        <summary>{inbox.details}</summary>
        {bodyBase64 !== null && <p>{inbox.notUtf8}</p>}
        <div className="section-header">
          <h3>{inbox.body}</h3>
          <CopyButton value={message.body} label={inbox.copyBody} />
        </div>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: whoever uses a keyboard must be able to scroll the body. */}
        <section className="code" tabIndex={0} aria-label={inbox.body}>
          <pre>{body}</pre>
        </section>
        <h3>{inbox.headers}</h3>
        <Facts facts={Object.entries(headers).map(([name, value]) => [name, <code key={name}>{value}</code>])} />
      </details>
    </>
  );
}

/** Returns the event of a message, and its body with line breaks. A body that is not JSON is returned as it is. */
function readBody(body: string): { event: string | undefined; body: string } {
  try {
    const message: { meta?: { event?: unknown } } | null = JSON.parse(body);
    const event = message?.meta?.event;
    return { event: typeof event === "string" ? event : undefined, body: JSON.stringify(message, null, 2) };
  } catch {
    return { event: undefined, body };
  }
}
