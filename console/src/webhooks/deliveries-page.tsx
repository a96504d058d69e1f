import { getRouteApi, Link } from "@tanstack/react-router";
import { useState } from "react";
import { useApi } from "../api/use-api.ts";
import { useApiChange } from "../api/use-api-change.ts";
import { useFormats } from "../session/session-context.tsx";
import { deliveryStates, webhookEvents } from "../text/choices.ts";
import { text } from "../text/text.ts";
import { Badge } from "../ui/badge.tsx";
import { Button } from "../ui/button.tsx";
import { CopyRequest } from "../ui/copy-button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { ErrorNotice } from "../ui/error-notice.tsx";
import { ChoiceField, DayRangeField, Filters } from "../ui/fields.tsx";
import { Loaded } from "../ui/loaded.tsx";
import { Ago, ExactMoment } from "../ui/moment.tsx";
import { Page } from "../ui/page.tsx";
import { Pagination } from "../ui/pagination.tsx";
import { Table } from "../ui/table.tsx";
import { NewDeliveries } from "./new-deliveries.tsx";
import { DeliveryState } from "./webhook-state.tsx";

const route = getRouteApi("/webhooks/deliveries");
const pageSize = 25;
const liveRefetchMs = 2_000;

/** The deliveries of all webhooks of the location, with filters, and the replay of those that match. */
export function DeliveriesPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const [isReplaying, setIsReplaying] = useState(false);
  const [isPaused, setIsPaused] = useState(false);
  const { page = 0, webhook, event, state, since, until } = search;
  const isLive = !isPaused && page === 0;
  const filters = {
    ...(webhook && { webhookId: webhook }),
    ...(event && { event }),
    ...(since && { since }),
    ...(until && { until }),
  };
  const query = useApi(
    ["deliveries", filters, state, page],
    (api) =>
      api.GET("/v1/webhooks/deliveries", {
        params: { query: { ...filters, ...(state && { state }), index: page, size: pageSize } },
      }),
    // New deliveries move the others to later pages, which would change while they are read.
    { refetchMs: isLive ? liveRefetchMs : undefined },
  );
  const webhooks = useApi(["webhooks"], (api) => api.GET("/v1/webhooks", { params: { query: { size: 100 } } }));
  const endpoints = Object.fromEntries(
    (webhooks.data?.data.data ?? []).map(({ id, endpointUrl }) => [id, endpointUrl]),
  );
  const setFilter = (changes: Partial<typeof search>) =>
    void navigate({ search: (current) => ({ ...current, ...changes, page: undefined }) });
  const choicesOf = <Choice extends string>(names: readonly Choice[], nameOf: (name: Choice) => string) =>
    Object.fromEntries(names.map((name) => [name, nameOf(name)])) as Record<Choice, string>;
  return (
    <Page
      title={text.webhooks.deliveries}
      summary={<Link to="/webhooks">{text.webhooks.back}</Link>}
      actions={
        <>
          <Button onPress={() => setIsReplaying(true)} isDisabled={state === "sending"}>
            {text.webhooks.replayMany}
          </Button>
          <CopyRequest url={query.data?.url} />
        </>
      }
    >
      <Filters>
        <ChoiceField
          label={text.webhooks.state}
          choices={choicesOf(deliveryStates, (name) => text.webhooks.deliveryStates[name])}
          value={state}
          onChange={(chosen) => setFilter({ state: chosen })}
          anyLabel={text.filters.all}
        />
        <ChoiceField
          label={text.webhooks.event}
          choices={choicesOf(webhookEvents, (name) => name)}
          value={event}
          onChange={(chosen) => setFilter({ event: chosen })}
          anyLabel={text.filters.all}
        />
        <ChoiceField
          label={text.webhooks.endpoint}
          choices={webhook && !endpoints[webhook] ? { ...endpoints, [webhook]: webhook.slice(0, 8) } : endpoints}
          value={webhook}
          onChange={(chosen) => setFilter({ webhook: chosen })}
          anyLabel={text.filters.all}
        />
        <DayRangeField since={since} until={until} onChange={setFilter} />
      </Filters>
      <div className="actions live-updates">
        <Badge tone={isLive ? "good" : "neutral"}>{isLive ? text.webhooks.live.on : text.webhooks.live.off}</Badge>
        {page === 0 ? (
          <Button variant="quiet" onPress={() => setIsPaused(!isPaused)}>
            {isPaused ? text.webhooks.live.resume : text.webhooks.live.pause}
          </Button>
        ) : (
          <span className="muted">{text.webhooks.firstPageOnly}</span>
        )}
        {isLive && !query.isPlaceholderData && (
          <NewDeliveries key={JSON.stringify([filters, state])} deliveries={query.data?.data.data} />
        )}
      </div>
      <Loaded query={query}>
        {({ data, meta }) => (
          <>
            <Table
              label={text.webhooks.deliveries}
              rows={data}
              getKey={({ id }) => id}
              empty={text.webhooks.noDeliveries}
              columns={[
                {
                  header: text.webhooks.event,
                  isRowHeader: true,
                  cell: (delivery) => (
                    <Link to="/webhooks/deliveries/$id" params={{ id: delivery.id }}>
                      {delivery.event}
                    </Link>
                  ),
                },
                { header: text.webhooks.state, cell: (delivery) => <DeliveryState state={delivery.state} /> },
                { header: text.webhooks.createdAt, cell: ({ createdAt }) => <ExactMoment at={createdAt} /> },
                {
                  header: text.webhooks.nextAttempt,
                  isWideOnly: true,
                  cell: ({ nextAttemptAt }) => (nextAttemptAt === null ? "–" : <Ago at={nextAttemptAt} />),
                },
                {
                  header: text.webhooks.endpoint,
                  isWideOnly: true,
                  cell: ({ webhookId }) =>
                    endpoints[webhookId] ? (
                      <span className="one-line" title={endpoints[webhookId]}>
                        {endpoints[webhookId]}
                      </span>
                    ) : (
                      <code>{webhookId.slice(0, 8)}</code>
                    ),
                },
              ]}
            />
            <Pagination meta={meta} />
          </>
        )}
      </Loaded>
      {isReplaying && state !== "sending" && (
        <ReplayDialog filters={filters} state={state ?? "failed"} onClose={() => setIsReplaying(false)} />
      )}
    </Page>
  );
}

type ReplayFilters = { webhookId?: string; event?: (typeof webhookEvents)[number]; since?: string; until?: string };

interface ReplayDialogProps {
  filters: ReplayFilters;
  state: Exclude<(typeof deliveryStates)[number], "sending">;
  onClose: () => void;
}

/** The API replays at most this number at once, and states how many remain. */
const replayLimit = 1_000;

function ReplayDialog({ filters, state, onClose }: ReplayDialogProps) {
  const { number } = useFormats();
  const replay = useApiChange((api, pageToken: string | undefined) => {
    const body = { ...filters, state, limit: replayLimit, ...(pageToken !== undefined && { pageToken }) };
    return api.POST("/v1/webhooks/deliveries/replay", { body });
  });
  const nextPageToken = replay.data?.nextPageToken ?? undefined;
  const chosen = Object.entries({ state: text.webhooks.deliveryStates[state], ...filters });
  return (
    <Dialog title={text.webhooks.replayMany} isOpen onClose={onClose}>
      <p>{text.webhooks.replayHint(number(replayLimit))}</p>
      <dl className="facts">
        {chosen.map(([name, value]) => (
          <div key={name}>
            <dt>{text.webhooks.filterNames[name]}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      {replay.error && <ErrorNotice error={replay.error} />}
      {replay.data && (
        <p role="status" className="notice">
          {text.webhooks.replayed(replay.data.replayedCount)}{" "}
          {replay.data.remainingCount > 0 && text.webhooks.remaining(number(replay.data.remainingCount))}
        </p>
      )}
      <div className="actions actions-end">
        <Button onPress={onClose}>{replay.data ? text.dialog.done : text.dialog.cancel}</Button>
        {(!replay.data || nextPageToken !== undefined) && (
          <Button variant="primary" isPending={replay.isPending} onPress={() => replay.mutate(nextPageToken)}>
            {text.webhooks.replay}
          </Button>
        )}
      </div>
    </Dialog>
  );
}
