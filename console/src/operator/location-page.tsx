import { getRouteApi, Link } from "@tanstack/react-router";
import { useState } from "react";
import { useApi } from "../api/use-api.ts";
import { ClientClosed } from "../requests/client-closed.tsx";
import { listPeriods, usageRangeOf } from "../requests/usage-range.ts";
import { useFormats } from "../session/session-context.tsx";
import { text } from "../text/text.ts";
import { Badge } from "../ui/badge.tsx";
import { Button, ButtonLink } from "../ui/button.tsx";
import { CopyRequest } from "../ui/copy-button.tsx";
import { Facts } from "../ui/facts.tsx";
import { Loaded } from "../ui/loaded.tsx";
import { Ago, Moment } from "../ui/moment.tsx";
import { Section } from "../ui/section.tsx";
import { Table } from "../ui/table.tsx";
import { AuditTable } from "./audit-table.tsx";
import { EraseDialog } from "./erase-dialog.tsx";
import { OperatorView } from "./operator-view.tsx";
import { ReprocessDialog } from "./reprocess-dialog.tsx";

const route = getRouteApi("/operator/locations/$id");
const usageRange = usageRangeOf("day");

/** One location: its requests, its latest changes, and what only an operator can do with it. */
export function LocationPage() {
  const { id } = route.useParams();
  const [dialog, setDialog] = useState<"reprocess" | "erase" | null>(null);
  const query = useApi(["location", id], (api) => api.GET("/v1/locations/{id}", { params: { path: { id } } }));
  const location = query.data?.data;
  const name = location?.locationSettings.locationName ?? text.operator.unnamed(id);
  return (
    <OperatorView
      title={location ? name : text.operator.location}
      summary={
        <>
          <Link to="/operator/locations">{text.operator.allLocations}</Link>{" "}
          {location?.isSandbox && <Badge tone="neutral">{text.operator.sandbox}</Badge>}
        </>
      }
      actions={
        <>
          <ButtonLink to="/keys" search={{ location: id }}>
            {text.operator.keys}
          </ButtonLink>
          <Button onPress={() => setDialog("reprocess")}>{text.operator.reprocess}</Button>
          <Button variant="danger" isDisabled={!location} onPress={() => setDialog("erase")}>
            {text.operator.erase}
          </Button>
        </>
      }
    >
      <div className="columns">
        <Section title={text.operator.about} actions={<CopyRequest url={query.data?.url} />}>
          <Loaded query={query}>
            {({ application, legacyId, organizationId, agencyId, currencyCode, locationSettings, createdAt }) => (
              <Facts
                facts={[
                  [text.operator.locationId, <code key="id">{id}</code>],
                  [text.operator.application, application],
                  [text.operator.legacyId, legacyId],
                  [text.operator.organizationId, organizationId],
                  [text.operator.agencyId, agencyId],
                  [text.operator.timeZone, locationSettings.timezone],
                  [text.operator.currency, currencyCode],
                  [text.operator.created, <Moment key="created" at={createdAt} />],
                ]}
              />
            )}
          </Loaded>
        </Section>
        <RequestsByConsumer locationId={id} />
      </div>
      <LatestFailures locationId={id} />
      <LatestChanges locationId={id} />
      {dialog === "reprocess" && <ReprocessDialog locationId={id} onClose={() => setDialog(null)} />}
      {dialog === "erase" && <EraseDialog locationId={id} name={name} onClose={() => setDialog(null)} />}
    </OperatorView>
  );
}

function RequestsByConsumer({ locationId }: { locationId: string }) {
  const { number } = useFormats();
  const query = useApi(["usage", "consumer", locationId], (api) => {
    const since = listPeriods(usageRange, Date.now())[0] ?? "";
    const { granularity } = usageRange;
    return api.GET("/v1/usage", {
      params: { query: { locationId, groupBy: "consumer", granularity, since, size: 10, includeSandboxes: "true" } },
    });
  });
  return (
    <Section
      title={`${text.operator.byConsumer}, ${text.requests.ranges.day.toLowerCase()}`}
      actions={<CopyRequest url={query.data?.url} />}
    >
      <Loaded query={query}>
        {({ data }) => (
          <Table
            label={text.operator.byConsumer}
            rows={data}
            getKey={({ consumerId }) => consumerId ?? ""}
            empty={text.operator.noRequests}
            columns={[
              {
                header: text.operator.consumer,
                isRowHeader: true,
                cell: ({ consumerName }) => <span className="long-name">{consumerName}</span>,
              },
              { header: text.operator.requests, isNumeric: true, cell: ({ requestCount }) => number(requestCount) },
              {
                header: text.operator.failed,
                isNumeric: true,
                cell: ({ failedCount }) => (
                  <span className={failedCount > 0 ? "bad" : "muted"}>{number(failedCount)}</span>
                ),
              },
            ]}
          />
        )}
      </Loaded>
    </Section>
  );
}

function LatestFailures({ locationId }: { locationId: string }) {
  const query = useApi(["failures", locationId], (api) =>
    api.GET("/v1/usage/failures", { params: { query: { locationId, size: 5, includeSandboxes: "true" } } }),
  );
  return (
    <Section title={text.operator.failures} actions={<CopyRequest url={query.data?.url} />}>
      <Loaded query={query}>
        {({ data }) => (
          <Table
            label={text.operator.failures}
            rows={data}
            getKey={({ id }) => id}
            empty={text.operator.noFailures}
            columns={[
              {
                header: text.operator.status,
                cell: ({ status }) => <Badge tone={status >= 500 ? "bad" : "warning"}>{status}</Badge>,
              },
              {
                header: text.operator.request,
                isRowHeader: true,
                cell: ({ method, path, status, code, consumerName, failedAt }) => (
                  <>
                    <code className="long-name">
                      {method} {path}
                    </code>
                    <div className="row-details narrow-only">
                      <ClientClosed status={status} />
                      {code && <code>{code}</code>} {consumerName} · <Ago at={failedAt} />
                    </div>
                  </>
                ),
              },
              { header: text.operator.consumer, isMergedIfNarrow: true, cell: ({ consumerName }) => consumerName },
              {
                header: text.operator.reason,
                isMergedIfNarrow: true,
                cell: ({ status, code }) => (code ? <code>{code}</code> : <ClientClosed status={status} />),
              },
              { header: text.operator.when, isMergedIfNarrow: true, cell: ({ failedAt }) => <Ago at={failedAt} /> },
            ]}
          />
        )}
      </Loaded>
    </Section>
  );
}

function LatestChanges({ locationId }: { locationId: string }) {
  const query = useApi(["audit", "latest", locationId], (api) =>
    api.GET("/v1/audit", { params: { query: { locationId, size: 5 } } }),
  );
  return (
    <Section
      title={text.operator.changes}
      actions={
        <>
          <CopyRequest url={query.data?.url} />
          <Link to="/operator/audit" search={{ location: locationId }}>
            {text.operator.allChanges}
          </Link>
        </>
      }
    >
      <Loaded query={query}>{({ data }) => <AuditTable events={data} empty={text.operator.noChanges} />}</Loaded>
    </Section>
  );
}
