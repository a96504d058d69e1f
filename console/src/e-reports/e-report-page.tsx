import type { ApiSchemaTypes } from "@pragma/client";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import { useApi } from "../api/use-api.ts";
import { useApiChange } from "../api/use-api-change.ts";
import { useFormats } from "../session/session-context.tsx";
import { text } from "../text/text.ts";
import { Badge, type Tone } from "../ui/badge.tsx";
import { Button } from "../ui/button.tsx";
import { CopyRequest } from "../ui/copy-button.tsx";
import { ErrorNotice } from "../ui/error-notice.tsx";
import { Facts } from "../ui/facts.tsx";
import { Loaded } from "../ui/loaded.tsx";
import { Moment } from "../ui/moment.tsx";
import { Page } from "../ui/page.tsx";
import { Section } from "../ui/section.tsx";
import { Table } from "../ui/table.tsx";
import { DayLink } from "./day-link.tsx";
import { EReportFigures } from "./e-report-figures.tsx";
import { EReportFiles } from "./e-report-files.tsx";
import { EReportState } from "./e-report-state.tsx";

const route = getRouteApi("/e-reporting/$siren/$kind/$period");

type EReport = ApiSchemaTypes["EReport"];

/** The e-report of a period: its figures, its checks, and its file. */
export function EReportPage() {
  const path = route.useParams();
  const { dateRange } = useFormats();
  const query = useApi(["e-report", path], (api) =>
    api.GET("/v1/e-reports/{siren}/{kind}/{period}", { params: { path } }),
  );
  const { siren, kind } = path;
  const loaded = query.data?.data;
  return (
    <Page
      title={text.eReports.titleOf(
        text.eReports.kinds[kind],
        loaded ? dateRange(loaded.period, loaded.until) : path.period,
      )}
      summary={
        <Link to="/e-reporting" search={{ siren, kind }}>
          {text.eReports.back}
        </Link>
      }
      actions={<CopyRequest url={query.data?.url} />}
    >
      <Loaded query={query}>
        {(report) => (
          <>
            <About report={report} />
            {report.lastTransmission && <EReportFiles report={report} />}
            <Changes report={report} />
            <EReportFigures report={report} />
            <NotReported report={report} />
            <Checks report={report} />
          </>
        )}
      </Loaded>
    </Page>
  );
}

function About({ report }: { report: EReport }) {
  const { siren, kind, period, companyName, dueOn, state, openDays, lastTransmission, excludedOrders } = report;
  const { dayWithYear } = useFormats();
  const take = useApiChange((api, acceptsIncompleteDays: boolean) =>
    api.POST("/v1/e-reports/{siren}/{kind}/{period}/transmissions", {
      params: { path: { siren, kind, period } },
      body: { acceptsIncompleteDays },
    }),
  );
  const isOnlyIncomplete = openDays.length > 0 && openDays.every((openDay) => openDay.state === "incomplete");
  const canTake = state === "ready" || (state === "changed" && openDays.length === 0);
  return (
    <Section title={text.eReports.about}>
      <Facts
        facts={[
          [text.eReports.business, `${companyName} (${siren})`],
          [text.eReports.state, <EReportState key="state" state={state} />],
          [text.eReports.due, dayWithYear(dueOn)],
          [
            text.eReports.last,
            lastTransmission === null ? (
              text.eReports.noFile
            ) : (
              <>
                <code>{lastTransmission.id}</code> ({lastTransmission.type}), <Moment at={lastTransmission.takenAt} />
              </>
            ),
          ],
        ]}
      />
      {openDays.length > 0 && (
        <ul className="notice notice-warning">
          {openDays.map((openDay) => (
            <li key={`${openDay.locationId} ${openDay.day} ${openDay.state}`}>
              <DayLink day={openDay.day} locationIds={openDay.locationId === null ? [] : [openDay.locationId]} />:{" "}
              {text.eReports.dayStates[openDay.state]}
            </li>
          ))}
        </ul>
      )}
      {excludedOrders.length > 0 && (
        <>
          <p className="muted">{text.eReports.excluded(excludedOrders.length)}:</p>
          <ul>
            {excludedOrders.map(({ orderId, day, locationId }) => (
              <li key={`${locationId} ${orderId}`}>
                <DayLink day={day} locationIds={[locationId]} /> <code>{orderId}</code>
              </li>
            ))}
          </ul>
        </>
      )}
      {report.otherLocationCount > 0 && (
        <p className="notice notice-warning">
          {text.eReports.otherLocations(report.otherLocationCount, `${companyName} (${siren})`)}
        </p>
      )}
      {state === "changed" && report.changes.length === 0 && <p>{text.eReports.noChanges}</p>}
      <p className="section-hint">{text.eReports.takeHint}</p>
      <div className="actions">
        <Button variant="primary" isDisabled={!canTake} isPending={take.isPending} onPress={() => take.mutate(false)}>
          {text.eReports.take}
        </Button>
        {isOnlyIncomplete && (
          <Button variant="secondary" isPending={take.isPending} onPress={() => take.mutate(true)}>
            {text.eReports.takeIncomplete}
          </Button>
        )}
      </div>
      {take.data && <Taken id={take.data.id} />}
      {take.error && <ErrorNotice error={take.error} />}
    </Section>
  );
}

/** The message that the file was stored. It has the focus, because the button that had it cannot be pressed again. */
function Taken({ id }: { id: string }) {
  const message = useRef<HTMLParagraphElement>(null);
  useEffect(() => message.current?.focus(), []);
  return (
    <p ref={message} role="status" tabIndex={-1}>
      {text.eReports.taken(id)}
    </p>
  );
}

const notReportedNames = [
  ...(["otherSales", "onAccount", "tips", "beyondTotal"] as const),
  ...(["unsoldOrders", "withoutVatRate", "deposits", "accountSettlements"] as const),
] as const;

/** What was received or is owed and is not in a report of payments. */
function NotReported({ report: { notReported } }: { report: EReport }) {
  const { money } = useFormats();
  if (notReported === null) return null;
  const names = notReportedNames.filter((name) => notReported[name] !== 0);
  if (names.length === 0) return null;
  return (
    <Section title={text.eReports.notReported}>
      <Facts facts={names.map((name) => [text.eReports.notReportedAmounts[name], money(notReported[name])])} />
      <p className="section-hint">{text.eReports.notReportedHint}</p>
    </Section>
  );
}

function Changes({ report: { changes, kind } }: { report: EReport }) {
  const { dayWithYear, rate, difference } = useFormats();
  if (changes.length === 0) return null;
  return (
    <Section title={text.eReports.changes}>
      <Table
        label={text.eReports.changes}
        rows={changes}
        getKey={({ day, category, taxRate }) => `${day} ${category} ${taxRate}`}
        empty=""
        columns={[
          { header: text.eReports.day, isRowHeader: true, cell: ({ day }) => dayWithYear(day) },
          ...(kind === "transactions"
            ? [
                {
                  header: text.eReports.category,
                  cell: ({ category }: EReport["changes"][number]) => category && text.eReports.categories[category],
                },
              ]
            : []),
          { header: text.eReports.rate, isNumeric: true, cell: ({ taxRate }) => rate(taxRate) },
          {
            header: kind === "transactions" ? text.eReports.net : text.eReports.received,
            isNumeric: true,
            cell: ({ taxableAmount }) => difference(taxableAmount),
          },
          ...(kind === "transactions"
            ? [
                {
                  header: text.eReports.vat,
                  isNumeric: true,
                  cell: ({ taxTotal }: EReport["changes"][number]) => difference(taxTotal),
                },
              ]
            : []),
        ]}
      />
    </Section>
  );
}

const resultTones: Record<EReport["checks"][number]["result"], Tone> = {
  passed: "good",
  failed: "bad",
  not_applicable: "neutral",
  not_checked: "neutral",
};

const Checks = ({ report: { checks } }: { report: EReport }) => (
  <Section title={text.eReports.checks}>
    <Table
      label={text.eReports.checks}
      rows={checks}
      getKey={({ rule }) => rule}
      empty=""
      columns={[
        { header: text.eReports.rule, isRowHeader: true, cell: ({ rule }) => rule },
        {
          header: text.eReports.result,
          cell: ({ result }) => <Badge tone={resultTones[result]}>{text.eReports.results[result]}</Badge>,
        },
        {
          header: text.eReports.findings,
          cell: ({ description, findings }) => (
            <>
              {description}
              {findings.map((finding) => (
                <p key={finding} className="row-details">
                  {finding}
                </p>
              ))}
            </>
          ),
        },
      ]}
    />
  </Section>
);
