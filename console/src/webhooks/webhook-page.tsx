import type { ApiSchemaTypes } from "@pragma/client";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useApi } from "../api/use-api.ts";
import { useApiChange } from "../api/use-api-change.ts";
import { addDays } from "../format/formats.ts";
import { useFormats } from "../session/session-context.tsx";
import { text } from "../text/text.ts";
import { Button, ButtonLink } from "../ui/button.tsx";
import { CopyRequest } from "../ui/copy-button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { ErrorNotice } from "../ui/error-notice.tsx";
import { Facts } from "../ui/facts.tsx";
import { Figures } from "../ui/figures.tsx";
import { Loaded } from "../ui/loaded.tsx";
import { Ago, Moment } from "../ui/moment.tsx";
import { Page } from "../ui/page.tsx";
import { Section } from "../ui/section.tsx";
import { WebhookState } from "./webhook-state.tsx";

const route = getRouteApi("/webhooks/$id");
const refetchMs = 10_000;

type Webhook = ApiSchemaTypes["WebhookDetails"];

/** One endpoint: its health, and what can be done with it. */
export function WebhookPage() {
  const { id } = route.useParams();
  const query = useApi(["webhook", id], (api) => api.GET("/v1/webhooks/{id}", { params: { path: { id } } }), {
    refetchMs,
  });
  const webhook = query.data?.data;
  return (
    <Page
      title={webhook ? new URL(webhook.endpointUrl).host : text.webhooks.endpoint}
      summary={<Link to="/webhooks">{text.webhooks.back}</Link>}
      actions={
        <>
          <ButtonLink to="/webhooks/deliveries" search={{ webhook: id }}>
            {text.webhooks.deliveries}
          </ButtonLink>
          <CopyRequest url={query.data?.url} />
        </>
      }
    >
      <Loaded query={query}>
        {(loaded) => (
          <>
            <WebhookActions webhook={loaded} />
            <WebhookHealth webhook={loaded} />
          </>
        )}
      </Loaded>
    </Page>
  );
}

function WebhookHealth({ webhook }: { webhook: Webhook }) {
  const { number } = useFormats();
  const { statistics, endpointUrl, events, failingSince, lastError, id, createdAt } = webhook;
  const { pending, lastDay, lastSucceededAt, lastFailedAt } = statistics;
  return (
    <Section title={text.webhooks.health}>
      <Figures
        figures={[
          { name: text.webhooks.succeededLastDay, value: number(lastDay.succeeded) },
          { name: text.webhooks.failedLastDay, value: number(lastDay.failed), isBad: lastDay.failed > 0 },
          { name: text.webhooks.pending, value: number(pending) },
          {
            name: text.webhooks.duration,
            value: lastDay.averageMilliseconds === null ? "–" : `${number(lastDay.averageMilliseconds)} ms`,
          },
        ]}
      />
      <Facts
        facts={[
          [text.webhooks.url, <code key="url">{endpointUrl}</code>],
          [text.webhooks.failing, failingSince !== null && <Ago key="since" at={failingSince} />],
          [text.webhooks.lastError, lastError],
          [text.webhooks.lastSucceeded, lastSucceededAt !== null && <Ago key="succeeded" at={lastSucceededAt} />],
          [text.webhooks.lastFailed, lastFailedAt !== null && <Ago key="failed" at={lastFailedAt} />],
          [text.webhooks.events, events.join(", ")],
          [text.webhooks.createdAt, <Moment key="created" at={createdAt} />],
          [text.webhooks.id, <code key="id">{id}</code>],
        ]}
      />
    </Section>
  );
}

function WebhookActions({ webhook }: { webhook: Webhook }) {
  const { id, state } = webhook;
  const navigate = useNavigate();
  const { isoDay } = useFormats();
  const [isDeleting, setIsDeleting] = useState(false);
  const params = { path: { id } };
  const change = useApiChange((api, action: "pause" | "resume") =>
    action === "pause"
      ? api.POST("/v1/webhooks/{id}/pause", { params })
      : api.POST("/v1/webhooks/{id}/resume", { params }),
  );
  const test = useApiChange((api, _: undefined) => api.POST("/v1/webhooks/{id}/test", { params }));
  const recovery = useApiChange((api, _: undefined) =>
    api.POST("/v1/webhooks/{id}/recover", { params, body: { since: `${addDays(isoDay(new Date()), -30)}T00:00:00Z` } }),
  );
  const deletion = useApiChange((api, _: undefined) => api.DELETE("/v1/webhooks/{id}", { params }));
  const error = change.error ?? test.error ?? recovery.error ?? deletion.error;
  return (
    <div className="webhook-actions">
      <div className="actions">
        <WebhookState webhook={webhook} />
        <Button isPending={test.isPending} onPress={() => test.mutate(undefined)}>
          {text.webhooks.test}
        </Button>
        <Button isPending={change.isPending} onPress={() => change.mutate(state === "active" ? "pause" : "resume")}>
          {state === "active" ? text.webhooks.pause : text.webhooks.resume}
        </Button>
        <Button isPending={recovery.isPending} onPress={() => recovery.mutate(undefined)}>
          {text.webhooks.recover}
        </Button>
        <Button variant="danger" onPress={() => setIsDeleting(true)}>
          {text.webhooks.delete}
        </Button>
      </div>
      {error && <ErrorNotice error={error} />}
      {test.data && (
        <p role="status">
          {text.webhooks.testSent}{" "}
          <Link to="/webhooks/deliveries/$id" params={{ id: test.data.id }}>
            {text.webhooks.openDelivery}
          </Link>
        </p>
      )}
      {recovery.data && <p role="status">{text.webhooks.recovering(recovery.data.total)}</p>}
      <Dialog title={text.webhooks.delete} isOpen={isDeleting} onClose={() => setIsDeleting(false)}>
        <p>{text.webhooks.deleteHint}</p>
        <div className="actions actions-end">
          <Button onPress={() => setIsDeleting(false)}>{text.dialog.cancel}</Button>
          <Button
            variant="danger"
            isPending={deletion.isPending}
            onPress={() => deletion.mutate(undefined, { onSuccess: () => void navigate({ to: "/webhooks" }) })}
          >
            {text.webhooks.delete}
          </Button>
        </div>
      </Dialog>
    </div>
  );
}
