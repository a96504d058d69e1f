import { getRouteApi, Link } from "@tanstack/react-router";
import { useApi } from "../api/use-api.ts";
import { addDays } from "../format/formats.ts";
import { useFormats } from "../session/session-context.tsx";
import { text } from "../text/text.ts";
import { ButtonLink } from "../ui/button.tsx";
import { CopyRequest } from "../ui/copy-button.tsx";
import { Figures } from "../ui/figures.tsx";
import { Loaded } from "../ui/loaded.tsx";
import { Ago, Moment } from "../ui/moment.tsx";
import { Page } from "../ui/page.tsx";
import { Section } from "../ui/section.tsx";
import { Table } from "../ui/table.tsx";
import { DayChecks } from "./day-checks.tsx";
import { type Day, DayState } from "./day-state.tsx";

const route = getRouteApi("/days/$date");
const refetchMs = 60_000;

/** A business day: its state with the reasons, its totals, its tills, and each check with what it found. */
export function DayPage() {
  const { date } = route.useParams();
  const { longDay } = useFormats();
  const query = useApi(["day", date], (api) => api.GET("/v1/days/{date}", { params: { path: { date } } }), {
    refetchMs,
  });
  return (
    <Page
      title={Number.isNaN(Date.parse(date)) ? date : longDay(date)}
      summary={<Link to="/days">{text.days.back}</Link>}
      actions={
        <>
          {!Number.isNaN(Date.parse(date)) && (
            <>
              <ButtonLink variant="quiet" to="/days/$date" params={{ date: addDays(date, -1) }}>
                {text.days.previous}
              </ButtonLink>
              <ButtonLink variant="quiet" to="/days/$date" params={{ date: addDays(date, 1) }}>
                {text.days.next}
              </ButtonLink>
            </>
          )}
          <CopyRequest url={query.data?.url} />
        </>
      }
    >
      <Loaded query={query}>
        {(day) => (
          <>
            <DayOverview day={day} />
            <DayChecks day={day} />
            <DayTills day={day} />
            {day.totals && <DayTotals date={date} totals={day.totals} />}
          </>
        )}
      </Loaded>
    </Page>
  );
}

/** Returns the reason why a day is incomplete, with the report numbers that are missing. */
function describeReason({ code, message }: Day["reasons"][number], { reconciliation }: Day): string {
  const check = code === "report_number_gap" && reconciliation.find((each) => each.code === "report_number_gaps");
  // The API lists only the first findings if there are many.
  if (!check || check.findings.length < check.findingCount) return message;
  const gaps = check.findings.flatMap(({ firstReportNumber: first, lastReportNumber: last }) =>
    first === null ? [] : [{ first, last: last ?? first }],
  );
  const count = gaps.reduce((total, { first, last }) => total + last - first + 1, 0);
  return text.days.missingNumbers(count, gaps);
}

function DayOverview({ day: businessDay }: { day: Day }) {
  const { state, reasons, totals, updatedAt, day } = businessDay;
  const { money, number } = useFormats();
  return (
    <div className="overview">
      <p className="overview-state">
        <DayState state={state} />
        <span className="muted">
          {text.days.updated} <Ago at={updatedAt} />
        </span>
      </p>
      {reasons.length > 0 && (
        <ul className="notice notice-warning">
          {reasons.map((reason) => (
            <li key={reason.code}>{describeReason(reason, businessDay)}</li>
          ))}
        </ul>
      )}
      {totals && (
        <Figures
          figures={[
            { name: text.days.sales, value: money(totals.totalSales) },
            { name: text.days.orders, value: number(totals.orderCount) },
            { name: text.days.guests, value: number(totals.guestsNumber) },
            { name: text.days.discounts, value: money(totals.discounts) },
          ]}
        />
      )}
      <p>
        <Link to="/orders" search={{ since: day, until: day }}>
          {text.days.itsOrders}
        </Link>{" "}
        ·{" "}
        <Link to="/reports" search={{ since: day, until: day }}>
          {text.days.itsReports}
        </Link>
      </p>
    </div>
  );
}

function DayTills({ day }: { day: Day }) {
  const { money } = useFormats();
  return (
    <Section title={text.days.tills}>
      <Table
        label={text.days.tills}
        rows={day.tills}
        getKey={({ tillId }) => tillId}
        empty={text.days.noTill}
        columns={[
          {
            header: text.reports.number,
            isRowHeader: true,
            cell: ({ reportId, reportNumber }) => (
              <Link to="/reports/$id" params={{ id: reportId }}>
                {text.reports.titleOf(reportNumber)}
              </Link>
            ),
          },
          {
            header: text.reports.device,
            cell: ({ deviceName, deviceIdentifier }) => deviceName || deviceIdentifier || "–",
          },
          { header: text.reports.opened, isWideOnly: true, cell: ({ startedAt }) => <Moment at={startedAt} /> },
          { header: text.reports.closed, cell: ({ finalizedAt }) => <Moment at={finalizedAt} /> },
          { header: text.reports.sales, isNumeric: true, cell: ({ totalSales }) => money(totalSales) },
        ]}
      />
      {day.openShifts.length > 0 && (
        <ul>
          {day.openShifts.map(({ tillId, startedAt }) => (
            <li key={tillId}>
              {text.days.openShift} <Moment at={startedAt} /> <code>{tillId}</code>
            </li>
          ))}
        </ul>
      )}
    </Section>
  );
}

/** Returns the names that the point of sale gives to payments of each mode. The totals of a day list only modes. */
function useMethodNames(date: string): ReadonlyMap<string | null, string[]> {
  const query = useApi(["day", date, "methods"], (api) =>
    api.GET("/v1/metrics", {
      params: { query: { measures: "payments", dimensions: "paymentMethod", since: date, until: date } },
    }),
  );
  const names = new Map<string | null, string[]>();
  for (const { dimensions } of query.data?.data.data ?? []) {
    const { name = null, mode = null } = dimensions.paymentMethod ?? {};
    if (name !== null) names.set(mode, [...(names.get(mode) ?? []), name]);
  }
  return names;
}

function DayTotals({ date, totals }: { date: string; totals: NonNullable<Day["totals"]> }) {
  const { money, rate, difference } = useFormats();
  const methodNames = useMethodNames(date);
  return (
    <div className="columns">
      <Section title={text.days.payments}>
        <Table
          label={text.days.payments}
          rows={totals.payments}
          getKey={({ paymentMode }) => paymentMode}
          empty={text.days.noPayments}
          columns={[
            {
              header: text.days.method,
              isRowHeader: true,
              cell: ({ paymentMode }) => (
                <span className="method-names">
                  {text.payments.method(methodNames.get(paymentMode)?.join(", ") ?? null, paymentMode)}
                </span>
              ),
            },
            { header: text.days.recorded, isNumeric: true, cell: ({ recordedAmount }) => money(recordedAmount) },
            { header: text.days.declared, isNumeric: true, cell: ({ declaredAmount }) => money(declaredAmount) },
            {
              header: text.days.difference,
              isNumeric: true,
              cell: ({ recordedAmount, declaredAmount }) =>
                recordedAmount === declaredAmount ? (
                  <span className="muted">{money(0)}</span>
                ) : (
                  <strong className="bad">{difference(recordedAmount - declaredAmount)}</strong>
                ),
            },
            { header: text.days.tips, isNumeric: true, isWideOnly: true, cell: ({ tipsAmount }) => money(tipsAmount) },
          ]}
        />
        <p className="muted">{text.days.methodHint}</p>
      </Section>
      <Section title={text.days.taxes}>
        <Table
          label={text.days.taxes}
          rows={totals.taxes}
          getKey={({ taxRate }) => String(taxRate)}
          empty={text.days.noSales}
          columns={[
            { header: text.days.rate, isRowHeader: true, cell: ({ taxRate }) => rate(taxRate) },
            { header: text.days.withoutTax, isNumeric: true, cell: ({ taxableAmount }) => money(taxableAmount) },
            { header: text.days.tax, isNumeric: true, cell: ({ taxAmount }) => money(taxAmount) },
          ]}
        />
      </Section>
    </div>
  );
}
