import type { ApiSchemaTypes } from "@pragma/client";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { useApi } from "../api/use-api.ts";
import { useSandboxState } from "../sandbox/use-sandbox-state.ts";
import { text } from "../text/text.ts";
import { Button, ButtonLink } from "../ui/button.tsx";
import { CopyRequest } from "../ui/copy-button.tsx";
import { Loaded } from "../ui/loaded.tsx";
import { Ago } from "../ui/moment.tsx";
import { Page } from "../ui/page.tsx";
import { Section } from "../ui/section.tsx";
import { CreateWebhookDialog } from "./create-webhook-dialog.tsx";
import { Recipients } from "./recipients.tsx";
import { WebhookState } from "./webhook-state.tsx";

/** The endpoints of the location with their health, and the recipients whose secrets sign the messages. */
export function WebhooksPage() {
  const [isCreating, setIsCreating] = useState(false);
  const sandboxState = useSandboxState();
  // With the state in the key, the list is read again when the sandbox has its endpoint.
  const query = useApi(
    ["webhooks", sandboxState],
    (api) => api.GET("/v1/webhooks", { params: { query: { size: 100 } } }),
    {
      refetchMs: 15_000,
    },
  );
  return (
    <Page
      title={text.webhooks.title}
      summary={text.webhooks.summary}
      actions={
        <>
          <ButtonLink to="/webhooks/deliveries">{text.webhooks.deliveries}</ButtonLink>
          <Button variant="primary" onPress={() => setIsCreating(true)}>
            {text.webhooks.create}
          </Button>
        </>
      }
    >
      <Section title={text.webhooks.endpoints} actions={<CopyRequest url={query.data?.url} />}>
        <Loaded query={query}>
          {({ data, meta }) => (
            <>
              {data.length === 0 && (
                <p className="empty">{sandboxState === "filling" ? text.webhooks.filling : text.webhooks.empty}</p>
              )}
              <ul className="cards">
                {data.map((webhook) => (
                  <WebhookCard key={webhook.id} webhook={webhook} />
                ))}
              </ul>
              {meta.totalCount > data.length && (
                <p className="muted">{text.webhooks.more(meta.totalCount - data.length)}</p>
              )}
            </>
          )}
        </Loaded>
      </Section>
      <Recipients sandboxState={sandboxState} />
      <CreateWebhookDialog isOpen={isCreating} onClose={() => setIsCreating(false)} />
    </Page>
  );
}

function WebhookCard({ webhook }: { webhook: ApiSchemaTypes["Webhook"] }) {
  const { id, endpointUrl, events, failingSince, lastError } = webhook;
  return (
    <li className="card">
      <div className="card-header">
        <WebhookState webhook={webhook} />
        <Link to="/webhooks/$id" params={{ id }} className="card-title">
          {endpointUrl}
        </Link>
      </div>
      {failingSince !== null && (
        <p className="bad">
          {text.webhooks.failing} <Ago at={failingSince} />: {lastError}
        </p>
      )}
      <p className="card-meta">
        <span>{events.join(", ")}</span>
      </p>
    </li>
  );
}
